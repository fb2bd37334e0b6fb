// Denials in masses: what is told of each, and that the file has a bound.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AuditLine } from '../../src/audit/audit.js';
import { MAX_KINDS, Repeats, TOLD_EACH, WINDOW_MS } from '../../src/audit/repeats.js';

let lines: AuditLine[];
let audit: Repeats;
beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
  audit = new Repeats({ record: (line) => void lines.push(line), close: async () => {} });
});
afterEach(() => vi.useRealTimers());

const denied = (more: Partial<AuditLine> = {}): AuditLine => ({
  event: 'attach',
  outcome: 'denied',
  principal: null,
  address: '10.0.0.1',
  ...more,
});
const times = (n: number, act: (i: number) => void) => Array.from({ length: n }, (_, i) => act(i));

describe('Denials that repeat', () => {
  it('are told one by one at first, then as a number when the minute is over, and begin again', () => {
    times(1000, (i) => audit.record(denied({ session_id: `session ${i}` })));
    expect(lines).toHaveLength(TOLD_EACH);
    vi.advanceTimersByTime(WINDOW_MS);
    expect(lines.at(-1)).toEqual(denied({ detail: `${1000 - TOLD_EACH} more within a minute` }));
    audit.record(denied());
    expect(lines.at(-1)).toEqual(denied());
    vi.advanceTimersByTime(WINDOW_MS);
    expect(lines).toHaveLength(TOLD_EACH + 2);
  });

  it('are told as a number when the gateway ends', async () => {
    times(TOLD_EACH + 1, () => audit.record(denied()));
    await audit.close();
    expect(lines.at(-1)?.detail).toBe('1 more within a minute');
  });

  it('of one are counted apart from those of another, of another event, and of the next network', () => {
    times(2 * TOLD_EACH, () => audit.record(denied()));
    const others = [{ address: '10.0.0.2' }, { event: 'role' }, { principal: 'alice' }, { outcome: 'failed' }] as const;
    for (const other of others) audit.record(denied(other));
    expect(lines.slice(TOLD_EACH)).toEqual(others.map(denied));
    times(2 * TOLD_EACH, (i) => audit.record(denied({ address: `2001:db8:1:2::${i}` })));
    expect(lines).toHaveLength(2 * TOLD_EACH + others.length);
  });

  it('from as many addresses as there are leave a bounded number of lines, and hide nothing of a principal', () => {
    times(100 * MAX_KINDS, (i) => audit.record(denied({ address: `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}` })));
    expect(lines).toHaveLength(MAX_KINDS + TOLD_EACH);
    audit.record(denied({ principal: 'alice' }));
    expect(lines.at(-1)).toEqual(denied({ principal: 'alice' }));
    vi.advanceTimersByTime(WINDOW_MS);
    const rest = 99 * MAX_KINDS - TOLD_EACH;
    expect(lines.at(-1)).toEqual({ event: 'attach', outcome: 'denied', principal: null, detail: `${rest} more within a minute, of many` });
  });

  it('are the only lines that are counted: what is done, and what nobody asked for, is told each time', () => {
    times(100, () => audit.record(denied({ outcome: 'done' })));
    times(100, () => audit.record({ event: 'redaction_failed', outcome: 'failed', principal: null, session_id: 'one' }));
    expect(lines).toHaveLength(200);
  });
});
