// A timeline is drawn from an index: its length, where playing can begin, and who came, went and took control.
import { describe, expect, it } from 'vitest';
import { type IndexLine, timelineOf } from '../../src/playback/index-lines.js';
import { firstAfter, lastBefore, MAX_KEYFRAMES, MAX_MARKERS } from '../../src/playback/timeline.js';

const START = Date.parse('2026-01-31T12:00:00Z');
const at = (sequence: number) => ({ sequence, ts: new Date(START + sequence * 1000).toISOString() });
const begin: IndexLine = { ...at(1), kind: 'Begin', cols: 80, rows: 24 };
const keyframe = (sequence: number): IndexLine => ({ ...at(sequence), kind: 'Keyframe', cols: 80, rows: 24 });
const [ada, bob] = [{ client_id: 'client-ada', label: 'Ada' }, { client_id: 'client-bob-1' }];

describe('the timeline of a session', () => {
  it('says when it began, how long it is, and what happened', () => {
    const timeline = timelineOf([
      begin,
      { ...at(2), kind: 'MembershipChanged', controllers: [ada], observers: [] },
      { ...at(3), kind: 'MembershipChanged', controllers: [ada], observers: [bob] },
      { ...at(4), kind: 'MembershipChanged', controllers: [bob], observers: [ada] },
      { ...at(5), kind: 'Resize', cols: 100, rows: 30 },
      keyframe(6),
      { ...at(7), kind: 'MembershipChanged', controllers: [bob], observers: [] },
      { ...at(8), kind: 'Closed', exit_code: 3, reason: 'command_result' },
      { ...at(9), kind: 'End' },
    ]);
    expect(timeline).toMatchObject({ startedAt: START + 1000, duration: 8000, size: { cols: 80, rows: 24 }, first: 1, isWhole: true });
    expect(timeline?.keyframes).toEqual([{ at: 5000, sequence: 6 }]);
    expect(timeline?.markers.map(({ at, text }) => `${at} ${text}`)).toEqual([
      '1000 Ada joined',
      '1000 Ada has control',
      '2000 -bob-1 joined',
      '3000 -bob-1 has control',
      '4000 100 × 30',
      '6000 Ada left',
      '7000 ended with exit code 3',
    ]);
  });

  it('begins at a Keyframe where what was before is gone, and is none where there is nothing', () => {
    expect(timelineOf([{ ...begin, sequence: 6 }, keyframe(6), { ...at(7), kind: 'End' }])).toMatchObject({ first: 6, isWhole: false });
    expect(timelineOf([])).toBeUndefined();
  });

  it('never goes back, though the clock of a machine did', () => {
    const timeline = timelineOf([begin, keyframe(9), keyframe(4), { ...at(5), kind: 'End' }]);
    expect(timeline?.keyframes.map(({ at }) => at)).toEqual([8000, 8000]);
    expect(timeline?.duration).toBe(8000);
  });

  it('keeps a bounded number of places and markers, spread over all of it', () => {
    const keyframes = Array.from({ length: 3 * MAX_KEYFRAMES }, (_, n) => keyframe(n + 2));
    const resizes = keyframes.map(({ sequence, ts }): IndexLine => ({ sequence, ts, kind: 'Resize', cols: 9, rows: 9 }));
    const timeline = timelineOf([begin, ...keyframes, ...resizes]);
    const kept = timeline?.keyframes ?? [];
    expect(kept.length).toBeLessThanOrEqual(MAX_KEYFRAMES);
    expect(kept.length).toBeGreaterThan(MAX_KEYFRAMES / 4);
    const gaps = kept.slice(1).map(({ sequence }, i) => sequence - (kept[i]?.sequence ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(2 * Math.min(...gaps));
    expect(timeline?.markers).toHaveLength(MAX_MARKERS);
  });

  it('finds what is nearest to a place', () => {
    const things = [10, 20, 20, 30].map((at, n) => ({ at, n }));
    expect([9, 10, 25, 99].map((at) => lastBefore(things, at)?.n)).toEqual([undefined, 0, 2, 3]);
    expect([9, 10, 20, 30].map((at) => firstAfter(things, at)?.n)).toEqual([0, 1, 3, undefined]);
  });
});
