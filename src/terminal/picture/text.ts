// The text of a row in SVG: placed by columns, whatever font draws it. Knows no colour and no cell of the emulator.
import type { DrawnCell, Ink } from './cells.js';
import { CELL, FONT_PX } from './measures.js';

/** A glyph of DejaVu Sans Mono is so high, in parts of its size: where lines of boxes meet those of the next row. */
const GLYPH_HEIGHT = 1.164;
const ASCENT = 0.928;
const ADVANCE = 0.602;
const BOX_FONT_PX = CELL.height / GLYPH_HEIGHT;
/** What a glyph of that size sticks out of its cell, to the left. */
const BOX_OVERHANG = (BOX_FONT_PX * ADVANCE - CELL.width) / 2;
/** Between the top of a row and the line that its letters stand on. */
const BASELINE = (CELL.height - FONT_PX * GLYPH_HEIGHT) / 2 + FONT_PX * ASCENT;

/** ASCII is in every font, and as wide as its neighbours; all else gets a place of its own, since it may come from another font. */
type Script = 'ascii' | 'box' | 'other' | 'cluster';

interface Piece {
  readonly script: Script;
  readonly x: number;
  readonly ink: Ink;
  text: string;
  /** Column of each character. */
  readonly columns: number[];
  /** The column behind the last one. */
  end: number;
}

/** The elements of one row whose top is at `y` pixels. */
export function textOf(cells: readonly DrawnCell[], y: number): string {
  return pieces(cells)
    .map((piece) => element(piece, y))
    .join('');
}

function pieces(cells: readonly DrawnCell[]): Piece[] {
  const all: Piece[] = [];
  let blanks = 0;
  for (const { text, x, ink, columns } of cells) {
    if (text === ' ') {
      blanks++;
      continue;
    }
    const script = scriptOf(text);
    const last = all.at(-1);
    const isNext = last && script !== 'cluster' && last.script === script && sameInk(last.ink, ink) && (script !== 'ascii' || blanks < 4);
    if (isNext && last.end + blanks === x) {
      if (script === 'ascii') last.text += ' '.repeat(blanks);
      last.text += text;
      last.columns.push(x);
      last.end = x + columns;
    } else all.push({ script, x, ink, text, columns: [x], end: x + columns });
    blanks = 0;
  }
  return all;
}

function scriptOf(text: string): Script {
  const code = text.charCodeAt(0);
  if (text.length > 1) return 'cluster';
  if (code >= 0x21 && code <= 0x7e) return 'ascii';
  return code >= 0x2500 && code <= 0x257f ? 'box' : 'other';
}

/** As far as text shows it. */
const sameInk = (a: Ink, b: Ink): boolean =>
  a === b || (a.fill === b.fill && a.bold === b.bold && a.italic === b.italic && a.dim === b.dim);

function element({ script, ink, text, columns, x }: Piece, y: number): string {
  const isBox = script === 'box';
  const shift = isBox ? BOX_OVERHANG : 0;
  const places = script === 'ascii' ? `${x * CELL.width}` : columns.map((column) => px(column * CELL.width - shift)).join(' ');
  const attributes = [
    `x="${places}"`,
    `y="${px(y + (isBox ? BOX_FONT_PX * ASCENT : BASELINE))}"`,
    script === 'ascii' && text.length > 1 ? `textLength="${text.length * CELL.width}"` : '',
    isBox ? `font-size="${px(BOX_FONT_PX)}"` : '',
    `fill="${ink.fill}"`,
    // A bold line of a box would not meet the thin one beside it.
    ink.bold && !isBox ? 'font-weight="bold"' : '',
    ink.italic && !isBox ? 'font-style="italic"' : '',
    ink.dim ? 'opacity=".5"' : '',
  ];
  return `<text ${attributes.filter(Boolean).join(' ')}>${escaped(text)}</text>`;
}

/** With two digits behind the point at most. */
export const px = (value: number): string => `${Math.round(value * 100) / 100}`;

/** What XML 1.0 has no place for, lone halves of characters too. */
const NO_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Any text, as it may stand in an element or an attribute of XML. */
export const escaped = (text: string): string => text.replace(NO_XML, '\ufffd').replace(/[&<>"]/g, (char) => ENTITIES[char] as string);
