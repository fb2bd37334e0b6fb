// A snapshot and the rest of the stream give the screen of one who saw everything (I3): wherever it falls, on a fresh terminal and on a dirty one.
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { MAX_MARKS } from '../../src/terminal/emulator.js';
import { Fold } from '../../src/terminal/fold.js';
import { MAX_CELLS_UNITS } from '../../src/terminal/snapshot.js';
import type { Size } from '../../src/terminal/terminal.js';
import { DIRT, difference, feed, type Look, lookOf, reference } from '../support/look.js';
import { chunked, noise, program, share } from '../support/programs.js';

// Hundreds of terminals are written to in each property, and the machine may be busy with others.
vi.setConfig({ testTimeout: 120_000 });

const SIZE: Size = { cols: 20, rows: 6 };
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

function snapshotAfter(size: Size, ...chunks: Uint8Array[]): Uint8Array {
  const fold = new Fold(size);
  chunks.forEach((chunk, i) => {
    fold.output(i + 1, chunk);
  });
  const { bytes } = fold.snapshot();
  fold.dispose();
  return bytes;
}

async function shown(size: Size, ...streams: ReadonlyArray<ReadonlyArray<Uint8Array | string>>): Promise<Look> {
  const terminal = reference(size.cols, size.rows);
  for (const stream of streams) await feed(terminal, ...stream);
  const look = lookOf(terminal);
  terminal.dispose();
  return look;
}

/** Who joined after `before` sees and will see what someone sees who was there from the beginning. */
async function expectExact(before: Uint8Array, after: Uint8Array, size: Size = SIZE): Promise<void> {
  const whole = await shown(size, [before, after]);
  const snapshot = snapshotAfter(size, before);
  expect(difference(await shown(size, [snapshot, after]), whole)).toBe('');
  expect(difference(await shown(size, [DIRT], [snapshot, after]), whole)).toBe('');
}

/** What a program does next and what shows all that a snapshot may have forgotten: positions, margins, tabs, pen, charsets, the other screen. */
const PROBE = [
  'x',
  '\u0301',
  '\x1b[2b',
  'q\tq\x1b[5b',
  '\x0eq\x0fq',
  '\r\n',
  '\x1b[I\x1b[Iy',
  '\x1b[6;1H\n\x1b[1;1H\x1bM',
  '\x1b8saved',
  '\x1b[?1049hother\x1b[?1049lback',
  '\x1b[?47h\x1b8alt\x1b[?47l',
  '\x1b[?6lz',
  '\x1b[?1J',
  '\b\b\b\b<',
  '\x1b[4l\x1b[20l\nend',
  '\vv',
];

