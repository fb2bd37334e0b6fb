// Many sessions of one gateway, begun a few at a time. Knows no question.
import type { Line } from '../load/jobs.js';
import type { Gateway } from '../peers/gateway.js';

/** Sessions that are begun at the same time. */
const AT_ONCE = 8;

export function herd(gateway: Pick<Gateway, 'begin'>, argv: readonly string[], count: number): Promise<Line[]> {
  return inTurn(Array.from({ length: count }), () => gateway.begin(argv));
}

/** What `work` resolves with for each of these, in their order. */
export async function inTurn<T, R>(all: readonly T[], work: (one: T) => Promise<R>): Promise<R[]> {
  const done: R[] = [];
  while (done.length < all.length) done.push(...(await Promise.all(all.slice(done.length, done.length + AT_ONCE).map(work))));
  return done;
}
