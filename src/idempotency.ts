// Makes the same request, sent twice with one key, happen once in this process. Knows no route and not what is made.
import { createHmac, randomBytes } from 'node:crypto';
import { Fault } from './errors.js';

/** Keys that are remembered; beyond that the oldest is forgotten. */
export const MAX_KEYS = 10_000;
/** Milliseconds for which a key is remembered. */
export const KEY_TTL_MS = 24 * 3600 * 1000;

interface Remembered {
  readonly digest: string;
  readonly until: number;
  readonly made: Promise<string>;
}

export interface Idempotency {
  /**
   * The id of what `make` made for this key and body, now or earlier. A failure is not remembered. INVALID_REQUEST (409) for a key that was
   * used with another body.
   */
  once(key: string, body: unknown, make: () => Promise<string>): Promise<string>;
}

/** Tells the bodies of one key apart. The order of members does not matter. */
export type Digest = (key: string, body: unknown) => string;

/** Members of a body whose values are not for who reads a digest: with these at hand they could be guessed, one try after the other. */
const SECRET_MEMBERS: ReadonlySet<string> = new Set(['secrets', 'env']);
/** Bytes of a key that this process alone has. */
const KEY_BYTES = 32;

/**
 * Under a key nobody who reads a digest can try out what a body may have held. Without one, secrets and environments count by their number alone:
 * two bodies that differ in nothing else are the same.
 */
export function digestUnder(secret: Uint8Array | undefined): Digest {
  return (key, body) => {
    const told = JSON.stringify([key, canonical(body, secret ? new Set() : SECRET_MEMBERS)]);
    return createHmac('sha256', secret ?? '')
      .update(told)
      .digest('base64');
  };
}

function canonical(body: unknown, counted: ReadonlySet<string>): string {
  const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
  return JSON.stringify(body, (name, value) => {
    if (counted.has(name) && typeof value === 'object' && value !== null) return Object.keys(value).length;
    return isObject(value) ? Object.fromEntries(Object.entries(value).sort(byName)) : value;
  });
}

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);

export const otherBody = () => new Fault('INVALID_REQUEST', 'this Idempotency-Key was used with another body', { status: 409 });

export function createIdempotency(limits = { keys: MAX_KEYS, ttlMs: KEY_TTL_MS }, now: () => number = Date.now): Idempotency {
  const digestOf = digestUnder(randomBytes(KEY_BYTES));
  // In the order of their insertion, so that the oldest are in front.
  const remembered = new Map<string, Remembered>();

  function forgetOld(): void {
    for (const [key, { until }] of remembered) {
      if (until > now() && remembered.size <= limits.keys) return;
      remembered.delete(key);
    }
  }

  return {
    async once(key, body, make) {
      forgetOld();
      const digest = digestOf(key, body);
      const known = remembered.get(key);
      if (known && known.digest !== digest) throw otherBody();
      if (known) return known.made;
      const made = make();
      remembered.set(key, { digest, until: now() + limits.ttlMs, made });
      made.catch(() => remembered.delete(key));
      return made;
    },
  };
}
