// One segment file: its name, what is remembered of it, and the reading of its records in large pieces. Knows no session.
import type { DiskFile } from './disk.js';
import { decode, recordType, type Stored } from './framing.js';

/** A segment that has grown to this many bytes is followed by a new one. */
export const SEGMENT_BYTES = 8 * 1024 * 1024;
/** Bytes of a segment for each mark of its sparse index. */
const MARK_BYTES = 64 * 1024;

/** What is remembered of a segment: a few numbers, and of the newest ones a sparse index. */
export interface Segment {
  /** The number that its first record has or exceeds; also its file's name. */
  readonly base: number;
  /** Kept entries of the session before it. */
  readonly before: number;
  /** A part of the session before it was lost: nothing below `base` can be read any more. */
  readonly lost: boolean;
  entries: number;
  /** The last number given in it. */
  last: number;
  /** The newest `ts` in it; −Infinity without entries. */
  newest: number;
  /** Bytes of whole records. */
  end: number;
  /** Ascending (sequence, offset) pairs, flat. */
  marks: number[];
}

/** The body of a segment's `start` record: what is needed to know the segments before it without reading them. */
export interface Start {
  readonly before: number;
  readonly lost: boolean;
  readonly previous: { readonly base: number; readonly end: number; readonly newest: number | null } | null;
  /** Where the newest entry of each kind lies. */
  readonly latest: Readonly<Record<string, Place>>;
}

export interface Place {
  readonly sequence: number;
  readonly base: number;
  readonly offset: number;
  readonly bytes: number;
}

const NAME = /^(\d{16})\.log$/;
export const segmentName = (base: number): string => `${String(base).padStart(16, '0')}.log`;
export const baseOf = (name: string): number | undefined => (NAME.test(name) ? Number(name.slice(0, 16)) : undefined);

export const freshSegment = (base: number, before: number, lost: boolean): Segment => ({
  base,
  before,
  lost,
  entries: 0,
  last: base - 1,
  newest: Number.NEGATIVE_INFINITY,
  end: 0,
  marks: [],
});

/** Takes a record that follows the last one into account. */
export function note(segment: Segment, record: Stored): void {
  segment.end = record.offset + record.bytes;
  if (record.type === recordType.start) return;
  segment.last = record.sequence;
  if (record.offset >= (segment.marks.at(-1) ?? 0) + MARK_BYTES) segment.marks.push(record.sequence, record.offset);
  if (record.type !== recordType.entry) return;
  segment.entries++;
  segment.newest = Math.max(segment.newest, record.ts);
}

/** A place at or before the first record with a number above `after`. */
export function seek(segment: Segment, after: number): number {
  let low = 0;
  let high = segment.marks.length / 2;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((segment.marks[2 * middle] as number) <= after + 1) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? 0 : (segment.marks[2 * low - 1] as number);
}

/** Whole records one after another; `next` is where the one after them begins; `stop` says why it is none. */
export interface Stretch {
  readonly records: Stored[];
  readonly next: number;
  readonly stop?: { readonly is: 'short' | 'damaged'; readonly why: string };
}

/** Reads about `want` bytes at `from`, and at least one record, from a file that ends at `end`. */
export async function readStretch(file: DiskFile, from: number, end: number, want: number): Promise<Stretch> {
  const piece = Buffer.allocUnsafe(Math.max(0, Math.min(want, end - from)));
  const read = piece.subarray(0, await fill(file, piece, from));
  const records: Stored[] = [];
  let at = 0;
  while (at < read.length) {
    const found = decode(read, at, from);
    if (found.is === 'whole') {
      records.push(found.record);
      at += found.record.bytes;
      continue;
    }
    if (found.is === 'damaged') return { records, next: from + at, stop: found };
    if (from + at + found.needs > end) return { records, next: from + at, stop: { is: 'short', why: 'it ends before it is whole' } };
    if (records.length > 0) break;
    if (read.length < piece.length) break;
    return readStretch(file, from, end, found.needs);
  }
  if (read.length < piece.length) return { records, next: from + at, stop: { is: 'short', why: 'the file is shorter than it was' } };
  return { records, next: from + at };
}

async function fill(file: DiskFile, piece: Buffer, from: number): Promise<number> {
  let filled = 0;
  while (filled < piece.length) {
    const read = await file.read(filled === 0 ? piece : piece.subarray(filled), from + filled);
    if (read === 0) break;
    filled += read;
  }
  return filled;
}
