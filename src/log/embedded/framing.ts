// How things lie in a segment file: records one after another, each with its length and checksum. Knows no file and no session.
import { crc32 } from './crc32.js';

/** `start` opens a segment, `entry` is kept, `taken` says that all numbers up to its own were given and keep nothing. */
export const recordType = { start: 1, entry: 2, taken: 3 } as const;
type RecordType = (typeof recordType)[keyof typeof recordType];

export interface Unplaced {
  readonly type: RecordType;
  readonly sequence: number;
  /** The entry's own time, milliseconds since the epoch. */
  readonly ts: number;
  /** The log's clock when it was taken: what it was trimmed by, so that a restart trims the same. */
  readonly takenAt: number;
  readonly kind: string;
  readonly id: string;
  readonly body: Uint8Array;
}

/** A record at its place in the file. */
export interface Stored extends Unplaced {
  readonly offset: number;
  /** Its whole length in the file. */
  readonly bytes: number;
}

/*
 *  0 u32 length of all after the first 8 bytes     8 u8 type              12 f64 sequence (exact up to 2^53)
 *  4 u32 CRC-32 of all after the first 8 bytes     9 u8 length of kind    20 f64 ts
 *                                                 10 u8 length of id      28 f64 takenAt
 *                                                 11 u8 0 (to come)       36 kind, id, body
 *  Little-endian.
 */
const PREFIX_BYTES = 8;
export const HEADER_BYTES = 36;

/** Most bytes in one body; a length above it is damage. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_LENGTH = HEADER_BYTES + 2 * 255 + MAX_BODY_BYTES;

export const byteLength = (record: Unplaced): number => HEADER_BYTES + record.kind.length + record.id.length + record.body.length;

/** Writes the record at `at`; `into` has room for its `byteLength`. */
export function encode(record: Unplaced, into: Buffer, at: number): void {
  const bytes = byteLength(record);
  into.writeUInt32LE(bytes - PREFIX_BYTES, at);
  into.writeUInt32LE((record.type | (record.kind.length << 8) | (record.id.length << 16)) >>> 0, at + 8);
  into.writeDoubleLE(record.sequence, at + 12);
  into.writeDoubleLE(record.ts, at + 20);
  into.writeDoubleLE(record.takenAt, at + 28);
  let end = at + HEADER_BYTES;
  end += into.write(record.kind, end, 'latin1');
  end += into.write(record.id, end, 'latin1');
  into.set(record.body, end);
  into.writeUInt32LE(crc32(into.subarray(at + PREFIX_BYTES, at + bytes)), at + 4);
}

/** What lies at a place: a record, the beginning of one that needs `needs` bytes, or damage. */
export type Decoded =
  | { readonly is: 'whole'; readonly record: Stored }
  | { readonly is: 'short'; readonly needs: number }
  | { readonly is: 'damaged'; readonly why: string };

/** Reads the record at `at` of a piece of the file that begins at `offset`. Its body shares the memory of `from`. */
export function decode(from: Buffer, at: number, offset: number): Decoded {
  const there = from.length - at;
  if (there < HEADER_BYTES) return { is: 'short', needs: HEADER_BYTES };
  const bytes = from.readUInt32LE(at) + PREFIX_BYTES;
  if (bytes < HEADER_BYTES || bytes > MAX_LENGTH) return { is: 'damaged', why: 'its length is impossible' };
  if (there < bytes) return { is: 'short', needs: bytes };
  if (crc32(from.subarray(at + PREFIX_BYTES, at + bytes)) !== from.readUInt32LE(at + 4)) {
    return { is: 'damaged', why: 'its checksum does not fit' };
  }
  return { is: 'whole', record: fields(from, at, offset + at, bytes) };
}

function fields(from: Buffer, at: number, offset: number, bytes: number): Stored {
  const idAt = at + HEADER_BYTES + (from[at + 9] as number);
  const bodyAt = idAt + (from[at + 10] as number);
  return {
    type: from[at + 8] as RecordType,
    sequence: from.readDoubleLE(at + 12),
    ts: from.readDoubleLE(at + 20),
    takenAt: from.readDoubleLE(at + 28),
    kind: from.toString('latin1', at + HEADER_BYTES, idAt),
    id: from.toString('latin1', idAt, bodyAt),
    body: from.subarray(bodyAt, at + bytes),
    offset,
    bytes,
  };
}
