import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Redactor } from '../../src/redaction/redactor.js';
import { type Shape, shapes } from '../../src/redaction/shapes.js';
import { seek } from '../../src/redaction/sought.js';

const sought = seek([]);

function shown(text: string): string {
  const pieces: Uint8Array[] = [];
  const redactor = new Redactor(sought, [], 80, (bytes) => pieces.push(bytes));
  redactor.push(Buffer.from(text));
  redactor.settle();
  return Buffer.concat(pieces).toString();
}

const ascii = Array.from({ length: 95 }, (_, i) => String.fromCharCode(i + 0x20));
/** Bodies of a shape that hold the beginning of no other. */
const bodyOf = ({ body }: Shape, length: number) =>
  fc.string({ unit: fc.constantFrom(...ascii.filter((c) => body.test(c))), minLength: length, maxLength: length });

const tokens = shapes.filter(({ isBlock }) => !isBlock);

describe('The shape of a token', () => {
  it.each(tokens.map((shape) => [`${shape.id}, ${shape.prefix}`, shape] as const))('is found: %s', (_name, shape) => {
    fc.assert(
      fc.property(bodyOf(shape, shape.least), fc.constantFrom('', ' ', '"', "='", '\n', '\x1b[1m'), (body, before) => {
        const text = `${before}${shape.prefix}${body}`;
        expect(shown(`${text} next`)).toBe(`${before}${shape.prefix}${'*'.repeat(body.length)} next`);
      }),
      { numRuns: 10 },
    );
  });

  it('is not found in what is shorter, in a longer word, or across the end of a line that is not full', () => {
    const body = 'a1B2'.repeat(9);
    for (const text of [`ghp_${body.slice(1)} `, `xghp_${body} `, `ghp_${body.slice(4)}\r\n${body}`, `gh\r\np_${body}`])
      expect(shown(text)).toBe(text);
  });

  it('goes on to the end of the token, however long that is', () => {
    expect(shown(`ghp_${'a1B2'.repeat(500)}.`)).toBe(`ghp_${'*'.repeat(2000)}.`);
  });
});

describe('A private key', () => {
  const body = ['MIIEpAIBAAKCAQEA7bq98F1', 'Xz+/Ab0==', 'DEK-Info: AES-128-CBC,ABCDEF'];
  const marks = body.map((line) => '*'.repeat(line.length));
  const blocks = shapes.filter(({ isBlock }) => isBlock).map(({ prefix }) => prefix);

  it.each(blocks)('is concealed from the line that begins it to the line that ends it: %s', (begin) => {
    const end = begin.replace('BEGIN', 'END');
    const wanted = [begin, ...marks, `********${end.slice(8)}`, '$ echo next'].join('\r\n');
    expect(shown([begin, ...body, end, '$ echo next'].join('\r\n'))).toBe(wanted);
  });

  it('is concealed in one line of JSON', () => {
    expect(shown(`{"key": "${blocks[0]}\\n${body[0]}\\n-----END PRIVATE KEY-----\\n", "x": 1}`)).toBe(
      `{"key": "${blocks[0]}**${marks[0]}**${'*'.repeat(8)} PRIVATE KEY-----\\n", "x": 1}`,
    );
  });

  it('that has no end conceals nothing after what cannot be part of it', () => {
    const text = `grep "${blocks[1]}" *.pem; echo`;
    expect(shown(text)).toBe(text);
  });
});
