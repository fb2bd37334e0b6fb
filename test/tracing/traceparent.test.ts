import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTraceparent, writeTraceparent } from '../../src/tracing/traceparent.js';

const digits = (length: number) =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length })
    .map((all) => all.join(''))
    .filter((text) => /[^0]/.test(text));

describe('A traceparent', () => {
  it('is read as it was written', () => {
    const context = fc.record({ traceId: digits(32), spanId: digits(16), flags: fc.integer({ min: 0, max: 255 }) });
    fc.assert(fc.property(context, (given) => void expect(readTraceparent(writeTraceparent(given))).toEqual(given)));
  });

  it.each([
    ['an id of zeros', `00-${'0'.repeat(32)}-${'1'.repeat(16)}-01`],
    ['a span of zeros', `00-${'1'.repeat(32)}-${'0'.repeat(16)}-01`],
    ['version ff', `ff-${'1'.repeat(32)}-${'1'.repeat(16)}-01`],
    ['more behind version 00', `00-${'1'.repeat(32)}-${'1'.repeat(16)}-01-more`],
    ['capital letters', `00-${'A'.repeat(32)}-${'1'.repeat(16)}-01`],
    ['something else', 'mine'],
    ['no text', 7],
  ])('is not %s', (_, text) => expect(readTraceparent(text)).toBeUndefined());

  it('of a later version may have more', () => {
    expect(readTraceparent(`01-${'1'.repeat(32)}-${'2'.repeat(16)}-03-more`)).toEqual({
      traceId: '1'.repeat(32),
      spanId: '2'.repeat(16),
      flags: 3,
    });
  });
});
