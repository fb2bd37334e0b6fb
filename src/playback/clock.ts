// How time passes while something is played: at a speed, and without the waits that are too long. Pure arithmetic; all is in milliseconds.

/** Speeds that may be chosen. */
export const SPEEDS = [0.5, 1, 1.5, 2, 4, 8] as const;
/** What a long wait is cut down to, where waits are cut. */
export const IDLE_MS = 1000;

export interface Passing {
  /** Of the recording, for one of the clock. */
  readonly speed: number;
  /** Longest wait between two moments that is waited out; Infinity for all of it. */
  readonly idleLimit: number;
  /** When the last moment was, or where playing began since. */
  readonly last: number;
  /** When the next one is; undefined where there is none. */
  readonly next: number | undefined;
  /** Of the recording. */
  readonly end: number;
}

/**
 * Where one is after so much time of the clock. It never goes back, nor beyond the end; a wait that is cut ends right at the next moment, or at
 * the end, so none is leapt over.
 */
export function advance(position: number, elapsed: number, { speed, idleLimit, last, next, end }: Passing): number {
  const passed = Math.min(position + elapsed * speed, Math.max(end, position));
  const awaited = next ?? end;
  const isLong = awaited - last > idleLimit;
  return isLong && passed >= last + idleLimit ? Math.max(passed, Math.min(awaited, Math.max(end, position))) : passed;
}

/** The next faster (1) or slower (−1) speed, or the same where there is none. */
export function otherSpeed(speed: number, by: 1 | -1): number {
  const place = SPEEDS.findIndex((known) => known >= speed);
  return SPEEDS[Math.min(Math.max(place + by, 0), SPEEDS.length - 1)] ?? speed;
}

/** `1:02:03`, or `2:03` below an hour. */
export function clockText(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (part: number): string => `${part}`.padStart(2, '0');
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
