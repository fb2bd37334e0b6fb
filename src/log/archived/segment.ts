// How entries lie in one object of an archive: a head that says what there must be, then the entries, each with its checksum. Knows no store.
import { byteLength, decode, encode, recordType, type Stored, type Unplaced } from '../embedded/framing.js';
import { FORMAT, whyUnread } from '../format.js';
import { LogError, type Numbered } from '../log.js';

/** Where the newest entry of each kind is, up to the end of a segment: in it, or before. */
export type Newest = Readonly<Record<string, number>>;

export interface Segment {
  /** The first and the last number that it covers. */
  readonly from: number;
  readonly to: number;
  readonly newest: Newest;
  readonly entries: readonly Numbered[];
}

interface Head {
  readonly format: typeof FORMAT;
  readonly session: string;
  readonly from: number;
  readonly to: number;
  readonly entries: number;
  readonly newest: Newest;
}

const nothing = { sequence: 0, ts: 0, takenAt: 0, kind: '', id: '' };

export function encodeSegment(session: string, { from, to, newest, entries }: Segment): Buffer {
  const head: Head = { format: FORMAT, session, from, to, entries: entries.length, newest };
  const start = { ...nothing, type: recordType.start, body: Buffer.from(JSON.stringify(head)) };
  const records: Unplaced[] = [start, ...entries.map((entry) => ({ ...entry, type: recordType.entry, takenAt: entry.ts }))];
  const bytes = Buffer.allocUnsafe(records.reduce((sum, record) => sum + byteLength(record), 0));
  let at = 0;
  for (const record of records) {
    encode(record, bytes, at);
    at += byteLength(record);
  }
  return bytes;
}

/** Throws LogError `corrupt` unless all is there as it was written, and of that session. */
export function decodeSegment(session: string, name: string, bytes: Buffer): Segment {
  const [start, ...records] = recordsIn(session, name, bytes);
  const head = start && headIn(start);
  const why = head && whyUnread(head.format);
  if (why) throw corrupt(session, name, why);
  if (head?.session !== session || head.entries !== records.length) throw corrupt(session, name, 'it is not what was written there');
  return { from: head.from, to: head.to, newest: head.newest, entries: records.map(entryOf) };
}

function recordsIn(session: string, name: string, bytes: Buffer): Stored[] {
  const records: Stored[] = [];
  for (let at = 0; at < bytes.length; ) {
    const found = decode(bytes, at, 0);
    if (found.is !== 'whole') throw corrupt(session, name, found.is === 'damaged' ? found.why : 'it ends before it is whole');
    records.push(found.record);
    at += found.record.bytes;
  }
  return records;
}

function headIn({ type, body }: Stored): Head | undefined {
  if (type !== recordType.start) return undefined;
  return JSON.parse(Buffer.from(body).toString()) as Head;
}

const entryOf = ({ sequence, kind, id, ts, body }: Stored): Numbered => ({ sequence, kind, id, ts, body });

const corrupt = (session: string, name: string, why: string): LogError =>
  new LogError('corrupt', `session ${session}: ${name} of the archive cannot be read: ${why}`);
