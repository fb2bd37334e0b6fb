// Time passes at a speed, without the waits that are too long, and never past anything.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { advance, clockText, otherSpeed, SPEEDS } from '../../src/playback/clock.js';

const ms = fc.integer({ min: 0, max: 100_000 });
const speed = fc.constantFrom(...SPEEDS);
const idleLimit = fc.oneof(fc.integer({ min: 1, max: 5000 }), fc.constant(Number.POSITIVE_INFINITY));

/** Plays moments one after the other by ticks, and returns how long that took by the clock. */
function played(moments: readonly number[], tick: number, passing: { speed: number; idleLimit: number }): number {
  const end = moments.at(-1) ?? 0;
  let position = 0;
  let clock = 0;
  while (position < end) {
    const last = moments.findLast((at) => at <= position) ?? 0;
    position = advance(position, tick, { ...passing, last, next: moments.find((at) => at > position), end });
    clock += tick;
  }
  return clock;
}

describe('the clock of a playback', () => {
  it('never goes back, nor beyond the end, and leaps over nothing', () => {
    fc.assert(
      fc.property(ms, ms, ms, ms, ms, speed, idleLimit, (position, elapsed, before, wait, after, speed, idleLimit) => {
        const [last, next] = [Math.max(0, position - before), position + wait];
        const end = next + after;
        const now = advance(position, elapsed, { speed, idleLimit, last, next, end });
        expect(now).toBeGreaterThanOrEqual(position);
        expect(now).toBeLessThanOrEqual(end);
        expect(now).toBeLessThanOrEqual(Math.max(next, position + elapsed * speed));
        expect(now).toBeGreaterThanOrEqual(Math.min(end, position + elapsed * speed));
      }),
    );
  });

  it('takes as long as what is not cut, divided by the speed', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 20 }),
        speed,
        idleLimit,
        (gaps, speed, idleLimit) => {
          const moments = gaps.map((_, i) => gaps.slice(0, i + 1).reduce((sum, gap) => sum + gap, 0));
          const expected = gaps.reduce((sum, gap) => sum + Math.min(gap, idleLimit), 0) / speed;
          const tick = 10;
          const took = played(moments, tick, { speed, idleLimit });
          expect(Math.abs(took - expected)).toBeLessThanOrEqual(tick * (gaps.length + 1));
        },
      ),
    );
  });

  it('is read as minutes and seconds, with hours where there are any', () => {
    expect([0, 999, 61_000, 3_723_000].map(clockText)).toEqual(['0:00', '0:00', '1:01', '1:02:03']);
  });

  it('is made faster and slower by steps, up to the last of them', () => {
    expect([otherSpeed(1, 1), otherSpeed(1, -1), otherSpeed(8, 1), otherSpeed(0.5, -1)]).toEqual([1.5, 0.5, 8, 0.5]);
  });
});
