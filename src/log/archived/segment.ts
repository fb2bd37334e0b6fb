// How entries lie in one object of an archive: a head that says what there must be, then the entries, each with its checksum. Knows no store.
import { byteLength, decode, encode, recordType, type Stored, type Unplaced } from '../embedded/framing.js';
import { FORMAT, whyUnread } from '../format.js';
import { LogError, type Numbered } from '../log.js';
import { readSegmentName } from './names.js';
import { digest, type Prover } from './proof.js';

/** Where the newest entry of each kind is, up to the end of a segment: in it, or before. */
export type Newest = Readonly<Record<string, number>>;

export interface Segment {
  /** The first and the last number that it covers. */
  readonly from: number;
  readonly to: number;
  readonly newest: Newest;
  readonly entries: readonly Numbered[];
}

/** What there is of a segment, and what it is called. */
export interface Named {
  readonly session: string;
  readonly name: string;
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
const NOT_AS_WRITTEN = 'it is not what was written there';

/** Of a sealed session, with its prover. */
export function encodeSegment({ session, name }: Named, { from, to, newest, entries }: Segment, prover?: Prover): Buffer {
  const body = Buffer.concat(entries.map((entry) => encoded({ ...entry, type: recordType.entry, takenAt: entry.ts })));
  const head: Head = { format: FORMAT, session, from, to, entries: entries.length, newest };
  const proven = prover ? { ...head, proof: prover.prove(digest(name, head, body)) } : head;
  return Buffer.concat([encoded({ ...nothing, type: recordType.start, body: Buffer.from(JSON.stringify(proven)) }), body]);
}

function encoded(record: Unplaced): Buffer {
  const bytes = Buffer.allocUnsafe(byteLength(record));
  encode(record, bytes, 0);
  return bytes;
}

/** Throws LogError `corrupt` unless all is there as it was written, under this name and of that session; of a sealed one, by who had its key. */
export function decodeSegment(named: Named, bytes: Buffer, prover?: Prover): Segment {
  const [start, ...records] = recordsIn(named, bytes);
  const { proof, ...head } = headOf(named, start);
  const { from, to, newest } = head;
  if (!isOf(named, head) || head.entries !== records.length || !areInOrder(records, head)) throw corrupt(named, NOT_AS_WRITTEN);
  if (prover && typeof proof !== 'string') throw corrupt(named, 'nothing proves that it was written by a gateway of this session');
  prover?.check(digest(named.name, head, bytes.subarray(start?.bytes)), String(proof));
  return { from, to, newest, entries: records.map(entryOf) };
}

function recordsIn(named: Named, bytes: Buffer): Stored[] {
  const records: Stored[] = [];
  for (let at = 0; at < bytes.length; ) {
    const found = decode(bytes, at, 0);
    if (found.is !== 'whole') throw corrupt(named, found.is === 'damaged' ? found.why : 'it ends before it is whole');
    records.push(found.record);
    at += found.record.bytes;
  }
  return records;
}

function headOf(named: Named, start: Stored | undefined): Head & { readonly proof?: unknown } {
  const head = start?.type === recordType.start ? parsed(start.body) : undefined;
  if (typeof head !== 'object' || head === null) throw corrupt(named, NOT_AS_WRITTEN);
  const why = whyUnread((head as Head).format);
  if (why) throw corrupt(named, why);
  return head as Head;
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch {
    return undefined;
  }
}

/** An older segment under a newer name, or another session's, is whole and yet not what is looked for. */
function isOf({ session, name }: Named, head: Head): boolean {
  const called = readSegmentName(name);
  const isNewest = typeof head.newest === 'object' && head.newest !== null && Object.values(head.newest).every(Number.isSafeInteger);
  return head.session === session && called?.from === head.from && called.to === head.to && isNewest;
}

function areInOrder(records: readonly Stored[], { from, to }: Head): boolean {
  return records.every(({ type, sequence }, i) => {
    const least = i === 0 ? from : (records[i - 1] as Stored).sequence + 1;
    return type === recordType.entry && Number.isSafeInteger(sequence) && sequence >= least && sequence <= to;
  });
}

const entryOf = ({ sequence, kind, id, ts, body }: Stored): Numbered => ({ sequence, kind, id, ts, body });

const corrupt = ({ session, name }: Named, why: string): LogError =>
  new LogError('corrupt', `session ${session}: ${name} of the archive cannot be read: ${why}`);
