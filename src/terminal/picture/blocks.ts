// Block elements (U+2580…U+259F) as rectangles: drawn from a font, they would leave gaps. Knows no colour.
import { CELL } from './measures.js';

/** In eighths of a cell, from its top left. */
type Part = readonly [x: number, y: number, width: number, height: number];

const UPPER_LEFT: Part = [0, 0, 4, 4];
const UPPER_RIGHT: Part = [4, 0, 4, 4];
const LOWER_LEFT: Part = [0, 4, 4, 4];
const LOWER_RIGHT: Part = [4, 4, 4, 4];
const WHOLE: Part = [0, 0, 8, 8];

/** From U+2580 on. */
const parts: ReadonlyArray<readonly Part[]> = [
  [[0, 0, 8, 4]],
  ...[1, 2, 3, 4, 5, 6, 7, 8].map((n): Part[] => [[0, 8 - n, 8, n]]),
  ...[7, 6, 5, 4, 3, 2, 1].map((n): Part[] => [[0, 0, n, 8]]),
  [[4, 0, 4, 8]],
  [WHOLE],
  [WHOLE],
  [WHOLE],
  [[0, 0, 8, 1]],
  [[7, 0, 1, 8]],
  [LOWER_LEFT],
  [LOWER_RIGHT],
  [UPPER_LEFT],
  [UPPER_LEFT, LOWER_LEFT, LOWER_RIGHT],
  [UPPER_LEFT, LOWER_RIGHT],
  [UPPER_LEFT, UPPER_RIGHT, LOWER_LEFT],
  [UPPER_LEFT, UPPER_RIGHT, LOWER_RIGHT],
  [UPPER_RIGHT],
  [UPPER_RIGHT, LOWER_LEFT],
  [UPPER_RIGHT, LOWER_LEFT, LOWER_RIGHT],
];
const FIRST = 0x2580;
/** Light, medium and dark shade: so much of the colour. */
const SHADES: Readonly<Record<number, number>> = { 17: 0.25, 18: 0.5, 19: 0.75 };

export interface Block {
  /** Data of a path, in pixels. */
  readonly path: string;
  /** 0…1. */
  readonly opacity: number;
}

/** What this character is drawn as in the cell whose top left is there; undefined if it is no block. */
export function blockOf(text: string, left: number, top: number): Block | undefined {
  const place = text.length === 1 ? text.charCodeAt(0) - FIRST : -1;
  const found = parts[place];
  if (!found) return undefined;
  const [w, h] = [CELL.width / 8, CELL.height / 8];
  const path = found.map(([x, y, width, height]) => `M${left + x * w} ${top + y * h}h${width * w}v${height * h}h${-width * w}z`);
  return { path: path.join(''), opacity: SHADES[place] ?? 1 };
}
