// A line for the person in windows of any width.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { noticeRows } from '../../src/cli/notice-rows.js';
import { widthOf } from '../../src/cli/text-width.js';

const OFFLINE = { text: 'the gateway is asked for too much', tail: 'next try in 11 s; ctrl-] d detaches' };
const plain = (rows: readonly string[]) => rows.map((row) => row.slice('\x1b[7m'.length, -'\x1b[0m'.length));
const read = (rows: readonly string[]) => plain(rows).map((row) => row.trim());

it('a line has as many rows as its words need, in any window', () => {
  expect(read(noticeRows(OFFLINE, 80, 12))).toEqual([`${OFFLINE.text}; ${OFFLINE.tail}`]);
  expect(read(noticeRows(OFFLINE, 70, 12))).toEqual(['the gateway is asked for too much; next try in 11 s; ctrl-] d', 'detaches']);
  expect(read(noticeRows(OFFLINE, 40, 12))).toEqual(['the gateway is asked for too much; next', 'try in 11 s; ctrl-] d detaches']);
});

it('where there are too few rows, the text ends after a whole word, and the tail is there', () => {
  expect(read(noticeRows(OFFLINE, 66, 1))).toEqual([`the gateway is asked for…; ${OFFLINE.tail}`]);
  expect(read(noticeRows(OFFLINE, 46, 1))).toEqual([`the…; ${OFFLINE.tail}`]);
});

it('where there is no room for more, the way out is there, and whole', () => {
  for (const cols of [20, 24, 36]) expect(read(noticeRows(OFFLINE, cols, 1))).toEqual(['ctrl-] d detaches']);
});

it('all rows are as wide as the window, whatever is told', () => {
  const text = fc.string({ unit: fc.constantFrom('a', ' ', '日', 'é', '🚀', 'word ', '\t') });
  fc.assert(
    fc.property(
      text,
      fc.option(text, { nil: undefined }),
      fc.integer({ min: 2, max: 90 }),
      fc.integer({ min: 1, max: 4 }),
      (one, tail, cols, max) => {
        const rows = plain(noticeRows({ text: one, tail }, cols, max));
        expect(rows.length).toBeLessThanOrEqual(max);
        for (const row of rows) expect(widthOf(row)).toBe(cols);
      },
    ),
  );
});
