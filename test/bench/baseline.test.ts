// When a value that was measured again counts as another one, and how values of several rounds are told.
import { describe, expect, it } from 'vitest';
import { spreadOf } from '../../bench/support/asking.js';
import { differs } from '../../bench/support/baseline.js';
import { short } from '../../bench/support/figures.js';
import { picture } from '../../bench/support/picture.js';
import { type Budget, type Round, ratio } from '../../bench/support/question.js';

const round = (own: number, other?: number): Round =>
  new Map([['own', { rate: own }], ...(other === undefined ? [] : [['other', { rate: other }] as const])]);

describe('a value beside its baseline', () => {
  const then = spreadOf([10, 11, 12]);

  it('differs when no round is like any round before, and the medians are more than a tenth apart', () => {
    expect(differs(then, spreadOf([13, 14, 15]))).toBe(true);
    expect(differs(then, spreadOf([7, 8, 9]))).toBe(true);
  });

  it('is the same when one round is like one before, however far the others are', () => {
    expect(differs(then, spreadOf([12, 20, 30]))).toBe(false);
  });

  it('is the same when the medians are close, however steady the rounds were', () => {
    expect(differs(spreadOf([10, 10, 10]), spreadOf([10.5, 10.5, 10.5]))).toBe(false);
  });
});

describe('a ratio', () => {
  it('is taken within a round', () => {
    expect(ratio('rate', 'own', 'other')(round(6, 3))).toBe(2);
  });

  it('is not there where one of the two did not run', () => {
    expect(ratio('rate', 'own', 'other')(round(6))).toBeUndefined();
  });
});

describe('the picture', () => {
  const budget: Budget = { path: 'bulk', unit: '× ttyd', must: { atLeast: 1 }, aim: { atLeast: 2 }, of: () => 1 };
  const colours = (value: number) => picture([{ budget, spread: spreadOf([value]) }]).match(/#1a7f37|#9a6700|#cf222e/)?.[0];

  it('tells by its colour whether a value is as aimed at, as it must be, or neither', () => {
    expect([3, 1.5, 0.5].map(colours)).toEqual(['#1a7f37', '#9a6700', '#cf222e']);
  });

  it('leaves out what has no budget', () => {
    expect(picture([{ budget: { path: 'p', unit: 'ms', of: () => 1 }, spread: spreadOf([1]) }])).not.toContain('<rect x=');
  });
});

it('tells three figures of any number', () => {
  expect([0.12345, 12.345, 1234.5].map(short)).toEqual(['0.123', '12.3', '1235']);
});
