import { describe, expect, it } from 'vitest';
import { createIdempotency } from '../../src/idempotency.js';

describe('idempotency', () => {
  it('forgets a key when its time has passed, and the oldest when there are too many', async () => {
    let now = 0;
    let made = 0;
    const { once } = createIdempotency({ keys: 2, ttlMs: 100 }, () => now);
    const make = async () => `${++made}`;
    expect([await once('a', {}, make), await once('a', {}, make)]).toEqual(['1', '1']);
    now = 99;
    expect(await once('a', {}, make)).toBe('1');
    now = 100;
    expect(await once('a', {}, make)).toBe('2');
    for (const key of ['b', 'c', 'd']) await once(key, {}, make);
    expect(await once('d', {}, make)).toBe('5');
    expect(await once('a', {}, make)).toBe('6');
  });
});
