// Going through what a search has found.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { nextHit } from '../../web/src/playback/hits.js';

const hits = fc.array(fc.nat(10_000), { minLength: 1, maxLength: 20 }).map((all) => all.sort((a, b) => a - b).map((at) => ({ at })));

it('leads to each of them once, forth and back, also where several are at one moment', () => {
  fc.assert(
    fc.property(hits, fc.nat(10_000), fc.constantFrom(1 as const, -1 as const), (all, start, by) => {
      const seen: number[] = [];
      for (let position = start; seen.length < all.length; ) {
        const next = nextHit(all, seen.at(-1), position, by);
        seen.push(next);
        position = all[next]?.at ?? Number.NaN;
      }
      expect([...seen].sort((a, b) => a - b)).toEqual(all.map((_, n) => n));
      const [first = Number.NaN] = seen;
      const ahead = all.filter(({ at }) => (by === 1 ? at > start : at < start));
      if (ahead.length > 0) expect(all[first]).toEqual(by === 1 ? ahead[0] : ahead.at(-1));
    }),
  );
});

it('begins anew from where one has moved to', () => {
  const all = [{ at: 0 }, { at: 1000 }, { at: 2000 }];
  expect(nextHit(all, 2, 500, 1)).toBe(1);
  expect(nextHit(all, 2, 500, -1)).toBe(0);
});
