// Which sessions are open beside each other, and which of them are in view. Pure: knows no view.
import type { Place } from '../shared/place.js';

/** Open at a time, each with a connection of its own; one more closes the oldest. */
export const MAX_OPEN = 8;

/** How many are in view at a time. */
export const tilings = [1, 2, 4] as const;
export type Tiling = (typeof tilings)[number];

export interface Desk {
  /** In the order of their tabs. */
  readonly open: readonly Place[];
  /** The one that is typed into; undefined while the lobby is in view. */
  readonly active: Place | undefined;
  readonly tiling: Tiling;
}

export const emptyDesk: Desk = { open: [], active: undefined, tiling: 1 };

/** A session that is attached to, and the same one played, are two. */
export const sameSession = (a: Place, b: Place): boolean =>
  a.instanceId === b.instanceId && a.sessionId === b.sessionId && (a.at === undefined) === (b.at === undefined);

/** With this place open and active; one that was open in another way is so no longer. */
export function opened(desk: Desk, place: Place): Desk {
  const isOpen = desk.open.some((other) => sameSession(other, place));
  const open = isOpen ? desk.open.map((other) => (sameSession(other, place) ? place : other)) : [...desk.open, place].slice(-MAX_OPEN);
  return { ...desk, open, active: place };
}

/** The one after it gets active, or the one before it. */
export function closed(desk: Desk, place: Place): Desk {
  const at = desk.open.findIndex((other) => sameSession(other, place));
  const open = desk.open.filter((_, n) => n !== at);
  const wasActive = desk.active !== undefined && sameSession(desk.active, place);
  return { ...desk, open, active: wasActive ? (open[at] ?? open.at(-1)) : desk.active };
}

/** The one before the active one, or after it, as in a ring; from the lobby, the first or the last one. */
export function neighbour({ open, active }: Desk, step: -1 | 1): Place | undefined {
  const at = active ? open.findIndex((other) => sameSession(other, active)) : step < 0 ? open.length : -1;
  return open[(at + step + open.length) % open.length];
}

/** What each is called, by the title that it has: those of one title are told apart by numbers, in the order of their tabs. */
export function namesIn(open: readonly Place[], titleOf: (place: Place) => string): string[] {
  const titles = open.map((place) => (place.at === undefined ? titleOf(place) : `History: ${titleOf(place)}`));
  const count = (title: string, before = titles.length) => titles.slice(0, before).filter((other) => other === title).length;
  return titles.map((title, n) => (count(title) > 1 ? `${title} ${count(title, n) + 1}` : title));
}

/** The active one and those that share the view with it. */
export function inView({ open, active, tiling }: Desk): readonly Place[] {
  if (!active) return [];
  const at = open.findIndex((other) => sameSession(other, active));
  const first = Math.floor(at / tiling) * tiling;
  return open.slice(first, first + tiling);
}
