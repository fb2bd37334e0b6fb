// The soak finds what is missing, there twice, or out of its place, wherever the output was cut. Knows no gateway.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Lines, noWrongs } from '../../bench/support/lines.js';

const LIFE = '41-7';
const numbered = (number: number) => `${LIFE}:${number}:${' '.repeat(number % 97)}.\r\n`;
const begin = (life: string) => `\r\nbegin:${life}\r\n`;
const end = (count: number) => `${LIFE}:end:${count}.\r\n`;
const shown = (...pieces: string[]): Lines => {
  const lines = new Lines();
  for (const piece of pieces) lines.take(piece);
  return lines;
};
const lines = (...numbers: number[]) => begin(LIFE) + numbers.map(numbered).join('');

it('all lines of a program are right, wherever they are cut', () => {
  const text = lines(1, 2, 3, 4, 5) + end(5);
  fc.assert(
    fc.property(fc.nat(text.length), fc.nat(text.length), (a, b) => {
      const [first, second] = a < b ? [a, b] : [b, a];
      const { wrongs, count, isComplete } = shown(text.slice(0, first), text.slice(first, second), text.slice(second));
      expect({ wrongs, count, isComplete }).toEqual({ wrongs: noWrongs(), count: 5, isComplete: true });
    }),
  );
});

it('a line that is missing is lost, in the middle and at the end', () => {
  expect(shown(lines(1, 2, 4)).wrongs).toEqual({ lost: 1, doubled: 0, outOfOrder: 0 });
  expect(shown(lines(1, 2), end(4)).wrongs).toEqual({ lost: 2, doubled: 0, outOfOrder: 0 });
});

it('a line that comes again is doubled', () => {
  expect(shown(lines(1, 2, 2, 3)).wrongs).toEqual({ lost: 0, doubled: 1, outOfOrder: 0 });
});

it('a torn line is right only as the last of a program that died', () => {
  const torn = '41-7:3:   ';
  expect(shown(lines(1, 2), torn, begin('42-8')).wrongs).toEqual(noWrongs());
  expect(shown(lines(1, 2), torn, '\r\n', numbered(3)).wrongs).toEqual({ lost: 0, doubled: 0, outOfOrder: 1 });
});

it('what is passed over where a hole was told is not lost, and what comes after it is judged again', () => {
  const passedOver = shown(lines(1, 2));
  passedOver.hole();
  passedOver.take(`7:6: .\r\n${numbered(7)}${numbered(8)}`);
  expect(passedOver.wrongs).toEqual(noWrongs());
  passedOver.take(numbered(10));
  expect(passedOver.wrongs.lost).toBe(1);
});
