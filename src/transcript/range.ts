// Which frames of a session's history are asked for, and reading them in order. Knows no format.
import { Fault } from '../errors.js';
import type { LogReader } from '../log/log.js';
import type { Frame } from '../protocol/frames.js';

/** One read of the log, at most. */
const READ = { frames: 256, bytes: 1024 * 1024 };

/** Both ends included: numbers of frames, and milliseconds since the epoch. */
export interface Range {
  readonly from: { readonly sequence: number; readonly ts: number };
  readonly to: { readonly sequence: number; readonly ts: number };
}

const first = { sequence: 0, ts: 0 };
const last = { sequence: Number.MAX_SAFE_INTEGER, ts: Number.MAX_SAFE_INTEGER };

/** Each end is the number of a frame or an RFC 3339 time; absent, the history is not cut there. Throws INVALID_REQUEST. */
export function rangeOf({ from, to }: { readonly from?: string | undefined; readonly to?: string | undefined }): Range {
  return { from: { ...first, ...end('from', from) }, to: { ...last, ...end('to', to) } };
}

function end(name: string, text: string | undefined): { sequence: number } | { ts: number } | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return { sequence: Number(text) };
  const ts = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ts))
    throw new Fault('INVALID_REQUEST', `query.${name}: expected the number of a frame, or a time as 2026-01-31T12:00:00Z`);
  return { ts };
}

export function isIn({ from, to }: Range, { sequence, ts }: Pick<Frame, 'sequence' | 'ts'>): boolean {
  return sequence >= from.sequence && ts >= from.ts && !isBehind({ to }, { sequence, ts });
}

/** Whether no time ends it. */
export const isOpen = ({ to }: Range): boolean => to.ts === last.ts;

function isBehind({ to }: Pick<Range, 'to'>, { sequence, ts }: Pick<Frame, 'sequence' | 'ts'>): boolean {
  return sequence > to.sequence || ts > to.ts;
}

/** In pieces, the kept frames above `after`, ascending, up to the end of the range. */
export async function* framesUpTo(reader: LogReader, after: number, range: Range): AsyncGenerator<readonly Frame[]> {
  for (let at = after; ; ) {
    const read = await reader.read(at, READ);
    const newest = read.at(-1);
    if (!newest) return;
    yield read.filter((frame) => !isBehind(range, frame));
    if (isBehind(range, newest)) return;
    at = newest.sequence;
  }
}
