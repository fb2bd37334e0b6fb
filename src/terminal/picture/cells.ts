// A row of the screen as what is to be drawn: which text stands where, in which colours, under which lines. Knows no SVG.
import type { Emulator, Line } from '../emulator.js';
import { type Face, faceOf, styleOf } from '../style.js';
import type { Colors } from './theme.js';

/** What a cell is drawn with. Two cells of one look can be drawn in one piece. */
export interface Ink {
  readonly fill: string;
  /** Undefined: the ground of the whole picture. */
  readonly ground: string | undefined;
  readonly bold: boolean;
  readonly italic: boolean;
  readonly dim: boolean;
  readonly strike: boolean;
  readonly overline: boolean;
  /** As `Face.underline`. */
  readonly underline: number;
  readonly underlineFill: string;
}

/** One character, with its combining marks, on one or two columns. */
export interface DrawnCell {
  readonly x: number;
  readonly columns: number;
  /** A blank for nothing. */
  readonly text: string;
  readonly ink: Ink;
}

export function* cellsOf(emulator: Emulator, line: Line, colors: Colors): Generator<DrawnCell> {
  const inkOf = inks(colors);
  const cell = emulator.cell();
  for (let x = 0; x < emulator.cols; ) {
    line.loadCell(x, cell);
    const columns = Math.max(1, Math.min(cell.getWidth(), emulator.cols - x));
    const face = faceOf(styleOf(cell));
    yield { x, columns, text: face.invisible ? ' ' : cell.getChars() || ' ', ink: inkOf(face) };
    x += columns;
  }
}

/** Neighbours mostly look alike: the last look is kept. */
function inks(colors: Colors): (face: Face) => Ink {
  let key = '';
  let ink: Ink;
  return (face) => {
    const now = JSON.stringify(face);
    if (now !== key) ink = inkOf(face, colors);
    key = now;
    return ink;
  };
}

/** Inverse swaps before bold brightens the first eight colours, as xterm.js has it. */
function inkOf(face: Face, colors: Colors): Ink {
  const { bold, italic, dim, strike, overline, underline, inverse } = face;
  const [front, back] = inverse ? [face.bg, face.fg] : [face.fg, face.bg];
  const bright = bold && front && 'index' in front && front.index < 8 ? { index: front.index + 8 } : front;
  const fill = colors.of(bright) ?? (inverse ? colors.background : colors.foreground);
  const ground = colors.of(back) ?? (inverse ? colors.foreground : undefined);
  return { fill, ground, bold, italic, dim, strike, overline, underline, underlineFill: colors.of(face.underlineColor) ?? fill };
}
