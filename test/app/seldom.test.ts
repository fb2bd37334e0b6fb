// What happens again and again is told now and then, with how often.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Seldom } from '../../src/logging/seldom.js';

const EVERY_MS = 60_000;
let said: string[];
let seldom: Seldom;
const happen = (cause: string, where = '') => seldom.tell(cause, (times) => said.push(`${cause}${where} x${times}`));
beforeEach(() => {
  vi.useFakeTimers();
  said = [];
  seldom = new Seldom(EVERY_MS);
});
afterEach(() => vi.useRealTimers());

it('is told at once the first time, then once in a while for as long as it goes on, and at once when it begins again', () => {
  happen('full');
  happen('gone');
  for (let i = 0; i < 5; i++) happen('full', ` at ${i}`);
  expect(said).toEqual(['full x1', 'gone x1']);
  vi.advanceTimersByTime(EVERY_MS);
  expect(said.splice(0)).toEqual(['full x1', 'gone x1', 'full at 4 x5']);
  happen('gone');
  happen('full');
  expect(said.splice(0)).toEqual(['gone x1']);
  vi.advanceTimersByTime(10 * EVERY_MS);
  expect(said).toEqual(['full x1']);
  expect(vi.getTimerCount()).toBe(0);
});

it('remembers a bounded number of causes, and owes nothing at its end', () => {
  happen('first');
  happen('first');
  for (let i = 0; i < 1000; i++) happen(`cause ${i}`);
  expect(said.filter((one) => one.startsWith('first'))).toEqual(['first x1', 'first x1']);
  expect(vi.getTimerCount()).toBeLessThanOrEqual(256);
  happen('cause 999');
  seldom.close();
  expect(said.at(-1)).toBe('cause 999 x1');
  expect(vi.getTimerCount()).toBe(0);
});
