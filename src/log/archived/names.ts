// What the objects of an archive are called. A name tells what is needed to find, order and expire an object without reading it. Knows no store.
//
//   segments/<session>/<first number>-<last number>-<newest ts>-<writer>   what happened, never changed
//   records/<session>/<last number>-<ts>-<writer>                         what is said about it; the last name in order holds
//
// Each writer names its objects by a word of its own, so that none replaces another's: not a paused owner its successor's.
import { randomBytes } from 'node:crypto';

/** A stretch of a session's numbers, all of which are in one object. */
export interface SegmentName {
  readonly name: string;
  /** The first and the last number that it covers, whether there is an entry for them or not. */
  readonly from: number;
  readonly to: number;
  /** Of its newest entry, in milliseconds since the epoch. */
  readonly newestMs: number;
}

export const RECORDS = 'records/';

const digits = (n: number): string => String(Math.max(0, Math.ceil(n))).padStart(16, '0');
const folder = (kind: string, sessionId: string): string => `${kind}/${encodeURIComponent(sessionId).replace(/^\./, '%2E')}/`;

export const segmentsOf = (sessionId: string): string => folder('segments', sessionId);
export const recordsOf = (sessionId: string): string => folder('records', sessionId);

/** Unlike all others. */
export const newWriter = (): string => randomBytes(6).toString('hex');

export function segmentName(sessionId: string, { from, to, newestMs }: Omit<SegmentName, 'name'>, writer: string): string {
  return `${segmentsOf(sessionId)}${digits(from)}-${digits(to)}-${digits(newestMs)}-${writer}`;
}

export function recordName(sessionId: string, current: number, ts: number, writer: string): string {
  return `${recordsOf(sessionId)}${digits(current)}-${digits(ts)}-${writer}`;
}

/** Undefined for an object that is no segment. */
export function readSegmentName(name: string): SegmentName | undefined {
  const [, from, to, newestMs] = /\/(\d{16})-(\d{16})-(\d{16})-[0-9a-f]+$/.exec(name) ?? [];
  return from === undefined ? undefined : { name, from: Number(from), to: Number(to), newestMs: Number(newestMs) };
}

/** Ids as gateways give them: nothing in them means anything to a path or a key of Redis. */
const SESSION_ID = /^[\w-]{1,128}$/;

/** The session that a record is of; undefined for an object that is no record of any session of a gateway. */
export function sessionOfRecord(name: string): string | undefined {
  const [, session] = /^records\/([^/]+)\/\d{16}-\d{16}-[0-9a-f]+$/.exec(name) ?? [];
  return session !== undefined && SESSION_ID.test(session) ? session : undefined;
}
