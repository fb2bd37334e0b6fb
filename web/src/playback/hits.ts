// Going through the places that a search has found, forth and back as in a ring. Pure: knows no player and no view.

/** Milliseconds by which one may be off a place and still be at it. */
const NEAR_MS = 1;

/**
 * Which of them comes next, by its index: after the one that is shown, if one is still there, else after the position. They are in order, and there is at
 * least one; all times are milliseconds.
 */
export function nextHit(hits: ReadonlyArray<{ readonly at: number }>, shown: number | undefined, position: number, by: 1 | -1): number {
  const isThere = shown !== undefined && Math.abs((hits[shown]?.at ?? Number.NaN) - position) <= NEAR_MS;
  if (isThere) return (shown + by + hits.length) % hits.length;
  const later = hits.findIndex(({ at }) => at > position);
  if (by === 1) return Math.max(later, 0);
  const earlier = hits.findLastIndex(({ at }) => at < position);
  return earlier < 0 ? hits.length - 1 : earlier;
}
