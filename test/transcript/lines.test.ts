// What of a terminal's output is text: lines as a person would copy them.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Lines } from '../../src/transcript/lines.js';

function linesOf(...chunks: Array<string | Uint8Array>): string[] {
  const lines = new Lines<number>();
  const ended = chunks.flatMap((chunk, i) => lines.take(Buffer.from(chunk), i));
  return [...ended, ...lines.rest()].map(({ text }) => text);
}

describe('the lines that were printed', () => {
  it.each<[string, string, string[]]>([
    ['leave out colours and titles', '\x1b]0;a title\x07\x1b[1;31mred\x1b[0m\r\n\x1bP1$r0m\x1b\\done\r\n', ['red', 'done']],
    ['show what a carriage return left', 'loading 10%\rloading 100%\r\nok\r\n', ['loading 100%', 'ok']],
    ['show what was erased no more', 'a long line\r\x1b[Kshort\r\n', ['short']],
    ['show what was corrected', 'helo\blo\r\n', ['hello']],
    ['show what was deleted and inserted by an editor of lines', '$ abc\x1b[2D\x1b[PX\r\n', ['$ aX']],
    ['keep blanks within, and none at their end', 'a\tb   \r\n', ['a       b']],
    [
      'leave out what is shown on the alternate screen',
      'before\r\n\x1b[?1049h\x1b[Ha picture\r\n\x1b[?1049lafter\r\n',
      ['before', 'after'],
    ],
    ['end with what nothing has ended', 'one\r\n$ ', ['one', '$']],
    ['go on behind a sequence that is none', '\x1b[1\nx\x1b\x1b[mok\r\n', ['', 'xok']],
    ['go on behind a string that ESC broke off', '\x1b]0;title\x1b[1mtext\r\n', ['text']],
    ['have C1 controls in UTF-8 as well', '\x9b1mbold\x9d0;title\x9c!\r\n', ['bold!']],
  ])('%s', (_, printed, expected) => {
    expect(linesOf(printed)).toEqual(expected);
  });

  it('are the same however the output was cut, in characters and sequences too', () => {
    const piece = fc.constantFrom(
      'a',
      'é',
      '漢',
      '😀',
      ' ',
      '\r',
      '\n',
      '\b',
      '\t',
      '\x1b[K',
      '\x1b[3D',
      '\x1b[1;3',
      'm',
      '\x1b',
      '\x1b]0;t',
      '\x07',
      '\x1b\\',
      '\x9b',
      '\x1b[?1049h',
      '\x1b[?1049l',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), fc.array(fc.nat(200), { maxLength: 8 }), (pieces, at) => {
        const bytes = Buffer.from(pieces.join(''));
        const cuts = [0, ...at.map((n) => n % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const chunks = cuts.slice(1).map((to, i) => bytes.subarray(cuts[i], to));
        expect(linesOf(...chunks)).toEqual(linesOf(bytes));
      }),
      { numRuns: 500 },
    );
  });

  it('know what began them, and with what they were whole', () => {
    const lines = new Lines<string>();
    expect(lines.take(Buffer.from('on'), 'first')).toEqual([]);
    expect(lines.take(Buffer.from('e\ntwo\nthr'), 'second')).toEqual([
      { text: 'one', mark: 'first', last: 'second' },
      { text: 'two', mark: 'second', last: 'second' },
    ]);
    expect(lines.rest()).toEqual([{ text: 'thr', mark: 'second', last: 'second' }]);
  });

  it('are cut where they are too long', () => {
    expect(linesOf('x'.repeat(25_000)).map((line) => line.length)).toEqual([10_000, 10_000, 5_000]);
  });
});
