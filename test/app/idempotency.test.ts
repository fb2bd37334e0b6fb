import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createIdempotency, digestUnder } from '../../src/idempotency.js';

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

describe('the digest of a body', () => {
  const shared = digestUnder(Buffer.from('what the replicas were given'));

  it('is the same for the same members in any order, and another for another body, key or secret', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }), fc.string(), (body, key) => {
        const turned = Object.fromEntries(Object.entries(body).reverse());
        expect(shared(key, turned)).toBe(shared(key, body));
        const others = [shared(`${key}x`, body), shared(key, [body]), digestUnder(Buffer.from('other'))(key, body)];
        expect(others).not.toContain(shared(key, body));
      }),
    );
  });

  it('cannot be made from a guess of its secrets by who does not know the key', () => {
    const [key, body] = ['order-1', { label: 'deploy', secrets: ['hunter22'] }];
    const told = JSON.stringify([key, JSON.stringify(body)]);
    const guesses = [key, '', 'hunter22'].map((guess) => createHmac('sha256', guess).update(told).digest('base64'));
    expect([...guesses, createHash('sha256').update(told).digest('base64')]).not.toContain(shared(key, body));
  });

  it('holds nothing of secrets and environments but their number where there is no key', () => {
    const plain = digestUnder(undefined);
    const body = (secret: string) => ({ label: 'deploy', secrets: [secret], env: { TOKEN: secret } });
    expect(plain('k', body('hunter22'))).toBe(plain('k', body('swordfish')));
    expect(plain('k', { ...body('hunter22'), label: 'other' })).not.toBe(plain('k', body('hunter22')));
    expect(plain('k', { ...body('hunter22'), secrets: [] })).not.toBe(plain('k', body('hunter22')));
  });
});
