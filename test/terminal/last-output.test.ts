// The mark behind the last output, found however the stream is cut.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { makeMark, UntilMark } from '../../src/terminal/last-output.js';

const mark = Buffer.from('11211');
/** Digits like those of the mark, so that false beginnings abound. */
const likeMark = fc.array(fc.constantFrom(49, 50), { maxLength: 40 }).map((bytes) => Buffer.from(bytes));
const cuts = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 20 });

function* pieces(bytes: Buffer, lengths: readonly number[]) {
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const end = at + (lengths[i % lengths.length] ?? 1);
    yield bytes.subarray(at, end);
    at = end;
  }
}

describe('UntilMark', () => {
  it('passes on exactly what is before the mark', () => {
    fc.assert(
      fc.property(likeMark, likeMark, cuts, (before, after, lengths) => {
        const until = new UntilMark(mark);
        const stream = Buffer.concat([before, mark, after]);
        const passed = [...pieces(stream, lengths)].map((piece) => until.accept(piece));
        expect(Buffer.concat(passed).toString()).toBe(stream.toString('latin1', 0, stream.indexOf(mark)));
        expect(until.found).toBe(true);
      }),
    );
  });

  it('gives back all that it held when the mark never comes', () => {
    fc.assert(
      fc.property(
        likeMark.filter((bytes) => !bytes.includes(mark)),
        cuts,
        (stream, lengths) => {
          const until = new UntilMark(mark);
          const passed = [...pieces(stream, lengths)].map((piece) => until.accept(piece));
          expect(Buffer.concat([...passed, until.giveUp(0)]).equals(stream)).toBe(true);
        },
      ),
    );
  });

  it('drops the part of the mark that was written when no more of it found room', () => {
    const until = new UntilMark(mark);
    const passed = until.accept(Buffer.concat([Buffer.from('the end'), mark.subarray(0, 3)]));
    expect(Buffer.concat([passed, until.giveUp(3)]).toString()).toBe('the end');
  });

  it('makes marks of digits, each its own', () => {
    expect(makeMark().toString()).toMatch(/^\d{32}$/);
    expect(makeMark()).not.toEqual(makeMark());
  });
});
