// The rows of a screen as lines of text: joined where a line was wrapped. Rows above the screen are negative. Knows no mark and no message.
import type { Buffer, Emulator, Line } from './emulator.js';

export const lineAt = (buffer: Buffer, y: number): Line | undefined =>
  buffer.ybase + y < 0 ? undefined : buffer.lines.get(buffer.ybase + y);

/** The row in which the line of row `y` begins, as far as it is there. */
export function startOf(buffer: Buffer, y: number): number {
  let row = y;
  while (lineAt(buffer, row)?.isWrapped && lineAt(buffer, row - 1)) row--;
  return row;
}

/** Whether the line of row `y` goes on in the next row. */
export const goesOn = ({ rows }: Emulator, buffer: Buffer, y: number): boolean => y + 1 < rows && lineAt(buffer, y + 1)?.isWrapped === true;

/** Blanks at the end of a line are no part of it. */
export function rowText(emulator: Emulator, buffer: Buffer, y: number, isContinued = goesOn(emulator, buffer, y)): string {
  const line = lineAt(buffer, y) as Line;
  const { cols } = emulator;
  // A wide character that did not fit has left the last cell empty.
  const end = isContinued && !line.hasContent(cols - 1) ? cols - 1 : cols;
  const text = line.translateToString(!isContinued, 0, end);
  return isContinued ? text : text.trimEnd();
}

/** The line of the cursor up to it. */
export function textBeforeCursor(emulator: Emulator, buffer: Buffer): string {
  let text = '';
  for (let y = startOf(buffer, buffer.y); y < buffer.y; y++) text += rowText(emulator, buffer, y);
  return text + (lineAt(buffer, buffer.y) as Line).translateToString(false, 0, Math.min(buffer.x, emulator.cols));
}

/**
 * How many lines begin below row `from` down to row `to`; negative if `to` is above. Rewrapping leaves this as it is, and `rowAbove` finds
 * the row again.
 */
export function linesBetween(buffer: Buffer, from: number, to: number): number {
  const [upper, lower] = from <= to ? [from, to] : [to, from];
  let lines = 0;
  for (let y = upper + 1; y <= lower; y++) if (!lineAt(buffer, y)?.isWrapped) lines++;
  return from <= to ? lines : -lines;
}

/** The row in which the line begins that is so many lines above the line of row `y`, or the nearest to it that is there. */
export function rowAbove({ rows }: Emulator, buffer: Buffer, y: number, lines: number): number {
  let row = startOf(buffer, y);
  for (let n = 0; n < lines && lineAt(buffer, row - 1); n++) row = startOf(buffer, row - 1);
  for (let n = 0; n > lines && row < rows - 1; n--) {
    row++;
    while (row < rows - 1 && lineAt(buffer, row)?.isWrapped) row++;
  }
  return row;
}
