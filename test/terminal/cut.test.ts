// What a stream has not finished: repeated to a terminal that is reading text, it leaves that one where the stream left the first.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Cut, MAX_UNFINISHED } from '../../src/terminal/cut.js';
import { Emulator } from '../../src/terminal/emulator.js';
import { chunked, noise, program, shares } from '../support/programs.js';

const SIZE = { cols: 20, rows: 5 };
const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

function unfinished(...chunks: Uint8Array[]): string {
  const cut = new Cut();
  for (const chunk of chunks) cut.push(chunk);
  return Buffer.from(cut.unfinished).toString('latin1');
}

/** The emulator's own parser state after a stream; 0 is text. */
async function parserAfter(stream: Uint8Array): Promise<number> {
  const { StringDecoder } = await import('node:string_decoder');
  const emulator = new Emulator(SIZE);
  emulator.write(new StringDecoder('utf8').write(Buffer.from(stream)));
  const state = emulator.core._inputHandler._parser.currentState;
  emulator.dispose();
  return state;
}

describe('the unfinished end of a stream', () => {
  it('is nothing while text is read', () => {
    expect(unfinished(bytes('text \x1b[1;31mred\x1b[0m ✓\r\n\x1b]0;title\x07more'))).toBe('');
  });

  it.each([
    ['a control sequence', 'a\x1b[1;3', '\x1b[1;3'],
    ['an escape sequence', 'a\x1b(', '\x1b('],
    ['a title', 'a\x1b]0;tit', '\x1b]0;tit'],
    ['a string that is about to end', 'a\x1b]0;title\x1b', '\x1b'],
    ['a device control string', 'a\x1bP1$rx', '\x1bP1$rx'],
    ['an eight-bit control sequence', 'a\u009b1', '\xc2\x9b1'],
  ])('is %s', (_, stream, end) => {
    expect(unfinished(bytes(stream))).toBe(end);
  });

  it('is a character that is not whole, also inside of a title', () => {
    expect(unfinished(bytes('漢').subarray(0, 2))).toBe('\xe6\xbc');
    expect(unfinished(bytes('\x1b]0;漢').subarray(0, 6))).toBe('\x1b]0;\xe6\xbc');
  });

  it('does not repeat controls that have been run inside of a control sequence', () => {
    expect(unfinished(bytes('\x1b[1\r\n;2'))).toBe('\x1b[1;2');
  });

  it('goes on over a byte order mark, which ends nothing', () => {
    expect(unfinished(bytes('a\x1b[1\ufeff;2'))).toBe(Buffer.from('\x1b[1\ufeff;2').toString('latin1'));
  });

  it('is bounded, and a string that is too long becomes one without effect that ends as the first would have', () => {
    const cut = new Cut();
    for (let i = 0; i < 40; i++) cut.push(bytes(`${i ? '' : '\x1b]0;'}${'t'.repeat(4096)}`));
    expect(cut.unfinished.length).toBeLessThanOrEqual(MAX_UNFINISHED);
    expect(Buffer.from(cut.unfinished).toString()).toBe('\x1b]9999;');
    cut.push(bytes('\x07text'));
    expect(cut.unfinished.length).toBe(0);
  });

  it('brings the parser of a terminal to where the whole stream brings it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(program, noise), async (stream) => {
        expect(await parserAfter(Buffer.from(unfinished(stream), 'latin1'))).toBe(await parserAfter(stream));
      }),
      { numRuns: 300, examples: [[bytes('\x1b[1\r\n;3\ufeff')], [bytes('\x1bP1\ufeff$')], [bytes('\x1b(\ufeff')]] },
    );
  });

  it('does not depend on where the stream was cut into chunks', () => {
    fc.assert(
      fc.property(fc.oneof(program, noise), shares, (stream, places) => {
        expect(unfinished(...chunked(stream, places))).toBe(unfinished(stream));
      }),
      { numRuns: 500 },
    );
  });
});
