// What stands in an address, as the values that a schema expects.
import { Type } from '@sinclair/typebox';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromQuery } from '../src/query.js';

const schema = Type.Object({ count: Type.Integer(), all: Type.Boolean(), word: Type.Optional(Type.String()) });

test('every integer and truth value is read out of its text', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), fc.boolean(), (count, all) => {
      expect(fromQuery(schema, { count: String(count), all: String(all), word: String(count) })).toEqual({
        count,
        all,
        word: String(count),
      });
    }),
  );
});

test.each(['1.5', 'true', '1e3', '0x10', ' 1', '', '--1', 'five'])('%j is no integer, and stays a text', (count) => {
  expect(fromQuery(schema, { count })).toEqual({ count });
});

test.each(['1', '0', 'TRUE', 'yes', ''])('%j is no truth value, and stays a text', (all) => {
  expect(fromQuery(schema, { all, other: ['1', '2'] })).toEqual({ all, other: ['1', '2'] });
});
