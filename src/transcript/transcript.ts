// The history of a session as a stream of text, read as fast as it is taken. Knows no HTTP.
import { Fault } from '../errors.js';
import type { LogReader, Stretch } from '../log/log.js';
import type { Frame } from '../protocol/frames.js';
import type { Session } from '../session/session.js';
import type { Size } from '../terminal/terminal.js';
import { asciicast } from './asciicast.js';
import { type Format, found, ndjson, plain } from './formats.js';
import { frames, index } from './frames.js';
import { framesUpTo, isIn, isOpen, type Range, rangeOf } from './range.js';

export interface TranscriptQuery {
  readonly format: string;
  readonly from?: string;
  readonly to?: string;
  /** To be found in the lines that were printed. */
  readonly q?: string;
  /** Most lines of text that are given. */
  readonly limit?: number;
}

export interface Transcript {
  readonly type: string;
  /** In pieces of whole lines. Fails in the middle if the log does. */
  readonly text: AsyncIterable<string>;
}

const NDJSON = 'application/x-ndjson; charset=utf-8';

const UNSEARCHABLE = ['asciicast', 'frames', 'index'];

/** Of a session whose terminal had that size when it began. Rejects with INVALID_REQUEST for a query that makes no sense. */
export async function transcript(session: Session, size: Size, query: TranscriptQuery): Promise<Transcript> {
  const range = rangeOf(query);
  const { isWhole, lost } = await missingIn(session.frames);
  const { type, format, isFromOldest } = formatOf(session, size, isWhole, range, query);
  const after = isFromOldest ? 0 : Math.max(range.from.sequence - 1, 0);
  const gaps = lost.filter(({ to }) => to > after);
  return { type, text: limited(pieces(session, after, range, format, isFromOldest, gaps), query.limit) };
}

/** Whether the first frame that is kept is the first that there ever was, and what is lost behind it. */
async function missingIn(frames: LogReader): Promise<{ readonly isWhole: boolean; readonly lost: readonly Stretch[] }> {
  if (!frames.missing) return { isWhole: frames.extent().oldest === 1, lost: [] };
  const missing = await frames.missing();
  return { isWhole: missing[0]?.from !== 1, lost: missing.filter(({ from }) => from > 1) };
}

function formatOf(session: Session, size: Size, isWhole: boolean, range: Range, { format, q }: TranscriptQuery) {
  if (q && UNSEARCHABLE.includes(format))
    throw new Fault('INVALID_REQUEST', `query.q: the format ${format} cannot be searched; expected ndjson or text with it`);
  switch (format) {
    case 'ndjson':
      return { type: NDJSON, format: q ? found(q) : ndjson(), isFromOldest: false };
    case 'text':
      return { type: 'text/plain; charset=utf-8', format: plain(q), isFromOldest: false };
    case 'frames':
      return { type: NDJSON, format: frames(), isFromOldest: false };
    case 'index':
      return { type: NDJSON, format: index({ size, isWhole }), isFromOldest: true };
    case 'asciicast': {
      const isWanted = (frame: Frame) => isIn(range, frame);
      const { title, label } = session.describe();
      return { type: 'application/x-asciicast', format: asciicast({ size, isWhole, isWanted, title: label ?? title }), isFromOldest: true };
    }
    default:
      throw new Fault('INVALID_REQUEST', 'query.format: expected ndjson, text, asciicast, frames or index');
  }
}

async function* pieces(
  session: Session,
  after: number,
  range: Range,
  format: Format,
  all: boolean,
  lost: readonly Stretch[],
): AsyncGenerator<readonly string[]> {
  const gaps = [...lost];
  let last = 0;
  const take = (frame: Frame): readonly string[] => {
    const passed = gaps.splice(0, gaps.findLastIndex(({ to }) => to < frame.sequence) + 1);
    last = frame.ts;
    return [...passed.flatMap((gap) => format.gap(gap, frame.ts)), ...format.take(frame)];
  };
  for await (const frames of framesUpTo(session.frames, after, range))
    yield frames.filter((frame) => all || isIn(range, frame)).flatMap(take);
  // Nobody knows when what is lost at the end happened.
  if (isOpen(range)) yield gaps.filter(({ from }) => isIn(range, { sequence: from, ts: last })).flatMap((gap) => format.gap(gap, last));
  yield format.end();
}

async function* limited(pieces: AsyncIterable<readonly string[]>, limit = Number.POSITIVE_INFINITY): AsyncGenerator<string> {
  let left = limit;
  for await (const lines of pieces) {
    const shown = lines.slice(0, left);
    left -= shown.length;
    if (shown.length > 0) yield shown.join('');
    if (left <= 0) return;
  }
}
