// The ring that cursors share, against a plain list; and the bounds of what one connection may ask.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Tail, Tails } from '../../src/attach/tail.js';
import { jsonCodec } from '../../src/protocol/json-codec.js';
import { entry } from '../../src/protocol/make-frames.js';
import { MemoryLog } from '../support/memory-log.js';

const limits = { frames: 8, bytes: 100 };

describe('a tail', () => {
  it('says that a place before a hole in the log has missed something', () => {
    const log = new MemoryLog();
    const tail = new Tail(log, limits);
    log.append([entry('Output', new Uint8Array(1))]).tell();
    expect(tail.floor).toBe(0);
    log.fall(1000);
    log.append([entry('Output', new Uint8Array(1))]).tell();
    expect([tail.floor, tail.current, tail.after(tail.floor)?.frame.sequence]).toEqual([1001, 1002, 1002]);
  });

  it('knows every frame between its floor and its end, within its bounds, whatever was appended', () => {
    const appends = fc.array(fc.array(fc.option(fc.integer({ min: 0, max: 60 }), { nil: null }), { maxLength: 5 }), { maxLength: 40 });
    fc.assert(
      fc.property(appends, fc.nat({ max: 200 }), (batches, place) => {
        const log = new MemoryLog();
        const tail = new Tail(log, limits);
        const kept = batches.flatMap((sizes) => {
          const drafts = sizes.map((size) => (size === null ? { to: 'c' } : entry('Output', new Uint8Array(size))));
          const { kept: taken, tell } = log.append(drafts);
          tell();
          return taken;
        });
        const inside = kept.filter((frame) => frame.sequence > tail.floor);
        expect(tail.current).toBe(log.extent().current);
        expect(inside.length).toBeLessThanOrEqual(limits.frames);
        expect(inside.slice(1).reduce((sum, frame) => sum + frame.body.length, 0)).toBeLessThanOrEqual(limits.bytes);
        expect(tail.after(Math.max(place, tail.floor))?.frame).toBe(inside.find((frame) => frame.sequence > place));
      }),
    );
  });

  it('makes each encoding once, and looks once for what is asked', () => {
    const log = new MemoryLog();
    const tail = new Tail(log, limits);
    log.append([entry('Output', Buffer.from('x\x1b[c'))]).tell();
    expect(tail.after(0)?.asked.queries).toEqual([{ kind: 'attributes', answers: 1 }]);
    expect(tail.after(0)?.asked).toBe(tail.after(0)?.asked);
    expect(tail.after(0)?.text(jsonCodec)).toBe(tail.after(0)?.text(jsonCodec));
    expect(tail.after(0)?.binary).toBe(tail.after(0)?.binary);
  });

  it('is one for all cursors of a session, and follows its log no longer than they', () => {
    const log = new MemoryLog();
    const tails = new Tails();
    expect(tails.take('s', log)).toBe(tails.take('s', log));
    tails.release('s');
    expect([log.followers, tails.size]).toEqual([1, 1]);
    tails.release('s');
    expect([log.followers, tails.size]).toEqual([0, 0]);
  });
});
