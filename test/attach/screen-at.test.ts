// The screen of the past: what it is put together from, and when nobody can say any more how it was.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LOOK_BACK_FRAMES } from '../../src/attach/limits.js';
import { screenAt } from '../../src/attach/screen-at.js';
import type { Frame } from '../../src/protocol/frames.js';
import { entry, readPayload } from '../../src/protocol/make-frames.js';
import { MemoryLog } from '../support/memory-log.js';

const first = { cols: 80, rows: 24 };

/** A terminal whose screen is its size and all that was printed: a picture replaces it, so a frame too many or too few shows. */
function shown(frames: readonly Frame[]): string {
  return frames.reduce((screen, frame) => {
    const payload = readPayload(frame);
    if (payload.kind === 'Output') return screen + Buffer.from(payload.bytes).toString();
    if (payload.kind === 'Resize') return `${screen}[${payload.cols}]`;
    return payload.kind === 'Keyframe' ? Buffer.from(payload.snapshot, 'base64').toString() : screen;
  }, '');
}

const keyframe = (screen: string) =>
  entry('Keyframe', {
    snapshot: Buffer.from(screen).toString('base64'),
    snapshot_format: 'vt100-screen-state-v1',
    snapshot_cols: 1,
    snapshot_rows: 1,
    anchor_sequence: 0,
  });

describe('the screen at a place', () => {
  it('is what everyone saw there who saw everything, wherever it is and whatever was between', () => {
    const steps = fc.array(fc.constantFrom('print', 'resize', 'members', 'keyframe', 'private'), { maxLength: 40 });
    return fc.assert(
      fc.asyncProperty(steps, async (kinds) => {
        const log = new MemoryLog();
        const seen = ['[80]'];
        for (const [i, kind] of kinds.entries()) {
          const screen = seen.at(-1) ?? '';
          if (kind === 'print') log.append([entry('Output', Buffer.from(`${i},`))]);
          else if (kind === 'resize') log.append([entry('Resize', { cols: i + 1, rows: 1 })]);
          else if (kind === 'members') log.append([entry('MembershipChanged', { controllers: [], observers: [] })]);
          else if (kind === 'keyframe') log.append([keyframe(screen)]);
          else log.append([{ to: 'somebody' }]);
          seen.push(kind === 'print' ? `${screen}${i},` : kind === 'resize' ? `${screen}[${i + 1}]` : screen);
        }
        for (const [place, screen] of seen.entries()) expect(shown((await screenAt(log, place, first)) ?? [])).toBe(screen);
      }),
    );
  });

  it('is unknown where its beginning was trimmed away and no Keyframe is kept before it', async () => {
    const log = new MemoryLog();
    for (const text of 'abc') log.append([entry('Output', Buffer.from(text))]);
    log.append([keyframe('abc')]);
    log.append([entry('Output', Buffer.from('d'))]);
    log.trim(2);
    expect(await screenAt(log, 3, first)).toBeUndefined();
    expect(shown((await screenAt(log, 5, first)) ?? [])).toBe('abcd');
  });

  it('is not looked for further back than its bound', async () => {
    const log = new MemoryLog();
    log.append([keyframe('far')]);
    for (let i = 0; i < LOOK_BACK_FRAMES; i++) log.append([entry('Output', Buffer.from('.'))]);
    expect(shown((await screenAt(log, LOOK_BACK_FRAMES, first)) ?? [])).toMatch(/^far/);
    expect(await screenAt(log, LOOK_BACK_FRAMES + 1, first)).toBeUndefined();
  });
});
