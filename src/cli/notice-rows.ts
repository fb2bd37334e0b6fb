// A line for a person as rows of a window. Knows no terminal.
import type { Line } from './display.js';
import { harmless } from './table.js';
import { padded, startOf, widthOf } from './text-width.js';

/** In reverse, as wide as the window, in as many rows as it takes; where there is no room for all of it, the text gives way to the tail, and that to its last part. */
export function noticeRows({ text, tail }: Line, cols: number, maxRows: number): string[] {
  const end = tail === undefined ? '' : `; ${harmless(tail)}`;
  const rows = wrapped(harmless(text) + end, cols - 1);
  const fits = rows.length <= maxRows && rows.every((row) => widthOf(row) < cols);
  return (fits ? rows : [shortened(harmless(text), end, cols - 1)]).map((row) => `\x1b[7m${padded(startOf(` ${row}`, cols), cols)}\x1b[0m`);
}

/** After a whole word, where one fits. */
function shortened(text: string, end: string, cols: number): string {
  const room = Math.max(0, cols - widthOf(end));
  if (widthOf(text) <= room) return text + end;
  if (room < 1 && end !== '') return end.slice(end.lastIndexOf('; ') + 2);
  const start = startOf(text, Math.max(0, room - 1));
  const word = start.lastIndexOf(' ');
  return `${word > 0 && text[start.length] !== ' ' ? start.slice(0, word) : start}…${end}`;
}

/** Broken between words. */
function wrapped(text: string, cols: number): string[] {
  const rows = [''];
  for (const word of text.split(' ')) {
    const row = rows.at(-1) as string;
    const longer = row === '' ? word : `${row} ${word}`;
    if (widthOf(longer) <= cols) rows[rows.length - 1] = longer;
    else rows.push(word);
  }
  return rows;
}
