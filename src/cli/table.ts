// Lines up cells in columns for a person. Knows nothing of what is in them.
import { cut, padded, widthOf } from './text-width.js';

/** A column that gives way is not made narrower than this. */
const LEAST_WIDTH = 8;
const GAP = 2;

/**
 * A header and rows as lines. Where one would be longer than `columns`, the cells of those that give way (by their place, from 0) are cut, the widest
 * first; where that is not enough, the last cell of each row has a line of its own. What could steer a terminal is taken out: the cells come from
 * programs and from other people.
 */
export function table(
  header: readonly string[],
  rows: ReadonlyArray<readonly string[]>,
  columns = Number.POSITIVE_INFINITY,
  givingWay: readonly number[] = [],
): string {
  const whole = [header, ...rows].map((cells) => cells.map(harmless));
  const widths = narrowed(widthsOf(whole), columns, givingWay);
  const lines = whole.map((cells) => cells.map((cell, at) => cut(cell, widths[at] ?? 0)));
  const wide = aligned(lines);
  if (fits(ended(wide), columns)) return ended(wide);
  const narrow = aligned(lines.map((cells) => cells.slice(0, -1)));
  return ended(narrow.flatMap((line, row) => [line, `  ${lines[row]?.at(-1) ?? ''}`]));
}

function narrowed(widths: readonly number[], columns: number, givingWay: readonly number[]): number[] {
  const narrow = [...widths];
  let over = narrow.reduce((sum, width) => sum + width + GAP, -GAP) - columns;
  for (; over > 0; over--) {
    const widest = givingWay.reduce((best, at) => ((narrow[at] ?? 0) > (narrow[best] ?? 0) ? at : best), givingWay[0] ?? -1);
    if ((narrow[widest] ?? 0) <= LEAST_WIDTH) break;
    narrow[widest] = (narrow[widest] ?? 0) - 1;
  }
  return narrow;
}

/** Whether no line of it is longer. */
export const fits = (text: string, columns = Number.POSITIVE_INFINITY): boolean =>
  text.split('\n').every((line) => widthOf(line) <= columns);

const ended = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');

function aligned(lines: ReadonlyArray<readonly string[]>): string[] {
  const widths = widthsOf(lines);
  return lines.map((cells) =>
    cells
      .map((cell, column) => padded(cell, widths[column] ?? 0))
      .join(' '.repeat(GAP))
      .trimEnd(),
  );
}

const widthsOf = (lines: ReadonlyArray<readonly string[]>): number[] =>
  (lines[0] ?? []).map((_, column) => Math.max(...lines.map((cells) => widthOf(cells[column] ?? ''))));

/** The text on one line, without what could steer a terminal. */
export function harmless(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim();
}
