// Makes the same request, sent twice with one key, happen once. Knows no route and not what is made.
import { createHash } from 'node:crypto';
import { Fault } from './errors.js';

/** Keys that are remembered; beyond that the oldest is forgotten. */
const MAX_KEYS = 10_000;
/** Milliseconds for which a key is remembered. */
const KEY_TTL_MS = 24 * 3600 * 1000;

interface Remembered<T> {
  readonly body: string;
  readonly until: number;
  readonly outcome: Promise<T>;
}

export interface Idempotency<T> {
  /** What `make` made for this key and body, now or earlier. A failure is not remembered. INVALID_REQUEST (409) for a key that was used with another body. */
  once(key: string, body: unknown, make: () => Promise<T>): Promise<T>;
}

/** JSON in which the order of members does not show. */
function canonical(body: unknown): string {
  const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
  return JSON.stringify(body, (_name, value) => (isObject(value) ? Object.fromEntries(Object.entries(value).sort(byName)) : value));
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);

export function createIdempotency<T>(limits = { keys: MAX_KEYS, ttlMs: KEY_TTL_MS }, now: () => number = Date.now): Idempotency<T> {
  // In the order of their insertion, so that the oldest are in front.
  const remembered = new Map<string, Remembered<T>>();

  function forgetOld(): void {
    for (const [key, { until }] of remembered) {
      if (until > now() && remembered.size <= limits.keys) return;
      remembered.delete(key);
    }
  }

  return {
    once(key, body, make) {
      forgetOld();
      const digest = createHash('sha256').update(canonical(body)).digest('base64');
      const known = remembered.get(key);
      if (known && known.body !== digest)
        throw new Fault('INVALID_REQUEST', 'this Idempotency-Key was used with another body', { status: 409 });
      if (known) return known.outcome;
      const outcome = make();
      remembered.set(key, { body: digest, until: now() + limits.ttlMs, outcome });
      outcome.catch(() => remembered.delete(key));
      return outcome;
    },
  };
}
