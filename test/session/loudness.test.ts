// A program that prints very much is told of: soon, seldom, and only while it does.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LOUD_BYTES, Loudness, TOLD_AGAIN_MS } from '../../src/session/loudness.js';

const MINUTE_MS = 60_000;

/** What was told, and when, of a program that prints these pieces. */
function toldOf(pieces: ReadonlyArray<readonly [afterMs: number, bytes: number]>): Array<{ at: number; rate: number }> {
  let now = 0;
  const told: Array<{ at: number; rate: number }> = [];
  const loudness = new Loudness(
    (rate) => told.push({ at: now, rate }),
    () => now,
  );
  for (const [afterMs, bytes] of pieces) {
    now += afterMs;
    loudness.printed(bytes);
  }
  return told;
}

it('a program is told of at most once in ten minutes, and never for less than it may print in a minute', () => {
  const pieces = fc.array(fc.tuple(fc.nat(MINUTE_MS), fc.nat(LOUD_BYTES / 2)), { maxLength: 200 });
  fc.assert(
    fc.property(pieces, (all) => {
      const told = toldOf(all);
      for (const [i, { at, rate }] of told.entries()) {
        expect(rate).toBeGreaterThanOrEqual(Math.floor((LOUD_BYTES * 1000) / MINUTE_MS));
        const before = told[i - 1];
        if (before) expect(at - before.at).toBeGreaterThanOrEqual(TOLD_AGAIN_MS);
      }
    }),
  );
});

it('who begins after an hour of silence is told of within twice what may be printed, and again while it goes on', () => {
  const second = [1000, LOUD_BYTES / 8] as const;
  expect(toldOf([[60 * MINUTE_MS, 1], ...Array.from({ length: 16 }, () => second)])).toEqual([
    { at: 60 * MINUTE_MS + 16_000, rate: LOUD_BYTES / 8 },
  ]);
  const long = toldOf(Array.from({ length: 1300 }, () => second));
  expect(long.map(({ at }) => at)).toEqual([8000, 608_000, 1_208_000]);
});
