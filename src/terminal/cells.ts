// The cells of one screen as bytes: wrap marks, then rows. Assumes a screen that was just erased, no margins, and a plain pen. Knows no modes.
import type { Buffer, Cell, Emulator, Line } from './emulator.js';
import { erased, hasInk, plain, restyle, type Style, sameStyle, styleOf } from './style.js';

/** Both zero-based. */
export const moveTo = (y: number, x: number): string => `\x1b[${y + 1};${x + 1}H`;
/** Any wide character does; it is written over at once. */
const WIDE = '\u3000';

/** How much of the cells is told: what is left out, and in which order, when a snapshot would be too large. */
export const DETAILS = ['all', 'no links', 'no looks', 'no marks'] as const;

/** The paper for the cells of all screens. */
export interface Paper {
  readonly detail: (typeof DETAILS)[number];
  /** UTF-16 units that are left; below zero it was not enough, and what was written is of no use. */
  left: number;
}

/** All cells of a screen. Leaves the pen as it found it, plain and without a link. Without any more detail to leave out, it is as large as it must be. */
export function cellsOf(emulator: Emulator, buffer: Buffer, paper: Paper): string {
  const painter = new Painter(emulator, paper);
  const wrapped = Array.from({ length: emulator.rows }, (_, y) => emulator.line(buffer, y).isWrapped);
  const marks = wrapMarks(wrapped, emulator.cols);
  for (let y = 0; y < emulator.rows && (paper.left >= 0 || paper.detail === DETAILS.at(-1)); y++) {
    // A wrap mark leaves a blank at the end of the row before and at the beginning of its own.
    painter.row(emulator.line(buffer, y), y, { first: wrapped[y] === true, last: wrapped[y + 1] === true });
  }
  return marks + painter.done();
}

/**
 * A row is marked as the continuation of the one above by really writing past the end of that one. The topmost row has none above: it
 * is marked one row further down, and then the row above it is deleted. (The only row of a screen is marked by scrolling.)
 */
function wrapMarks(wrapped: readonly boolean[], cols: number): string {
  const mark = (y: number): string => `${moveTo(y - 1, cols - 1)}  `;
  const top = wrapped.length > 1 ? `${mark(1)}\x1b[H\x1b[M\x1b[X` : mark(1);
  return (wrapped[0] ? top : '') + wrapped.map((is, y) => (is && y > 0 ? mark(y) : '')).join('');
}

/** Writes rows from left to right, moving and restyling only where it must. */
class Painter {
  readonly #emulator: Emulator;
  readonly #cell: Cell;
  readonly #paper: Paper;
  readonly #out: string[] = [];
  #style: Style = plain;
  #y = 0;
  /** Where the cursor stands in this row; −1 if a move is needed. */
  #x = -1;
  /** Cells that are not blank although nothing was put there yet. */
  #dirty = new Set<number>();

  constructor(emulator: Emulator, paper: Paper) {
    this.#emulator = emulator;
    this.#paper = paper;
    this.#cell = emulator.cell();
  }

  row(line: Line, y: number, stained: { readonly first: boolean; readonly last: boolean }): void {
    const cols = this.#emulator.cols;
    this.#y = y;
    this.#x = -1;
    this.#dirty = new Set([...(stained.first ? [0] : []), ...(stained.last ? [cols - 1] : [])]);
    const end = this.#lastHusk(line) ? cols - 1 : cols;
    for (let x = 0; x < end; ) x += this.#paint(line, x, end);
  }

  done(): string {
    this.#restyle(plain);
    return this.#out.join('');
  }

