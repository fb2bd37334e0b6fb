// What a flood pushes off the screen is left out, and nobody can tell: the screen, and all that it will become, are those of one who drew it all.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fold } from '../../src/terminal/fold.js';
import { scrolledAway } from '../../src/terminal/scrolled-away.js';
import { program } from '../support/programs.js';

const SIZES = [
  { cols: 20, rows: 4 },
  { cols: 9, rows: 6 },
  { cols: 80, rows: 1 },
];
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

const sgr = fc.constantFrom(
  '\x1b[m',
  '\x1b[0m',
  '\x1b[31m',
  '\x1b[1;44m',
  '\x1b[7m',
  '\x1b[38;5;9m',
  '\x1b[48:2::1:2:3m',
  '\x1b[4:3;58;5;2m',
);
const word = fc.oneof(fc.stringMatching(/^[a-z ]{0,30}$/), fc.constantFrom('漢字漢字', 'e\u0301', '\u0301', '🙂', '©', '\t', '─'));
const line = fc.tuple(
  fc.array(fc.oneof({ weight: 3, arbitrary: word }, sgr), { maxLength: 4 }),
  fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r'),
);
const lines = fc.array(line, { maxLength: 40 }).map((all) => all.map(([parts, end]) => parts.join('') + end).join(''));
/** Lines, now and then with anything else between them. */
const flood = fc
  .array(fc.oneof({ weight: 4, arbitrary: lines.map(bytes) }, program), { maxLength: 4 })
  .map((all) => new Uint8Array(Buffer.concat(all)));

function fold(size: { cols: number; rows: number }, pieces: readonly Uint8Array[], leavesOut: boolean): { fold: Fold; left: number } {
  const made = new Fold(size);
  let left = 0;
  for (const piece of pieces) {
    const out = leavesOut ? made.leaveOut(piece).left : 0;
    made.piece(piece.subarray(out));
    left += out;
  }
  return { fold: made, left };
}

const look = (made: Fold) => ({ view: made.view(), snapshot: Buffer.from(made.snapshot().bytes).toString() });

describe('a flood of lines', () => {
  it('leaves the screen as if all of it had been drawn, whatever was there before, and whatever comes after', () => {
    let left = 0;
    fc.assert(
      fc.property(fc.constantFrom(...SIZES), program, flood, program, fc.constantFrom(...SIZES), (size, before, text, after, resized) => {
        const pieces = [before, text];
        const [whole, short] = [fold(size, pieces, false), fold(size, pieces, true)];
        left += short.left;
        expect(look(short.fold)).toEqual(look(whole.fold));
        for (const made of [whole.fold, short.fold]) {
          made.resize(1, resized);
          made.piece(after);
        }
        expect(look(short.fold)).toEqual(look(whole.fold));
      }),
      { numRuns: 200 },
    );
    expect(left).toBeGreaterThan(1000);
  });

  it('is nearly all left out', () => {
    const text = bytes('0123456789\r\n'.repeat(1000));
    expect(scrolledAway(text, 24)).toEqual({ end: 976 * 12, pen: Buffer.alloc(0), searched: text.length });
  });

  it('is not left out where the cursor may not be in the last row, or nothing would push it away', () => {
    expect(scrolledAway(bytes('a\r\n'.repeat(48)), 24).end).toBe(0);
  });

  it('ends where a byte may do anything but print a line', () => {
    for (const other of ['\x1b[A', '\x1b]0;t\x07', '\x1b7', '\x0e', '\b', '\u0085', '\x1b[?7l', '\x1b[1', '\x1b'])
      expect(scrolledAway(bytes(`x${other}${'a\r\n'.repeat(100)}`), 10)).toMatchObject({ end: 0, searched: 2 });
  });

  it('keeps the colours that are in force, and none that were undone', () => {
    const text = bytes(`\x1b[31m\x1b[0m\x1b[1m\x1b[44m${'a\r\n'.repeat(20)}`);
    expect(Buffer.from(scrolledAway(text, 3).pen).toString()).toBe('\x1b[0m\x1b[1m\x1b[44m');
  });
});

describe('all of it is drawn', () => {
  const text = bytes('a\r\n'.repeat(100));

  it('while what is printed is followed', () => {
    const made = new Fold({ cols: 20, rows: 4 });
    made.mark('cursor');
    expect(made.leaveOut(text).left).toBe(0);
  });

  it('where a part of the screen scrolls alone, or in the middle of a sequence', () => {
    for (const before of ['\x1b[2;3r', '\x1b]0;', '\x1b[3', '\xe2\x94'.slice(0, 1)]) {
      const made = new Fold({ cols: 20, rows: 4 });
      made.piece(new Uint8Array(Buffer.from(before, 'latin1')));
      expect(made.leaveOut(text).left).toBe(0);
    }
  });
});
