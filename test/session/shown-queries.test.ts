// What is asked in the frames that terminals are shown is found by each of them as by one who reads every byte, wherever the frames were cut.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Frame } from '../../src/protocol/frames.js';
import { entry } from '../../src/protocol/make-frames.js';
import { askedInFrame, type Remembered, ShownQueries } from '../../src/session/shown-queries.js';
import { type Query, QueryFinder } from '../../src/terminal/queries.js';
import { chunked, noise, program, shares } from '../support/programs.js';

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
const asking = fc
  .constantFrom('\x1b[c', '\x1b[6n', '\x1bZ', '\x1b]11;?\x07', '\x1b]4;1;?;2;?\x1b\\', '\x1bP$qm\x1b\\', '\u009b5n', '\x1b[?2004$p')
  .map(bytes);
const silent = fc.constantFrom('\x1b[31m', '\x1b]0;title', '\x1b_6n', '\x1b\\', '\x1b', '\x1b[3').map(bytes);

/** All that is found in these frames, in order, by who looks alone or by one of many. */
function foundIn(frames: readonly Frame[], remembered?: (frame: Frame) => Remembered): Query[] {
  const found: Query[] = [];
  const shown = new ShownQueries();
  for (const frame of frames) shown.read(frame, (query) => found.push(query), remembered?.(frame));
  return found;
}

/** What is asked in each frame, found once. */
function remember(frames: readonly Frame[]): (frame: Frame) => Remembered {
  const known = new Map(frames.map((frame) => [frame, { asked: askedInFrame(frame) }]));
  return (frame) => known.get(frame) as Remembered;
}

it('Queries are found by all who are shown the same frames, by who comes later as well', () => {
  const pieces = fc.array(fc.oneof({ weight: 3, arbitrary: asking }, silent, program, noise), { maxLength: 8 });
  fc.assert(
    fc.property(pieces, shares, fc.nat(4), (stream, cuts, late) => {
      const frames = chunked(new Uint8Array(Buffer.concat(stream)), cuts).map((body, i) => ({ ...entry('Output', body), sequence: i + 1 }));
      const readAll = (those: readonly Frame[]): Query[] => {
        const found: Query[] = [];
        const finder = new QueryFinder();
        for (const { body } of those) finder.read(body, (query) => found.push(query));
        return found;
      };
      const remembered = remember(frames);
      for (const those of [frames, frames.slice(late), frames]) {
        expect(foundIn(those)).toEqual(readAll(those));
        expect(foundIn(those, remembered)).toEqual(readAll(those));
      }
    }),
    { numRuns: 2000 },
  );
});

it('What is remembered of a frame does not keep its bytes', () => {
  for (const end of ['', '\x1b[c', '\x1b[3']) {
    const body = bytes(`${'x'.repeat(10_000)}${end}`);
    const { unfinished } = askedInFrame({ ...entry('Output', body), sequence: 1 });
    expect(unfinished.buffer.byteLength).toBe(end === '\x1b[3' ? end.length : 0);
  }
});
