// When a write of the log is done in the turn in which it is asked for.
import { expect, it } from 'vitest';
import { AtOnce } from '../../src/log/embedded/at-once.js';
import { gate } from '../../src/session/bounded.js';

const KIB = 1024;

function withClock() {
  let now = 0;
  const atOnce = new AtOnce(() => now);
  const pass = (ms: number) => {
    now += ms;
  };
  return { atOnce, pass };
}

it('does small writes at once, and no large ones', () => {
  const { atOnce } = withClock();
  expect([0, 100, 64 * KIB + 100, 256 * KIB].map((bytes) => atOnce.may(bytes))).toEqual([true, true, true, true]);
  expect(atOnce.may(256 * KIB + 1)).toBe(false);
});

it('does none at once while something is being synced, however that ends', async () => {
  const { atOnce } = withClock();
  const [first, second] = [gate(), gate()];
  const refused = second.promise.then(() => Promise.reject(new Error('the disk is gone')));
  const syncs = [atOnce.syncing(first.promise), atOnce.syncing(refused)];
  expect(atOnce.may(1)).toBe(false);
  first.open();
  await syncs[0];
  expect(atOnce.may(1)).toBe(false);
  second.open();
  await expect(syncs[1]).rejects.toThrow('the disk is gone');
  expect(atOnce.may(1)).toBe(true);
});

it('does none at once for five seconds after one that held up the process, also if that failed', () => {
  const { atOnce, pass } = withClock();
  for (const [ms, may] of [
    [19, true],
    [20, false],
    [300, false],
  ] as const) {
    const slow = () => {
      pass(ms);
      throw new Error('the disk is full');
    };
    expect(() => atOnce.do(slow)).toThrow('the disk is full');
    expect(atOnce.may(1)).toBe(may);
    pass(4999);
    expect(atOnce.may(1)).toBe(may);
    pass(1);
    expect(atOnce.may(1)).toBe(true);
  }
});

it('hands on what was written', () => {
  expect(withClock().atOnce.do(() => 7)).toBe(7);
});