describe('a snapshot', () => {
  it.each([
    [
      'a screen with colours and wide characters',
      '\x1b[1;31mred\x1b[0;4:3;58:5:3m under\x1b[m 漢字 \x1b[48;2;1;2;3m\x1b[K\r\n\x1b[7minverse\x1b[m',
    ],
    ['a cursor behind a full line', 'x'.repeat(20)],
    ['a full line whose last cell was erased', `${'x'.repeat(20)}\x1b[44m\x1b[2K`],
    ['a full line erased under protection', `\x1b[1"q${'x'.repeat(19)}\x1b[0"qy\x1b[?2K`],
    [
      'the alternate screen over a normal one',
      'normal\x1b[2;4r\x1b[3;3H\x1b[33m\x1b7\x1b[?1049h\x1b[H\x1b[2Jalt\x1b[2;3r\x1b[?6h\x1b[2;2Hlow',
    ],
    ['a full line in the alternate screen, and line drawing chosen behind it', `\x1b[?1049h${'x'.repeat(20)}\x1b(0`],
    ['a mark behind a full line and a sequence', `${'x'.repeat(20)}\x1b[m\u0301\u0302`],
    ['text that is struck out, in a colour of 24 bits', '\x1b[9;38;2;1;2;3mstruck'],
    ['a wide character at the edge, half of it written over with autowrap off', `\x1b[?7l${' '.repeat(18)}漢e\x1b[m`],
    ['a wrapped line at the top', `${'w'.repeat(50)}${'\r\n'.repeat(5)}`],
    ['wrapped lines in full', 'w'.repeat(119)],
    ['insert mode in the middle of a line', 'abcdef\x1b[4D\x1b[4hin'],
    ['no autowrap, at the end of a line', `\x1b[?7l${'n'.repeat(30)}`],
    ['line drawing, shifted out', '\x1b)0\x0eqqq'],
    ['a character set that only the saved cursor has', '\x1b(0\x1b7\x1b(B\x1b8q'],
    ['origin mode', '\x1b[2;5r\x1b[?6h\x1b[2;3H'],
    ['tab stops', '\x1b[3g\x1b[5G\x1bH\x1b[11G\x1bH\r\t'],
    ['mouse, paste, keypad and focus modes', '\x1b[?1002;1006;2004;1004;1;45h\x1b=\x1b[?25l\x1b[4 q'],
    ['line feeds that return', 'a\x1b[20hb\n'],
    ['a link', '\x1b]8;id=7;http://example.com\x1b\\link\x1b]8;;\x1b\\ \x1b]8;;http://b\x1b\\open'],
    ['half of a wide character', '\x1b[4mx漢y\x1b[3Gz\x1b[m'],
    ['half of a wide character at the edge', `${' '.repeat(17)}\x1b[4m漢\x1b[18G\x1b[4hz\x1b[4l`],
    ['marks without a character', '\x1b[m\u0301a\r\u0301'],
    ['protected cells', '\x1b[1"qkeep\x1b[0"qgo'],
    ['blanks with a background', '\x1b[42m\x1b[2;3H\x1b[4X\x1b[3J\x1b[5;1H\x1b[J'],
    ['a screen frozen by synchronized output', '\x1b[?2026hhalf'],
    ['the emulator’s narrowest screen', 'ab漢c', { cols: 2, rows: 3 }],
    ['one row', 'one row \x1b[1mand more than one', { cols: 12, rows: 1 }],
  ] as ReadonlyArray<[string, string, Size?]>)('is exact for %s', async (_, stream, size = SIZE) => {
    for (const next of ['', ...PROBE]) await expectExact(bytes(stream), bytes(next), size);
  });

  it('is exact at every byte of a stream', async () => {
    const stream = bytes('a漢\x1b[1;3\r1mé\x1b]0;tï\x07\x1b(0q\x1b(B\x1bP$qm\x1b\\\x1b[?1049h\x1b[2;3Hx\u009b7m.');
    for (let at = 0; at <= stream.length; at++) await expectExact(stream.subarray(0, at), stream.subarray(at));
  });

  it('is exact for any program, cut anywhere', async () => {
    await fc.assert(
      fc.asyncProperty(program, share, async (stream, place) => {
        const [before, after] = chunked(stream, [place]) as [Uint8Array, Uint8Array];
        await expectExact(before, after);
      }),
      { numRuns: 400 },
    );
  });

  it('is exact for bytes of no program at all', async () => {
    await fc.assert(
      fc.asyncProperty(noise, share, async (stream, place) => {
        const [before, after] = chunked(stream, [place]) as [Uint8Array, Uint8Array];
        await expectExact(before, after);
      }),
      { numRuns: 200 },
    );
  });

  it('holds through resizes: a fold that begins with it goes on as the one that it was taken of', () => {
    const size = fc.record({ cols: fc.integer({ min: 1, max: 30 }), rows: fc.integer({ min: 1, max: 9 }) });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(program, size), { minLength: 1, maxLength: 4 }),
        fc.array(fc.tuple(program, size), { maxLength: 3 }),
        (before, after) => {
          const whole = new Fold(SIZE);
          let sequence = 0;
          const play = (fold: Fold, steps: ReadonlyArray<[Uint8Array, Size]>): void => {
            for (const [output, to] of steps) {
              // What a program prints when its size has changed begins with a sequence: a mark would belong to a character that may be gone.
              fold.output(++sequence, new Uint8Array([...output, ...bytes('\x1b[m')]));
              fold.resize(++sequence, to);
            }
          };
          play(whole, before);
          const joined = Fold.from(whole.snapshot());
          const at = sequence;
          play(whole, after);
          sequence = at;
          play(joined, after);
          expect(joined.view()).toEqual(whole.view());
        },
      ),
      { numRuns: 300 },
    );
  });

  it('of a screen that takes more than it may leaves out links first, then looks, then marks, and never text', async () => {
    const size = { cols: 100, rows: 30 };
    const cells = size.cols * size.rows;
    const link = (i: number) => `\x1b]8;;http://${i % 2}/${'x'.repeat(2000)}\x07`;
    const colour = (i: number) => `\x1b[38;2;${i % 256};${i >> 8};0m`;
    const marks = (i: number) => String.fromCodePoint(0x300 + (i % 32)).repeat(MAX_MARKS);
    const full = (cell: (i: number) => string) => bytes(Array.from({ length: cells }, (_, i) => cell(i)).join(''));
    const text = (i: number) => 'abcdefghij'[i % 10] as string;
    const [linked, coloured] = [full((i) => link(i) + colour(i) + text(i)), full((i) => colour(i) + text(i))];
    const snapshot = snapshotAfter(size, linked);
    expect(snapshot.length).toBeLessThan(MAX_CELLS_UNITS);
    expect(difference(await shown(size, [snapshot]), await shown(size, [coloured]))).toBe('');
    const large = { cols: 400, rows: 200 };
    const letters = Array.from({ length: large.cols * large.rows }, (_, i) => text(i));
    const worst = snapshotAfter(large, bytes(letters.map((letter, i) => colour(i) + letter + marks(i)).join('')));
    expect(worst.length).toBeLessThan(MAX_CELLS_UNITS);
    const told = Fold.from({ ...large, bytes: worst, anchor: 1 })
      .view()
      .lines.join('');
    // The character before the cursor is told as it is: a mark may follow.
    expect(told.replace(/\p{M}/gu, '') === letters.join('')).toBe(true);
  });

  it('neither resets hard nor clears a scrollback', () => {
    fc.assert(
      fc.property(program, (stream) => {
        const snapshot = Buffer.from(snapshotAfter(SIZE, stream)).toString();
        expect(snapshot).not.toContain('\x1bc');
        expect(snapshot).not.toContain('\x1b[3J');
        expect(snapshot).not.toContain('\x1b[2J');
      }),
    );
  });
});

describe('a view', () => {
  it('tells lines without blanks at their end, the cursor, the title and the sequence', () => {
    const fold = new Fold({ cols: 10, rows: 3 });
    fold.output(4, bytes('\x1b]2;shell\x07ab  \r\n漢字xyz123\x1b[?25l'));
    expect(fold.view()).toEqual({
      cols: 10,
      rows: 3,
      sequence: 4,
      title: 'shell',
      cursor: { row: 1, col: 9, visible: false },
      lines: ['ab', '漢字xyz123', ''],
    });
  });
});
