// What keeps a stream from costing more than its bytes changes nothing that a program in its senses prints.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Emulator, MAX_MARKS } from '../../src/terminal/emulator.js';
import { Fold } from '../../src/terminal/fold.js';
import { Guard, MAX_STRING } from '../../src/terminal/guard.js';
import { feed, lookOf, reference } from '../support/look.js';
import { chunked, noise, program, shares } from '../support/programs.js';

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));
const passed = (...chunks: Uint8Array[]): Buffer => {
  const guard = new Guard();
  return Buffer.concat(chunks.map((chunk) => guard.pass(chunk)));
};

describe('the guard', () => {
  it('lets a stream pass unchanged', () => {
    fc.assert(
      fc.property(fc.oneof(program, noise), shares, (stream, places) => {
        expect(passed(...chunked(stream, places)).equals(stream)).toBe(true);
      }),
    );
  });

  it.each([
    ['BEL', '\x1b]0;', '\x07'],
    ['ST', '\x1b]0;', '\x1b\\'],
    ['ST', '\x1bP1q', '\x1b\\'],
    ['ST', '\x1b_', '\x1b\\'],
    ['an eight-bit ST', '\x1b]2;', '\u009c'],
    ['another sequence', '\x1b]2;', '\x1b[m'],
  ])('cancels a string that is too long and goes on after its %s', (_, begin, end) => {
    // Beyond ASCII, where the string can hold it: an APC ends there.
    const stream = bytes(`before${begin}${(begin === '\x1b_' ? 'x' : 'é').repeat(MAX_STRING)}${end}after`);
    const out = passed(stream);
    expect(out.length).toBeLessThan(MAX_STRING + 100);
    expect(out.toString()).toMatch(/^before/);
    expect(out.toString().split('\x18')[1]).toMatch(/^.{0,3}after$/s);
  });

  it('cancels it at the same place, wherever it was cut into chunks', () => {
    const stream = bytes(`a\x1b]0;${'é'.repeat(MAX_STRING)}\x1b\\b\x1bP${'x'.repeat(MAX_STRING + 9)}\x1b[1mc`);
    fc.assert(
      fc.property(shares, (places) => {
        expect(passed(...chunked(stream, places)).equals(passed(stream))).toBe(true);
      }),
      { numRuns: 30 },
    );
  });
});

describe('clamped counts', () => {
  const SIZE = { cols: 12, rows: 4 };

  it.each(['S', 'T', 'L', 'M', 'I', 'Z', 'b', '@', 'P', 'X', 'A', 'B', 'C', 'D'])(
    'do with ESC[n%s what any large n does',
    async (final) => {
      await fc.assert(
        fc.asyncProperty(fc.integer({ min: 0, max: 500 }), fc.constantFrom('漢', 'x', 'e\u0301'), async (n, last) => {
          const stream = `one\r\ntwo\x1b[2;3r\x1b[2;5H\x1b[44m${last}\x1b[${n}${final}.`;
          const [terminal, emulator] = [reference(SIZE.cols, SIZE.rows), new Emulator(SIZE)];
          await feed(terminal, stream);
          emulator.write(stream);
          const lines = Array.from({ length: SIZE.rows }, (_, y) =>
            emulator.line(emulator.active, y).translateToString(true, 0, SIZE.cols),
          );
          expect({ lines, x: emulator.active.x, y: emulator.active.y }).toEqual({
            lines: lookOf(terminal).text,
            x: terminal.buffer.active.cursorX,
            y: terminal.buffer.active.cursorY,
          });
        }),
        { numRuns: 40 },
      );
    },
  );

  it.each(['S', 'T', 'L', 'M', 'b', 'Z', 'I', '@', 'P', 'X', ' @', ' A', "'}", "'~"])('carry out ESC[2147483647%s at once', (final) => {
    const fold = new Fold({ cols: 80, rows: 24 });
    fold.output(1, bytes(`text\x1b[2147483647${final}`.repeat(100)));
    expect(fold.snapshot().anchor).toBe(1);
  });

  it('let no more than a few combining marks gather in a cell', () => {
    const fold = new Fold({ cols: 80, rows: 24 });
    fold.output(1, bytes(`e${'\u0301'.repeat(100_000)}.`));
    expect(fold.view().lines[0]).toMatch(/^e\u0301+\.$/);
    expect(fold.view().lines[0]?.length).toBeLessThanOrEqual(MAX_MARKS + 3);
  });
});