  /** Paints what stands at `x`, and returns how many columns that was. */
  #paint(line: Line, x: number, end: number): number {
    const cell = line.loadCell(x, this.#cell);
    const chars = this.#charsOf(cell);
    if (!chars) return this.#isHusk(cell) && x < this.#emulator.cols - 1 ? this.#husk(x) : this.#blanks(line, x, end);
    const width = cell.getWidth();
    if (width === 2 && x + 2 > this.#emulator.cols) return this.#blanks(line, x, x + 1);
    const standsAlone = this.#isMark(chars);
    if (width > 0 && standsAlone) return this.#loneMark(x, chars);
    this.#restyle(this.#look(cell));
    // A mark after a character would join it; after a sequence it does not.
    if (this.#x !== x || standsAlone) this.#put(moveTo(this.#y, x));
    this.#put(chars);
    this.#dirty.delete(x);
    const columns = Math.max(1, width);
    this.#x = x + columns;
    if (columns === 2) this.#rightHalf(line, x + 1);
    return columns;
  }

  /** What is written with autowrap off over the right half of a character at the edge leaves its left half as it is. */
  #rightHalf(line: Line, x: number): void {
    const over = line.loadCell(x, this.#cell);
    if (over.getWidth() === 0 || !over.getChars() || x !== this.#emulator.cols - 1) return;
    this.#restyle(this.#look(over));
    this.#put('\x1b[?7l', this.#charsOf(over), '\x1b[?7h');
    this.#dirty.delete(x);
    this.#x = -1;
  }

  /** A run of erased cells with one background. ECH leaves the cursor where it is. */
  #blanks(line: Line, x: number, end: number): number {
    const bg = this.#back(line.loadCell(x, this.#cell));
    let to = x + 1;
    while (to < end && this.#sameBlank(line, to, bg)) to++;
    if (bg.bg === 0 && !this.#dirtyWithin(x, to)) return to - x;
    this.#restyle(bg);
    if (this.#x !== x) this.#put(moveTo(this.#y, x));
    this.#put(`\x1b[${to - x}X`);
    this.#x = x;
    return to - x;
  }

  #sameBlank(line: Line, x: number, bg: Style): boolean {
    const cell = line.loadCell(x, this.#cell);
    return !cell.getChars() && !this.#isHusk(cell) && sameStyle(this.#back(cell), bg);
  }

  #dirtyWithin(from: number, to: number): boolean {
    for (const x of this.#dirty) if (x >= from && x < to) return true;
    return false;
  }

  /** An empty cell that is inverse or lined: what is left of a wide character whose other half was written over. */
  #isHusk(cell: Cell): boolean {
    return cell.getWidth() > 0 && hasInk(this.#look(cell));
  }

  #husk(x: number): number {
    this.#restyle(this.#look(this.#cell));
    this.#put(moveTo(this.#y, x), WIDE, moveTo(this.#y, x + 1), ' ');
    this.#dirty.delete(x);
    this.#dirty.add(x + 1);
    this.#x = -1;
    return 1;
  }

  /** In the last column there is no other half: there it is what is left of a wide character that was pushed over the edge. */
  #lastHusk(line: Line): boolean {
    const x = this.#emulator.cols - 1;
    const cell = line.loadCell(x, this.#cell);
    if (cell.getChars() || !this.#isHusk(cell)) return false;
    this.#restyle(this.#look(cell));
    this.#put(moveTo(this.#y, x - 1), WIDE, '\x1b[4h', moveTo(this.#y, x - 1), ' ', '\x1b[4l');
    this.#dirty.add(x - 1);
    return true;
  }

  #put(...pieces: string[]): void {
    this.#out.push(...pieces);
    for (const piece of pieces) this.#paper.left -= piece.length;
  }

  #charsOf(cell: Cell): string {
    const chars = cell.getChars();
    return this.#paper.detail === 'no marks' && chars ? String.fromCodePoint(chars.codePointAt(0) as number) : chars;
  }

  #look(cell: Cell): Style {
    const { detail } = this.#paper;
    if (detail === 'all') return styleOf(cell);
    return detail === 'no links' ? { ...styleOf(cell), link: 0 } : plain;
  }

  #back(cell: Cell): Style {
    const { detail } = this.#paper;
    return detail === 'all' || detail === 'no links' ? erased(cell.bg) : plain;
  }

  #isMark(chars: string): boolean {
    const code = chars.codePointAt(0) as number;
    return code >= 0x300 && this.#emulator.core.unicodeService.wcwidth(code) === 0;
  }

  /** A combining mark with no character below it: it came after one that is elsewhere by now. */
  #loneMark(x: number, chars: string): number {
    const next = x + 1 < this.#emulator.cols ? x + 1 : x;
    this.#restyle(this.#look(this.#cell));
    if (x === 0) this.#put(moveTo(this.#y, 0), ' \b', chars);
    else this.#put(moveTo(this.#y, x), '\x1b[X', moveTo(this.#y, next), ' \b', chars);
    this.#dirty.delete(x);
    if (x > 0 && next !== x) this.#dirty.add(next);
    this.#x = -1;
    return 1;
  }

  #restyle(to: Style): void {
    if (sameStyle(this.#style, to)) return;
    if (to.link !== this.#style.link) this.#put(linkTo(this.#emulator, to.link));
    this.#put(restyle(this.#style, to));
    this.#style = to;
  }
}

/** Opens a link, or for 0 closes the open one. */
export function linkTo(emulator: Emulator, key: number): string {
  const link = emulator.link(key);
  if (!link) return '\x1b]8;;\x1b\\';
  return `\x1b]8;${link.id && `id=${link.id}`};${link.uri}\x1b\\`;
}
