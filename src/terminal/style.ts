// How a cell or a pen looks, as the escape sequences that make it so. Knows no position.
import type { Attributes } from './emulator.js';

// The emulator's bits. Colours: two bits of kind, then 24 of value.
const COLOR = 0x3ff_ffff;
const KIND = 0x300_0000;
const [PALETTE_16, PALETTE_256, RGB] = [0x100_0000, 0x200_0000, 0x300_0000];
const [INVERSE, BOLD, UNDERLINE, BLINK, INVISIBLE, STRIKETHROUGH] = [1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 30, 1 << 31];
const [ITALIC, DIM, EXTENDED, PROTECTED, OVERLINE] = [1 << 26, 1 << 27, 1 << 28, 1 << 29, 1 << 30];
const UNDERLINE_STYLE = 7 << 26;
const INK = INVERSE | UNDERLINE | STRIKETHROUGH;

/** A look, as numbers to compare: everything of `Attributes` that can be seen or has a later effect. */
export interface Style {
  readonly fg: number;
  readonly bg: number;
  /** Underline style (0…5) and colour; 0 if it is not underlined. */
  readonly line: number;
  /** Key of a hyperlink, 0 for none. */
  readonly link: number;
}

export const isProtected = ({ bg }: Pick<Style, 'bg'>): boolean => (bg & PROTECTED) !== 0;

export const plain: Style = { fg: 0, bg: 0, line: 0, link: 0 };

export const sameStyle = (a: Style, b: Style): boolean => a.fg === b.fg && a.bg === b.bg && a.line === b.line && a.link === b.link;

/** What a cell looks like. */
export function styleOf({ fg, bg, extended }: Attributes): Style {
  const extra = (bg & EXTENDED) !== 0;
  return {
    fg: trueColor(fg),
    bg: trueColor(bg & ~EXTENDED),
    line: extra ? extended._ext & (UNDERLINE_STYLE | COLOR) : 0,
    link: extra ? extended.urlId : 0,
  };
}

/** As `styleOf`, of what a pen will write: it may hold the colour of a line that it does not draw yet. */
export function penStyle(pen: Attributes): Style {
  const style = styleOf(pen);
  return { ...style, line: style.line | (pen.extended._ext & COLOR) };
}

/** A blank made by erasing has nothing but a background colour. */
export const erased = (bg: number): Style => ({ fg: 0, bg: trueColor(bg & COLOR), line: 0, link: 0 });

/** Whether an empty cell of this look shows more than its background. */
export const hasInk = ({ fg, bg, line, link }: Style): boolean =>
  (fg & INK) !== 0 || (bg & OVERLINE) !== 0 || (line & UNDERLINE_STYLE) !== 0 || link !== 0;

/** A colour of the palette (0…255), or one of 24 bits; undefined is the default of its place. */
export type Color = { readonly index: number } | { readonly rgb: number } | undefined;

/** A look in words, for those who draw it. */
export interface Face {
  readonly fg: Color;
  readonly bg: Color;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly inverse: boolean;
  readonly invisible: boolean;
  readonly strike: boolean;
  readonly overline: boolean;
  /** 0 for none, then as SGR 4:n has them: single, double, curly, dotted, dashed. A link is dashed. */
  readonly underline: number;
  readonly underlineColor: Color;
}

export function faceOf({ fg, bg, line, link }: Style): Face {
  const told = (line & UNDERLINE_STYLE) >>> 26;
  const underline = told || (fg & UNDERLINE ? 1 : 0);
  return {
    fg: namedColor(fg),
    bg: namedColor(bg),
    bold: (fg & BOLD) !== 0,
    dim: (bg & DIM) !== 0,
    italic: (bg & ITALIC) !== 0,
    inverse: (fg & INVERSE) !== 0,
    invisible: (fg & INVISIBLE) !== 0,
    strike: (fg & STRIKETHROUGH) !== 0,
    overline: (bg & OVERLINE) !== 0,
    underline: link ? 5 : underline,
    underlineColor: namedColor(line),
  };
}

function namedColor(bits: number): Color {
  const kind = bits & KIND;
  if (kind === 0) return undefined;
  return kind === RGB ? { rgb: bits & 0xff_ffff } : { index: bits & 0xff };
}

/** Without the bits that a kind of colour does not use; signed, as a pen has it and a cell has not. */
function trueColor(bits: number): number {
  const kind = bits & KIND;
  if (kind === RGB) return bits | 0;
  return kind === 0 ? bits & ~COLOR : bits & ~0xff_ff00;
}

/** The parameters of SGR that make a look, from any other; all but protection. */
export function codesOf(style: Style): string[] {
  return ['0', ...flagsOf(style), ...underlineOf(style), ...colorOf(style.fg, 30), ...colorOf(style.bg, 40)];
}

/** From any look to this one, links apart. Protection is told last, since SGR 0 takes it away from some terminals and not from others. */
export function sequenceOf(style: Style): string {
  return `\x1b[${codesOf(style).join(';')}m${isProtected(style) ? '\x1b[1"q' : ''}`;
}

/** As `sequenceOf`, after a look that may have been protected. */
export const restyle = (from: Style, to: Style): string => (from.bg & ~to.bg & PROTECTED ? '\x1b[0"q' : '') + sequenceOf(to);

function flagsOf({ fg, bg }: Style): string[] {
  const flags: ReadonlyArray<readonly [number, string]> = [
    [fg & BOLD, '1'],
    [bg & DIM, '2'],
    [bg & ITALIC, '3'],
    [fg & BLINK, '5'],
    [fg & INVERSE, '7'],
    [fg & INVISIBLE, '8'],
    [fg & STRIKETHROUGH, '9'],
    [bg & OVERLINE, '53'],
  ];
  return flags.filter(([bit]) => bit !== 0).map(([, code]) => code);
}

function underlineOf({ fg, line }: Style): string[] {
  const style = (line & UNDERLINE_STYLE) >>> 26;
  const codes = style > 1 ? [`4:${style}`] : style === 1 || fg & UNDERLINE ? ['4'] : [];
  return [...codes, ...colorOf(line, 50)];
}

/** `base` is 30 for the foreground, 40 for the background, 50 for the underline, which has no colours of its own kind. */
function colorOf(bits: number, base: 30 | 40 | 50): string[] {
  const value = bits & 0xff_ffff;
  switch (bits & KIND) {
    case PALETTE_16:
      return [`${(value & 8 ? base + 60 : base) + (value & 7)}`];
    case PALETTE_256:
      return [base === 50 ? `58:5:${value & 0xff}` : `${base + 8};5;${value & 0xff}`];
    case RGB:
      return [rgb(value, base)];
    default:
      return [];
  }
}

function rgb(value: number, base: 30 | 40 | 50): string {
  const parts = [value >>> 16, (value >>> 8) & 0xff, value & 0xff];
  return base === 50 ? `58:2::${parts.join(':')}` : `${base + 8};2;${parts.join(';')}`;
}
