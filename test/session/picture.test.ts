// A Keyframe that cannot be made is told of in its place, with its number; none shows what comes behind it.
import { expect, it, vi } from 'vitest';
import { readPayload } from '../../src/protocol/make-frames.js';
import { keyframeOf } from '../../src/session/picture.js';
import { ScreenUnavailable } from '../../src/terminal/terminal.js';

const snapshot = { bytes: new Uint8Array(Buffer.from('screen')), cols: 80, rows: 24, anchor: 7 };
const UNAVAILABLE = { kind: 'Error', code: 'KEYFRAME_UNAVAILABLE' };

it('A screen that shows what is below a number makes the Keyframe with it', async () => {
  const frame = await keyframeOf({ snapshot: async () => snapshot }, 8);
  expect(frame.sequence).toBe(8);
  expect(readPayload(frame)).toMatchObject({ kind: 'Keyframe', anchor_sequence: 7, snapshot_cols: 80, snapshot_rows: 24 });
});

it('A screen that is lost, or being folded again for too long, is KEYFRAME_UNAVAILABLE', async () => {
  const frame = await keyframeOf({ snapshot: () => Promise.reject(new ScreenUnavailable('lost')) }, 8);
  expect(frame.sequence).toBe(8);
  expect(readPayload(frame)).toMatchObject(UNAVAILABLE);
});

it('A screen that can only tell a later state is KEYFRAME_UNAVAILABLE at this place, and is asked again', async () => {
  const late = vi.fn();
  expect(readPayload(await keyframeOf({ snapshot: async () => snapshot }, 7, late))).toMatchObject(UNAVAILABLE);
  expect(late).toHaveBeenCalledOnce();
});
