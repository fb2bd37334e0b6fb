// When an attempt that failed is made again. Pure.

export interface Retries {
  /** Attempts in all, the first one included. */
  readonly attempts: number;
  /** Longest time from the first attempt to the beginning of the last one, in milliseconds. */
  readonly withinMs: number;
  /** The pause after the first attempt, in milliseconds; twice as long after each one more, up to `mostMs`. */
  readonly firstMs: number;
  readonly mostMs: number;
}

export const defaultRetries: Retries = { attempts: 8, withinMs: 300_000, firstMs: 500, mostMs: 60_000 };

/** What is known of the attempts so far. */
export interface Past {
  /** How many were made. */
  readonly made: number;
  /** Milliseconds since the first one began. */
  readonly elapsedMs: number;
  /** What the receiver asked for, in milliseconds. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * The pause before the next attempt, in milliseconds, half of it by chance, so that those who failed together do not come again together;
 * never shorter than the receiver asked for. Undefined: there is none.
 */
export function pauseBefore(
  { attempts, withinMs, firstMs, mostMs }: Retries,
  { made, elapsedMs, retryAfterMs = 0 }: Past,
): number | undefined {
  if (made >= attempts) return undefined;
  const full = Math.min(mostMs, firstMs * 2 ** (made - 1));
  const pause = Math.max(retryAfterMs, full / 2 + (Math.random() * full) / 2);
  return elapsedMs + pause <= withinMs ? pause : undefined;
}

/** Retry-After in milliseconds, be it seconds or a date (RFC 9110 §10.2.3); undefined if it is neither. */
export function readRetryAfter(value: string | undefined, now: number = Date.now()): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
