// How long a client waits, and what it does not come back from.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { defaultRetry, finalReason, MAX_RETRY_AFTER_MS, waitMs } from '../../src/client/retry.js';

const cut = { code: 1006, message: 'cut' };
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

it('waits between half and all of a time that doubles up to its bound', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2000 }), random, (attempt, chance) => {
      const full = Math.min(defaultRetry.maxMs, defaultRetry.firstMs * 2 ** (attempt - 1));
      const wait = waitMs(cut, attempt, defaultRetry, chance);
      expect(wait).toBeGreaterThanOrEqual(full / 2);
      expect(wait).toBeLessThanOrEqual(full);
    }),
  );
});

it('waits no longer than a bound however long Retry-After says', () => {
  const refusal = { status: 503, message: '', retryAfterMs: 1e12 };
  expect(waitMs({ ...cut, refusal }, 1, defaultRetry, 0)).toBeLessThanOrEqual(MAX_RETRY_AFTER_MS + defaultRetry.firstMs);
});

it('comes back from every failure that may pass, and from no other', () => {
  for (const status of [408, 429, 500, 502, 503, 504]) expect(finalReason({ ...cut, refusal: { status, message: '' } })).toBeUndefined();
  for (const status of [200, 302, 400, 401, 403, 404, 410, 426])
    expect(finalReason({ ...cut, refusal: { status, message: '' } })).toBeDefined();
  for (const code of [1000, 1001, 1006, 1009, 1011, 4429]) expect(finalReason({ code, message: '' })).toBeUndefined();
});
