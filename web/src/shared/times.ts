// Times in a person's words. Pure: knows no view.

const MINUTE_MS = 60_000;

/** How long ago that was; both in milliseconds since the epoch. */
export function ago(since: number, now = Date.now()): string {
  const minutes = Math.floor((now - since) / MINUTE_MS);
  return minutes >= 1 ? lasting(minutes) : 'just now';
}

/** How long it is until then. */
export function until(then: number, now = Date.now()): string {
  const minutes = Math.ceil((then - now) / MINUTE_MS);
  return minutes >= 1 ? lasting(minutes) : 'over';
}

function lasting(minutes: number): string {
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`;
}
