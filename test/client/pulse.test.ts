// When a silent peer is asked, and when it is given up.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Pulse } from '../../src/client/pulse.js';

let told: string[];
let pulse: Pulse;
beforeEach(() => {
  vi.useFakeTimers();
  told = [];
  pulse = new Pulse({ quietMs: 10_000, answerMs: 10_000 }, { ask: () => told.push('ask'), gone: () => told.push('gone') });
});
afterEach(() => {
  pulse.stop();
  vi.useRealTimers();
});

it('asks after a silence, gives up after another, and does nothing more then', () => {
  vi.advanceTimersByTime(9_999);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(told).toEqual(['ask']);
  vi.advanceTimersByTime(10_000);
  expect(told).toEqual(['ask', 'gone']);
  vi.advanceTimersByTime(100_000);
  expect(told).toEqual(['ask', 'gone']);
});

it('asks nobody who is heard, and counts a silence from the last word', () => {
  for (let second = 0; second < 60; second++) {
    vi.advanceTimersByTime(1000);
    pulse.heard();
  }
  expect(told).toEqual([]);
  vi.advanceTimersByTime(10_001);
  expect(told).toEqual(['ask']);
});

it('takes anything for an answer', () => {
  vi.advanceTimersByTime(19_000);
  pulse.heard();
  vi.advanceTimersByTime(9_999);
  expect(told).toEqual(['ask']);
  vi.advanceTimersByTime(1);
  expect(told).toEqual(['ask', 'ask']);
});
