// The part of a session's screen that a window has room for, as rows of bytes to be written. Knows no terminal and no client.
import { linkTo, moveTo } from '../terminal/cells.js';
import type { Cell, Emulator } from '../terminal/emulator.js';
import { plain, restyle, type Style, sameStyle, styleOf } from '../terminal/style.js';
import type { Size } from '../terminal/terminal.js';

export interface Crop {
  /** As many as the window has. Each begins in a plain pen, ends in one, and erases what was to the right of it. */
  readonly rows: readonly string[];
  /** Where the cursor is in the window, as a sequence that moves it there; empty if it is hidden. */
  readonly cursor: string;
}

const TO_END_OF_ROW = '\x1b[K';

/**
 * Follows the cursor: rows scroll no further than it takes to keep it in view, columns begin at the first again as soon as it fits. Who pans is left
 * alone until `follow`.
 */
export class Viewport {
  #top = 0;
  #left = 0;
  #isHeld = false;

  /** By so many columns and rows, as far as there are any. */
  pan({ dx, dy }: { readonly dx: number; readonly dy: number }): void {
    this.#isHeld = true;
    this.#left += dx;
    this.#top += dy;
  }

  follow(): void {
    this.#isHeld = false;
  }

  crop(emulator: Emulator, window: Size): Crop {
    const { x, y } = this.#follow(emulator, window);
    const rows = Array.from({ length: window.rows }, (_, row) => this.#row(emulator, row + this.#top, window.cols));
    const [row, column] = [y - this.#top, x - this.#left];
    const isInView = row >= 0 && row < window.rows && column >= 0 && column < window.cols;
    return { rows, cursor: isInView && !emulator.core.coreService.isCursorHidden ? moveTo(row, column) : '' };
  }

  /** A hidden cursor is wherever the program drew last, so it moves nothing. */
  #follow(emulator: Emulator, { cols, rows }: Size): { x: number; y: number } {
    const y = emulator.active.y;
    const x = Math.min(emulator.active.x, emulator.cols - 1);
    if (!this.#isHeld && !emulator.core.coreService.isCursorHidden) {
      this.#top = Math.min(Math.max(this.#top, y - rows + 1), y);
      this.#left = Math.max(0, x - cols + 1);
    }
    this.#top = Math.max(0, Math.min(this.#top, emulator.rows - rows));
    this.#left = Math.max(0, Math.min(this.#left, emulator.cols - cols));
    return { x, y };
  }

  #row(emulator: Emulator, y: number, cols: number): string {
    if (y >= emulator.rows) return TO_END_OF_ROW;
    return new RowPainter(emulator, y).paint(this.#left, cols);
  }
}

/** Writes the cells of one row from left to right. */
class RowPainter {
  readonly #emulator: Emulator;
  readonly #y: number;
  readonly #cell: Cell;
  #out = '';
  #style: Style = plain;

  constructor(emulator: Emulator, y: number) {
    this.#emulator = emulator;
    this.#y = y;
    this.#cell = emulator.cell();
  }

  paint(from: number, cols: number): string {
    const to = Math.min(from + cols, this.#emulator.cols);
    const end = this.#lastInk(from, to) + 1;
    let x = from;
    while (x < end) {
      const { text, columns } = this.#load(x, to);
      x += columns;
      this.#restyle(styleOf(this.#cell));
      // Not every terminal agrees on how wide a character is: the next one is put where it belongs.
      this.#out += text.length > 1 || columns > 1 ? `${text}\x1b[${x - from + 1}G` : text;
    }
    this.#restyle(plain);
    // A cursor that has filled the last column stands on it still.
    return x - from < cols ? this.#out + TO_END_OF_ROW : this.#out;
  }

  /** The last column that is not plainly blank; `from − 1` if all are. */
  #lastInk(from: number, to: number): number {
    let x = to - 1;
    while (x >= from && this.#isBlank(x)) x--;
    return x;
  }

  #isBlank(x: number): boolean {
    const cell = this.#line.loadCell(x, this.#cell);
    return cell.getChars() === '' && cell.getWidth() > 0 && sameStyle(styleOf(cell), plain);
  }

  /** What stands at `x`. Half of a wide character at an edge is a blank, and so is a mark that has no character below it. */
  #load(x: number, to: number): { text: string; columns: number } {
    const cell = this.#line.loadCell(x, this.#cell);
    const text = cell.getChars();
    const columns = cell.getWidth();
    const isShown = text !== '' && columns > 0 && x + columns <= to && this.#isWritable(text);
    return isShown ? { text, columns } : { text: ' ', columns: 1 };
  }

  #isWritable(text: string): boolean {
    const first = text.codePointAt(0) as number;
    return first < 0x300 || this.#emulator.core.unicodeService.wcwidth(first) > 0;
  }

  get #line() {
    return this.#emulator.line(this.#emulator.active, this.#y);
  }

  #restyle(to: Style): void {
    if (sameStyle(this.#style, to)) return;
    if (to.link !== this.#style.link) this.#out += linkTo(this.#emulator, to.link);
    this.#out += restyle(this.#style, to);
    this.#style = to;
  }
}
