// What was printed since a mark: the same as a terminal with an endless scrollback has it, wherever the stream was cut.
import headless from '@xterm/headless';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fold } from '../../src/terminal/fold.js';
import { MAX_SETTLED, newest } from '../../src/terminal/since-mark.js';
import type { PrintedText } from '../../src/terminal/terminal.js';
import { program as anything, chunked, shares } from '../support/programs.js';

const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const joined = (complete: readonly string[], rest: readonly string[]) => complete.map((line) => `${line}\n`).join('') + rest.join('\n');
const wholeOf = ({ text, open, rest }: PrintedText) => text + joined(open, rest);

function folded(size: { cols: number; rows: number }, ...chunks: readonly string[]): Fold {
  const fold = new Fold(size);
  for (const [i, chunk] of chunks.entries()) fold.output(i + 1, bytes(chunk));
  return fold;
}

function printedBy(fold: Fold): PrintedText {
  const { printed } = fold.look(0);
  if (!printed) throw new Error('there is no mark');
  return printed;
}

/** After `before` has been printed and a mark set. */
function since(before: string, after: string, size = { cols: 20, rows: 5 }): PrintedText {
  const fold = folded(size, before);
  fold.mark('cursor');
  fold.output(2, bytes(after));
  return printedBy(fold);
}

