// The line for the person: when it comes and when it goes.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { joined, type Line } from '../../src/cli/display.js';
import { Notices } from '../../src/cli/notices.js';

let shown: string | undefined;
let notices: Notices;
beforeEach(() => {
  vi.useFakeTimers();
  shown = undefined;
  const line = (line: Line | undefined) => {
    shown = line && joined(line);
  };
  notices = new Notices({ line });
});
afterEach(() => {
  notices.clear();
  vi.useRealTimers();
});

it('a line goes by itself after a while, and the one that came after it has a while of its own', () => {
  notices.tell({ text: 'first' });
  vi.advanceTimersByTime(2900);
  notices.tell({ text: 'second', tail: 'the tail' });
  vi.advanceTimersByTime(2900);
  expect(shown).toBe('second; the tail');
  vi.advanceTimersByTime(200);
  expect(shown).toBeUndefined();
});

it('a key takes it away, also one that waits for the key for ever', () => {
  notices.tell({ text: 'a while' });
  notices.key();
  expect(shown).toBeUndefined();
  notices.tell({ text: 'control was taken' }, 'until a key');
  vi.advanceTimersByTime(3_600_000);
  expect(shown).toBe('control was taken');
  notices.key();
  expect(shown).toBeUndefined();
});

it('a line that is held stays over keys and other lines until it is released, and then the last of those is told', () => {
  notices.hold({ text: 'no connection' });
  notices.key();
  notices.tell({ text: 'something else' });
  vi.advanceTimersByTime(60_000);
  expect(shown).toBe('no connection');
  notices.release();
  expect(shown).toBe('something else');
  notices.key();
  expect(shown).toBeUndefined();
  notices.tell({ text: 'back' });
  notices.release();
  expect(shown).toBe('back');
});

it('a countdown tells each second, and stays at 1 until what it waits for has happened', () => {
  notices.countDown(2400, (seconds) => ({ text: `in ${seconds} s` }));
  const told = [shown];
  for (let second = 0; second < 4; second++) {
    vi.advanceTimersByTime(1000);
    told.push(shown);
  }
  expect(told).toEqual(['in 3 s', 'in 2 s', 'in 1 s', 'in 1 s', 'in 1 s']);
});
