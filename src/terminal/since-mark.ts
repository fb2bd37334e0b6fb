// What a program has printed since a mark, as lines of text: those that have left the screen by its top, then those on it. Knows no bytes and no message.
import type { Buffer, Emulator } from './emulator.js';
import { goesOn, linesBetween, rowAbove, rowText, startOf, textBeforeCursor } from './lines.js';
import type { MarkAt, PrintedText } from './terminal.js';

/** UTF-16 units that are kept of what has left the screen, at least; the oldest are given up. Twice as many are held at most. */
export const MAX_SETTLED = 1024 * 1024;

/**
 * Follows the normal screen from a mark on. Lines are as the screen shows them at last: overwritten, and joined where they were wrapped.
 * What leaves the screen by scrolling is settled for ever; what is erased, or scrolled by SU or DL, is gone. Erasing all of the screen moves
 * the mark to its beginning. Of the alternate screen nothing is kept.
 */
export class SinceMark {
  readonly #emulator: Emulator;
  readonly #isLate: boolean;
  /** The row in which the first line begins; 0 once it has begun to leave. */
  #row = 0;
  /** The first line up to the mark, as it was, and what stands there now of it in rows that have left. */
  #before = '';
  #replaced = '';
  /** UTF-16 units of the first line up to the mark, without those that have left. */
  #skip = 0;
  /** What has left: the last of `#total` units. It may end within a line, which goes on on the screen then. */
  #settled = '';
  #total = 0;

  constructor(emulator: Emulator, at: MarkAt) {
    this.#emulator = emulator;
    this.#isLate = at === 'late';
    const { normal } = emulator;
    if (at === 'cursor') {
      this.#row = startOf(normal, normal.y);
      this.#before = textBeforeCursor(emulator, normal);
      this.#skip = this.#before.length;
    }
    emulator.witness = {
      scrolls: (isWrapped) => this.#scrolls(isWrapped),
      erases: () => this.#restart(),
      resizes: () => this.#resizes(),
    };
  }

  /** What has left from the unit numbered `after` on, and what is on the screen. */
  tell(after: number): PrintedText {
    const dropped = this.#total - this.#settled.length;
    const from = Math.max(after, dropped);
    const { active, alternate } = this.#emulator;
    const lines = active === alternate ? { open: [], rest: [] } : this.#linesOnScreen();
    return { text: this.#settled.slice(from - dropped), from, until: this.#total, isLate: this.#isLate, ...lines };
  }

  #linesOnScreen(): Pick<PrintedText, 'open' | 'rest' | 'replaced'> {
    const { normal, rows } = this.#emulator;
    const cursor = startOf(normal, normal.y);
    const lines: string[] = [];
    let [line, skip, open, before] = ['', this.#skip, 0, this.#replaced];
    for (let y = this.#row; y < rows; y++) {
      const row = rowText(this.#emulator, normal, y);
      line += row.slice(skip);
      before += row.slice(0, skip);
      skip = Math.max(0, skip - row.length);
      if (goesOn(this.#emulator, normal, y)) continue;
      lines.push(line);
      if (y < cursor) open = lines.length;
      [line, skip] = ['', 0];
    }
    const end = Math.max(open, lines.findLastIndex((text) => text !== '') + 1);
    const isSame = before.trimEnd() === this.#before.trimEnd();
    return { open: lines.slice(0, open), rest: lines.slice(open, end), ...(!isSame && { replaced: before }) };
  }

  /** The top line of the normal screen is about to leave. */
  #scrolls(nextIsWrapped: boolean): void {
    const { normal, rows } = this.#emulator;
    if (this.#row === 0) this.#settle(normal, 0, rows > 1 ? goesOn(this.#emulator, normal, 0) : nextIsWrapped);
    else if (this.#row <= normal.scrollBottom) this.#row -= 1;
  }

  #settle(buffer: Buffer, y: number, isContinued: boolean): void {
    const row = rowText(this.#emulator, buffer, y, isContinued);
    this.#keep(row.slice(this.#skip) + (isContinued ? '' : '\n'));
    this.#replaced += row.slice(0, this.#skip);
    this.#skip = isContinued ? Math.max(0, this.#skip - row.length) : 0;
  }

  #keep(text: string): void {
    this.#total += text.length;
    this.#settled += text;
    if (this.#settled.length > 2 * MAX_SETTLED) this.#settled = newest(this.#settled, MAX_SETTLED);
  }

  /** All that is on the screen from now on is new. */
  #restart(): void {
    if (this.#settled !== '' && !this.#settled.endsWith('\n')) this.#keep('\n');
    this.#row = 0;
    [this.#before, this.#replaced, this.#skip] = ['', '', 0];
  }

  /**
   * Lines are rewrapped, and some leave: the first is found again by how many there are between it and the cursor's. Returns what is to
   * be done when the emulator has its new size, and what leaves is still above it.
   */
  #resizes(): () => void {
    const { normal } = this.#emulator;
    const between = linesBetween(normal, this.#row, normal.y);
    return () => {
      const resized = this.#emulator.normal;
      const first = rowAbove(this.#emulator, resized, resized.y, between);
      for (let y = first; y < 0; y++) this.#settle(resized, y, goesOn(this.#emulator, resized, y));
      this.#row = Math.max(0, first);
    };
  }
}

/** The last `most` UTF-16 units of a text, or one less where that would cut a character in two. */
export function newest(text: string, most: number): string {
  const kept = text.slice(-most);
  return /^[\udc00-\udfff]/.test(kept) ? kept.slice(1) : kept;
}
