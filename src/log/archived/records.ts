// What an archive says of a session beside its entries: enough to begin its log again where that was lost. Knows no segment.
import { FORMAT } from '../format.js';
import type { Retention, SessionRecord } from '../log.js';
import type { Access } from './access.js';
import { recordName, recordsOf } from './names.js';

/** Higher than the numbers of any session get; far from where numbers are not exact any more. */
const MAX_CURRENT = 2 ** 52;

export interface ArchivedRecord {
  readonly format: typeof FORMAT;
  /** Of the log. */
  readonly retention: Retention;
  /** The last number that was given when this was written. */
  readonly current: number;
  /** The session has ended, and all of it is in the archive. */
  readonly isComplete: boolean;
  /** As the log below has it: sealed, where there are keys. */
  readonly record: SessionRecord;
}

/** The newest takes the place of all before it; one that comes late, from an owner that was paused, is behind it in order. */
export async function putRecord(access: Access, sessionId: string, record: ArchivedRecord, ts: number, writer: string): Promise<void> {
  const name = recordName(sessionId, record.current, ts, writer);
  await access.put(name, Buffer.from(JSON.stringify(record)));
  const names = await access.list(recordsOf(sessionId));
  await access.delete(names.filter((other) => other < name));
}

/** Undefined if there is none, or none that can be read. What a later version wrote last stands for all before it, which are not used then. */
export async function newestRecord(access: Access, sessionId: string): Promise<ArchivedRecord | undefined> {
  const names = await access.list(recordsOf(sessionId));
  for (const name of names.toReversed()) {
    const bytes = await access.get(name);
    const record = bytes && readRecord(bytes);
    if (record) return record.format === FORMAT ? record : undefined;
  }
  return undefined;
}

/** Numbers of which the log can go on, and something that is said. */
function isWhole({ retention, current, record }: ArchivedRecord): boolean {
  const areNumbers = [retention.frames, retention.seconds].every((n) => Number.isFinite(n) && n >= 0) && Number.isSafeInteger(current);
  return areNumbers && current >= 0 && current <= MAX_CURRENT && typeof record === 'object' && record !== null && !Array.isArray(record);
}

function readRecord(bytes: Buffer): ArchivedRecord | undefined {
  try {
    const record = JSON.parse(bytes.toString()) as ArchivedRecord;
    if (record.format > FORMAT) return record;
    return record.format === FORMAT && isWhole(record) ? record : undefined;
  } catch {
    return undefined;
  }
}
