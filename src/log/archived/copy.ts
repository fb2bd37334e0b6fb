// Copies a session's entries from its log into its archive, from where the archive ends. Knows no clock and no reason to.
import type { LogReader, Numbered } from '../log.js';
import type { Access } from './access.js';
import { segmentName } from './names.js';
import type { Newest } from './segment.js';
import { isCorrupt, type Shelf } from './shelf.js';

/** Most entries, and bytes of their bodies past the first, in one segment: what is held in memory at once for a session that is archived. */
export const SEGMENT = { frames: 10_000, bytes: 1024 * 1024 };

/** Numbers of a session that had left the log before they could be archived. */
export interface Gap {
  readonly sessionId: string;
  readonly from: number;
  readonly to: number;
}

export interface Copying {
  readonly shelf: Shelf;
  readonly access: Access;
  /** What this writer's objects are called by. */
  readonly writer: string;
  now(): number;
  gap(gap: Gap): void;
}

/** Entries with all numbers that they stand among. */
interface Piece {
  readonly from: number;
  readonly to: number;
  readonly entries: readonly Numbered[];
}

/** All that the log has when it is called. Rejects with LogError `unavailable` if the store refuses; then it goes on from there the next time. */
export async function copy(reader: LogReader, to: Copying): Promise<void> {
  const { shelf } = to;
  await shelf.load(Number.POSITIVE_INFINITY);
  const upTo = reader.extent().current;
  shelf.given(upTo);
  while (shelf.covered < upTo) {
    const piece = await gather(reader, shelf.covered, upTo);
    if (piece.from > shelf.covered + 1) tear(to, piece.from);
    if (piece.entries.length > 0) await put(to, piece);
    else shelf.cover(piece.to);
  }
}

/** Says in the archive, too, that the numbers up to this one keep nothing. */
export async function bridge(to: Copying, upTo: number): Promise<void> {
  if (to.shelf.end < upTo) await put(to, { to: upTo, entries: [] });
}

function tear({ shelf, gap }: Copying, from: number): void {
  gap({ sessionId: shelf.id, from: shelf.covered + 1, to: from - 1 });
  shelf.beginAt(from);
}

/** What lies above `after`, up to the size of a segment, or to `upTo` where the log has no more; from above what it has no more. */
async function gather(reader: LogReader, after: number, upTo: number): Promise<Piece> {
  const entries: Numbered[] = [];
  let left = SEGMENT;
  let from = after + 1;
  for (let at = after; ; at = entries.at(-1)?.sequence ?? at) {
    const more = left.frames > 0 && left.bytes > 0 ? await reader.read(at, left) : undefined;
    const { oldest } = reader.extent();
    const isTorn = oldest - 1 > at && more?.[0]?.sequence !== at + 1;
    if (more === undefined || (isTorn && entries.length > 0)) return { from, to: at, entries };
    if (isTorn) from = oldest;
    if (more.length === 0) return { from, to: Math.max(at, upTo, from - 1), entries };
    entries.push(...more);
    left = { frames: left.frames - more.length, bytes: left.bytes - more.reduce((sum, { body }) => sum + body.length, 0) };
  }
}

/** Where nothing is missing, segments follow on each other, whatever numbers keep nothing. */
async function put({ shelf, access, writer, now }: Copying, { to, entries }: Omit<Piece, 'from'>): Promise<void> {
  const from = shelf.next;
  const newestMs = entries.length > 0 ? entries.reduce((newest, { ts }) => Math.max(newest, ts), 0) : now();
  const newest = { ...(await newestBefore(shelf)), ...Object.fromEntries(entries.map(({ kind, sequence }) => [kind, sequence])) };
  const name = segmentName(shelf.id, { from, to, newestMs }, writer);
  await access.putSegment({ session: shelf.id, name }, { from, to, newest, entries });
  shelf.add({ name, from, to, newestMs }, newest);
}

/** A damaged segment keeps nothing from being archived behind it. */
async function newestBefore(shelf: Shelf): Promise<Newest> {
  return shelf.newest().catch((error) => {
    if (isCorrupt(error)) return {};
    throw error;
  });
}
