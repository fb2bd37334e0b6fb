import { Type } from '@sinclair/typebox';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checker, expected, shown } from '../../src/protocol/check.js';

describe('what a schema asks for', () => {
  it.each([
    [Type.Integer(), 'an integer'],
    [Type.Integer({ minimum: 1 }), 'an integer from 1 on'],
    [Type.Integer({ maximum: 9 }), 'an integer up to 9'],
    [Type.Integer({ minimum: 1, maximum: 9 }), 'an integer from 1 to 9'],
    [Type.String(), 'a string'],
    [Type.String({ minLength: 1 }), 'a string of at least 1 characters'],
    [Type.String({ maxLength: 9 }), 'a string of 0 to 9 characters'],
    [Type.String({ pattern: '^a$', title: 'the letter a' }), 'the letter a'],
    [Type.Array(Type.Null()), 'an array'],
    [Type.Array(Type.Null(), { minItems: 1 }), 'an array of at least 1 items'],
    [Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]), 'an integer from 1 on or null'],
    [Type.Union([Type.Literal('a'), Type.Literal('b'), Type.Literal('c')]), 'one of "a", "b", "c"'],
    [Type.Record(Type.String(), Type.String()), 'an object'],
    [Type.Boolean(), 'a boolean'],
  ])('%# is said in words: %s', (schema, words) => {
    expect(expected(schema)).toBe(words);
  });
});

describe('what is wrong with a value', () => {
  const check = checker(Type.Object({ n: Type.Integer(), text: Type.String({ maxLength: 3 }) }, { additionalProperties: false }), 'body');

  it('has its place, in the words of this time or the usual ones', () => {
    expect(check({ n: 'x', text: '' })).toBe('body.n: expected an integer, got "x"');
    expect(check({ n: 'x', text: '' }, 'here')).toBe('here.n: expected an integer, got "x"');
    expect(check({ n: 1 })).toBe('body.text: expected a string of 0 to 3 characters, got nothing');
    expect(check({ n: 1, text: '', 'a/~b': 1 })).toBe('body.a/~b is unknown here');
  });

  it('is never shown where it may be a secret, and never at length', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 4, maxLength: 50 }), (text) => {
        expect(check({ n: 1, text })).toBe(`body.text: expected a string of 0 to 3 characters, got a string of ${text.length} characters`);
      }),
    );
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(shown(value).length).toBeLessThan(64);
      }),
    );
  });
});
