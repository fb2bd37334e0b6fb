// What a player needs of a history: its frames, and where it can begin.
import { describe, expect, it } from 'vitest';
import type { Frame } from '../../src/protocol/frames.js';
import { entry } from '../../src/protocol/make-frames.js';
import { frames, index } from '../../src/transcript/frames.js';

const START = Date.parse('2026-01-31T12:00:00Z');
const size = { cols: 80, rows: 24 };
const numbered = (sequence: number, frame: Omit<Frame, 'sequence'>): Frame => ({ ...frame, sequence, ts: START + sequence * 1000 });
const at = (sequence: number) => ({ sequence, ts: new Date(START + sequence * 1000).toISOString() });
const keyframe = {
  snapshot: 'AAAA',
  snapshot_format: 'vt100-screen-state-v1',
  snapshot_cols: 90,
  snapshot_rows: 30,
  anchor_sequence: 1,
} as const;
const members = { controllers: [{ client_id: 'a', label: 'Ada' }], observers: [] };
const task = { task: { id: 'a', contextId: 'b', status: { state: 'TASK_STATE_WORKING' } }, delta: {} };
const history = [
  numbered(1, entry('MembershipChanged', members)),
  numbered(2, entry('Output', Uint8Array.of(0xe2, 0x82))),
  numbered(3, entry('TaskStatusUpdate', task)),
  numbered(4, entry('Resize', { cols: 90, rows: 30 })),
  numbered(6, entry('Keyframe', keyframe)),
  numbered(7, entry('Output', Uint8Array.of(0x41))),
];

const told = (format: ReturnType<typeof frames>, taken: readonly Frame[]): object[] =>
  [...taken.flatMap((frame) => format.take(frame)), ...format.end()].map((line) => JSON.parse(line));

describe('the frames of a history', () => {
  it('are told as they are on the wire, bytes that are no text too, but for what is told of the task', () => {
    expect(told(frames(), history)).toEqual([
      { ...at(1), kind: 'MembershipChanged', ...members },
      { ...at(2), kind: 'Output', stream: 'stdout', data: '4oI=' },
      { ...at(4), kind: 'Resize', cols: 90, rows: 30 },
      { ...at(6), kind: 'Keyframe', ...keyframe },
      { ...at(7), kind: 'Output', stream: 'stdout', data: 'QQ==' },
    ]);
  });
});

describe('the index of a history', () => {
  const rest = [
    { ...at(4), kind: 'Resize', cols: 90, rows: 30 },
    { ...at(6), kind: 'Keyframe', cols: 90, rows: 30 },
    { ...at(7), kind: 'End' },
  ];

  it('begins with the first frame, where all are there', () => {
    const begin = { ...at(1), kind: 'Begin', ...size };
    expect(told(index({ size, isWhole: true }), history)).toEqual([begin, { ...at(1), kind: 'MembershipChanged', ...members }, ...rest]);
  });

  it('begins with the first Keyframe, where what was before is gone', () => {
    expect(told(index({ size, isWhole: false }), history)).toEqual([{ ...at(6), kind: 'Begin', cols: 90, rows: 30 }, ...rest.slice(1)]);
  });

  it('is empty, where nothing can be shown', () => {
    expect(told(index({ size, isWhole: false }), history.slice(0, 3))).toEqual([]);
    expect(told(index({ size, isWhole: true }), [])).toEqual([]);
  });
});