describe('What was printed since a mark', () => {
  it.each([
    ['is told without its attributes', '\x1b[31mred\x1b[0m\r\n$ ', 'red\n$'],
    ['is as the screen shows it when it was overwritten', '10%\r50%\r100%\r\ndone\b\b\b\bDONE', '100%\nDONE'],
    ['is not what was erased', 'gone\r\x1b[Kstays', 'stays'],
    ['has lines that were wrapped as one', `${'x'.repeat(50)}\r\n-`, `${'x'.repeat(50)}\n-`],
    ['has wide characters that did not fit in one line', `${'x'.repeat(19)}漢字\r\n-`, `${'x'.repeat(19)}漢字\n-`],
    ['has what scrolled away', Array.from({ length: 12 }, (_, i) => i).join('\r\n'), Array.from({ length: 12 }, (_, i) => i).join('\n')],
    ['has blank lines', 'a\r\n\r\n\r\nb', 'a\n\n\nb'],
    ['begins anew where all was erased', 'old\r\n\x1b[H\x1b[2Jnew', 'new'],
  ])('%s', (_, after, text) => {
    expect(wholeOf(since('$ cmd\r\n', after))).toBe(text);
  });

  it('begins where the cursor stood, in the middle of a line that may be wrapped', () => {
    expect(wholeOf(since('before\r\n$ ', 'after'))).toBe('after');
    expect(wholeOf(since(`${'p'.repeat(30)}>`, 'after\r\nnext'))).toBe('after\nnext');
    expect(wholeOf(since(`${'p'.repeat(30)}>`, `after${'\r\nnext'.repeat(9)}`))).toBe(`after${'\nnext'.repeat(9)}`);
  });

  it('tells what stands before the mark in its line, if that has changed', () => {
    expect(since('abc$ ', 'echo\x1b[3Gecho\r\nout')).toMatchObject({ replaced: 'abech', open: ['ocho'], rest: ['out'] });
    expect(since('abc$ ', '\x1b[2Gb\r\nout').replaced).toBeUndefined();
    expect(since('abc$ ', '\r\x1b[Kx\r\nout')).toMatchObject({ replaced: 'x', open: [''] });
    expect(since(`${'p'.repeat(30)}>`, `\r!${'\r\nnext'.repeat(9)}`).replaced).toBe(`${'p'.repeat(20)}!${'p'.repeat(9)}>`);
    expect(since('abc$ ', '\x1b[H\x1b[2Jnew').replaced).toBeUndefined();
  });

  it('tells which lines are above the cursor, and so complete', () => {
    const { open, rest } = since('$ ', 'ls\r\none\r\ntwo\r\n$ ');
    expect([open, rest]).toEqual([['ls', 'one', 'two'], ['$']]);
  });

  it('is told from where somebody has it', () => {
    const fold = folded({ cols: 20, rows: 2 }, '');
    fold.mark('cursor');
    fold.output(2, bytes('1\r\n2\r\n3\r\n'));
    expect(fold.look(0).printed).toMatchObject({ text: '1\n2\n', from: 0, until: 4, open: ['3'] });
    fold.output(3, bytes('4\r\n'));
    expect(fold.look(4).printed).toMatchObject({ text: '3\n', from: 4, until: 6, open: ['4'] });
  });

  it('is nothing on the alternate screen, and goes on behind it', () => {
    expect(since('$ ', 'vim\r\n\x1b[?1049h\x1b[HFULL')).toMatchObject({ text: '', open: [], rest: [] });
    expect(wholeOf(since('$ ', `vim\r\n\x1b[?1049h${'\r\nx'.repeat(30)}\x1b[?1049lback`))).toBe('vim\nback');
  });

  it('survives that lines are rewrapped', () => {
    const text = Array.from({ length: 9 }, (_, i) => `${i}${'abcdefghij'.repeat(i % 3)}`);
    const fold = folded({ cols: 40, rows: 8 }, 'before\r\n$ ');
    fold.mark('cursor');
    // The line of the cursor is not rewrapped: programs draw it again.
    fold.output(2, bytes(`${text.join('\r\n')}\r\n`));
    for (const size of [
      { cols: 7, rows: 8 },
      { cols: 60, rows: 3 },
      { cols: 12, rows: 12 },
    ]) {
      fold.resize(3, size);
      expect(wholeOf(printedBy(fold))).toBe(`${text.join('\n')}\n`);
    }
    fold.output(4, bytes('end'));
    expect(wholeOf(printedBy(fold))).toBe(`${text.join('\n')}\nend`);
  });

  it('is bounded: the newest is kept, and it is told what is missing', () => {
    const fold = folded({ cols: 20, rows: 5 }, '');
    fold.mark('cursor');
    const line = `${'y'.repeat(19)}\r\n`;
    for (let i = 0; i < 120; i++) fold.output(i + 1, bytes(line.repeat(1000)));
    const { text, from, until } = printedBy(fold);
    expect(until).toBe(20 * (120_000 - 4));
    expect(from + text.length).toBe(until);
    expect(text.length).toBeGreaterThanOrEqual(MAX_SETTLED);
    expect(text.length).toBeLessThanOrEqual(2 * MAX_SETTLED);
  });

  it('never begins with half a character', () => {
    expect(newest('a😀b', 2)).toBe('b');
    expect(newest('a😀b', 3)).toBe('😀b');
  });

  it('is what a terminal with a scrollback has', async () => {
    const piece = fc.oneof(
      { weight: 6, arbitrary: fc.stringMatching(/^[a-z0-9 ]{1,30}$/) },
      fc.constantFrom('漢字', 'e\u0301', '🙂', '\t', '\b', '\r', '\x1b[K', '\x1b[A', '\x1b[2C', '\x1b[7m', '\x1b[m', '\x1b[1P', '\x1b[2@'),
      { weight: 4, arbitrary: fc.constantFrom('\r\n', '\n') },
    );
    const program = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''));
    await fc.assert(
      fc.asyncProperty(
        program,
        program,
        fc.integer({ min: 4, max: 30 }),
        fc.integer({ min: 1, max: 6 }),
        async (before, after, cols, rows) => {
          expect(wholeOf(since(before, after, { cols, rows }))).toBe(await withScrollback(before, after, { cols, rows }));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('does not depend on where the stream was cut', () => {
    fc.assert(
      fc.property(anything, anything, shares, (before, after, at) => {
        const [whole, cut] = [new Fold({ cols: 20, rows: 6 }), new Fold({ cols: 20, rows: 6 })];
        for (const fold of [whole, cut]) {
          fold.output(1, before);
          fold.mark('cursor');
        }
        whole.output(2, after);
        for (const chunk of chunked(after, at)) {
          cut.look(0);
          cut.output(2, chunk);
        }
        expect(cut.look(0)).toEqual(whole.look(0));
      }),
      { numRuns: 300 },
    );
  });
});

/** The same by other means: all lines of a terminal that forgets none. */
async function withScrollback(before: string, after: string, size: { cols: number; rows: number }): Promise<string> {
  const terminal = new headless.Terminal({ ...size, scrollback: 10_000, allowProposedApi: true });
  const write = (text: string) => new Promise<void>((resolve) => terminal.write(text, resolve));
  const { normal } = terminal.buffer;
  const isWrapped = (y: number) => normal.getLine(y)?.isWrapped === true;
  const row = (y: number, to: number) => normal.getLine(y)?.translateToString(false, 0, to) ?? '';
  const fullRow = (y: number) => {
    const last = normal.getLine(y)?.getCell(size.cols - 1);
    if (!isWrapped(y + 1)) return row(y, size.cols).trimEnd();
    return row(y, last?.getChars() === '' && last.getWidth() === 1 ? size.cols - 1 : size.cols);
  };
  await write(before);
  const cursorRow = normal.baseY + normal.cursorY;
  let first = cursorRow;
  while (first > normal.baseY && isWrapped(first)) first--;
  let skip = 0;
  for (let y = first; y < cursorRow; y++) skip += fullRow(y).length;
  skip += row(cursorRow, normal.cursorX).length;
  await write(after);
  const lines: string[] = [];
  for (let y = first; y < normal.length; y++) {
    if (y === first || !isWrapped(y)) lines.push('');
    lines[lines.length - 1] += fullRow(y).slice(skip);
    skip = y + 1 < normal.length && isWrapped(y + 1) ? Math.max(0, skip - fullRow(y).length) : 0;
  }
  const cursor = normal.baseY + normal.cursorY;
  const complete = Array.from({ length: Math.max(0, cursor - first) }, (_, i) => first + 1 + i).filter((y) => !isWrapped(y)).length;
  terminal.dispose();
  const end = lines.findLastIndex((line) => line !== '') + 1;
  return joined(lines.slice(0, complete), lines.slice(complete, Math.max(end, complete)));
}
