// A line for a person as rows of a window. Knows no terminal.
import type { Line } from './display.js';
import { harmless } from './table.js';

/** Narrower windows show it in several rows. */
const WIDE_COLS = 60;

/** In reverse, as wide as the window; where there is no room for all of it, the text gives way to the tail. */
export function noticeRows({ text, tail }: Line, cols: number, maxRows: number): string[] {
  const end = tail === undefined ? '' : `; ${tail}`;
  const whole = harmless(text) + end;
  const rows = cols < WIDE_COLS ? wrapped(whole, cols - 1) : [whole];
  const fits = rows.length <= maxRows && rows.every((row) => row.length < cols);
  return (fits ? rows : [shortened(harmless(text), end, cols - 1)]).map((row) => `\x1b[7m${` ${row}`.slice(0, cols).padEnd(cols)}\x1b[0m`);
}

function shortened(text: string, end: string, cols: number): string {
  const room = Math.max(0, cols - end.length);
  return (text.length <= room ? text : `${text.slice(0, Math.max(0, room - 1))}…`) + end;
}

/** Broken between words. */
function wrapped(text: string, cols: number): string[] {
  const rows = [''];
  for (const word of text.split(' ')) {
    const row = rows.at(-1) as string;
    const longer = row === '' ? word : `${row} ${word}`;
    if (longer.length <= cols) rows[rows.length - 1] = longer;
    else rows.push(word);
  }
  return rows;
}
