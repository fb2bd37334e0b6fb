// A writer whose appends are spans of the work that they are a part of. Knows no collector, and no store.
import { partOf, type Tracing } from '../tracing/tracing.js';
import { isEntry, type LogWriter } from './log.js';

/** What a program prints belongs to nobody's request: its appends have no span. */
export function tracedWriter(inner: LogWriter, tracing: Tracing, sessionId: string): LogWriter {
  return {
    reader: inner.reader,
    append: (drafts) => {
      const kinds = drafts.flatMap((draft) => (isEntry(draft) ? [draft.kind] : [])).join(' ');
      const attributes = { 'pty.session_id': sessionId, 'pty.frames': kinds };
      return partOf(tracing, 'log append', { attributes }, () => inner.append(drafts));
    },
    amend: (record) => inner.amend(record),
    release: () => inner.release(),
  };
}
