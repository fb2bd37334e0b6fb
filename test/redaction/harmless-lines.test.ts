// No line in which a token or a key begins is passed over, wherever in it, and whatever colours lie in it; lines of plain words are.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endOfHarmlessLines } from '../../src/redaction/harmless-lines.js';
import { type Shape, shapes } from '../../src/redaction/shapes.js';

const COLS = 1000;
const passed = (text: string): string => text.slice(0, endOfHarmlessLines(Buffer.from(text), 0, COLS));

const PRINTABLE = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i));
/** The shortest token of a shape; of a private key only how it begins. */
const tokenOf = ({ prefix, isBlock, body, least }: Shape): fc.Arbitrary<string> =>
  isBlock
    ? fc.constant(prefix)
    : fc
        .array(fc.constantFrom(...PRINTABLE.filter((one) => body.test(one))), { minLength: least, maxLength: least })
        .map((all) => prefix + all.join(''));
const token = fc.constantFrom(...shapes).chain(tokenOf);

const colour = fc.constantFrom('\x1b[m', '\x1b[1;31m', '\x1b[0K');
const word = fc.oneof(fc.stringMatching(/^[a-z]{1,9}$/), fc.constantFrom(' ', '  ', '\t', '=', '"', '---', '!', 'a-b_c/d.e'), colour);
const words = fc.array(word, { maxLength: 12 }).map((all) => all.join(''));
/** Now and then with a colour within. */
const coloured = fc
  .tuple(token, fc.option(fc.tuple(fc.nat(), colour)))
  .map(([text, cut]) => (cut === null ? text : text.slice(0, cut[0] % text.length) + cut[1] + text.slice(cut[0] % text.length)));

describe('Lines that are passed over', () => {
  it('are none in which something begins that is sought', () => {
    fc.assert(
      fc.property(words, coloured, words, fc.constantFrom('\r\n', '\r\r\n'), (before, secret, after, end) => {
        expect(passed(`${before}${secret}${after}${end}`)).toBe('');
      }),
      { numRuns: 5000 },
    );
  });

  it('end before the line in which it begins', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z]{1,9}( [a-z]{1,9}){0,12}$/), { maxLength: 9 }), coloured, (before, secret) => {
        const harmless = before.map((line) => `${line}\r\n`).join('');
        expect(passed(`${harmless}${secret}\r\n`)).toBe(harmless);
      }),
      { numRuns: 1000 },
    );
  });

  it('are what is mostly printed, also from files whose lines end with CR LF', () => {
    for (const line of [
      '',
      'src/session/owned-session.ts',
      '\x1b[32m+\x1b[m const answer = 42;',
      '-rw-r--r-- 1 me me 4096 Dec  1 04:48 a',
      `${'='.repeat(70)}`,
    ])
      for (const end of ['\r\n', '\r\r\n']) expect(passed(line + end)).toBe(line + end);
  });
});
