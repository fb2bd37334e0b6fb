import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LastController } from '../../src/session/last-controller.js';

const over = vi.fn();
beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  over.mockReset();
});

describe('A session whose last controller goes', () => {
  it('ends at once where none can come back, and not at all where that is not wanted', () => {
    new LastController({ isOn: false, returnMs: 0 }, over).left();
    expect(over).not.toHaveBeenCalled();
    new LastController({ isOn: true, returnMs: 0 }, over).left();
    expect(over).toHaveBeenCalledOnce();
  });

  it('waits for one as long as it is said, from when the first went, and once', () => {
    const last = new LastController({ isOn: true, returnMs: 1000 }, over);
    last.left();
    vi.advanceTimersByTime(600);
    last.left();
    expect([last.isAwaited, over.mock.calls.length]).toEqual([true, 0]);
    vi.advanceTimersByTime(10_000);
    expect(over).toHaveBeenCalledOnce();
  });

  it('goes on when one comes, and waits anew when that one goes', () => {
    const last = new LastController({ isOn: true, returnMs: 1000 }, over);
    last.left();
    vi.advanceTimersByTime(999);
    last.came();
    vi.advanceTimersByTime(10_000);
    expect([last.isAwaited, over.mock.calls.length]).toEqual([false, 0]);
    last.left();
    vi.advanceTimersByTime(1000);
    expect(over).toHaveBeenCalledOnce();
  });
});
