// The screen as an SVG document that looks like the terminal: cells, cursor, title; no script, and nothing from elsewhere. Knows no session.
import type { Emulator } from '../emulator.js';
import { blockOf } from './blocks.js';
import { cellsOf, type DrawnCell, type Ink } from './cells.js';
import { linesOf } from './lines.js';
import { CELL, FONT_PX } from './measures.js';
import { escaped, textOf } from './text.js';
import { type Colors, colorsOf, type ThemeName } from './theme.js';

const FONTS = "'DejaVu Sans Mono',Menlo,Consolas,'Liberation Mono',monospace";
/** Thickness of a cursor that is a bar or an underline, in pixels. */
const CURSOR_LINE = 2;

export interface SvgOptions {
  readonly theme: ThemeName;
  /** Columns that are shown; the emulator has one more on the narrowest screen. */
  readonly cols: number;
  /** Of the document, if the program has set none. */
  readonly title: string;
}

export function svgOf(emulator: Emulator, { theme, cols, title }: SvgOptions): string {
  const colors = colorsOf(theme, emulator.colors);
  const [width, height] = [cols * CELL.width, emulator.rows * CELL.height];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`,
    ` font-family="${FONTS}" font-size="${FONT_PX}" xml:space="preserve" role="img">`,
    `<title>${escaped(emulator.title || title)}</title>`,
    '<style>text{white-space:pre;font-variant-ligatures:none}</style>',
    `<rect width="${width}" height="${height}" fill="${colors.background}"/>`,
    ...rows(emulator, colors),
    '</svg>\n',
  ].join('');
}

/** Grounds first: a glyph may reach into the row above. */
function rows(emulator: Emulator, colors: Colors): string[] {
  const grounds: string[] = [];
  const fronts: string[] = [];
  for (let y = 0; y < emulator.rows; y++) {
    const cells = [...cellsOf(emulator, emulator.line(emulator.active, y), colors)];
    const shown = withCursor(emulator, cells, y, colors);
    const top = y * CELL.height;
    grounds.push(groundsOf(shown, top));
    fronts.push(blocksOf(shown, top), textOf(shown.filter(isText), top), linesOf(shown, top));
  }
  return ['<g shape-rendering="crispEdges">', ...grounds, '</g>', ...fronts, cursorLine(emulator, colors)];
}

const isText = ({ text }: DrawnCell): boolean => blockOf(text, 0, 0) === undefined;

function groundsOf(cells: readonly DrawnCell[], top: number): string {
  const stretches: { color: string; from: number; to: number }[] = [];
  for (const { x, columns, ink } of cells) {
    if (ink.ground === undefined) continue;
    const last = stretches.at(-1);
    if (last?.to === x && last.color === ink.ground) last.to = x + columns;
    else stretches.push({ color: ink.ground, from: x, to: x + columns });
  }
  return stretches.map(({ color, from, to }) => rect(from * CELL.width, top, (to - from) * CELL.width, CELL.height, color)).join('');
}

const rect = (x: number, y: number, width: number, height: number, fill: string): string =>
  `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="${fill}"/>`;

/** Neighbours of one colour are one path. */
function blocksOf(cells: readonly DrawnCell[], top: number): string {
  const paths = new Map<string, string>();
  for (const { x, text, ink } of cells) {
    const block = blockOf(text, x * CELL.width, top);
    if (!block) continue;
    const opacity = block.opacity * (ink.dim ? 0.5 : 1);
    const look = `fill="${ink.fill}"${opacity < 1 ? ` opacity="${opacity}"` : ''}`;
    paths.set(look, (paths.get(look) ?? '') + block.path);
  }
  return [...paths].map(([look, path]) => `<path ${look} shape-rendering="crispEdges" d="${path}"/>`).join('');
}

interface Cursor {
  readonly x: number;
  readonly y: number;
  readonly shape: 'block' | 'underline' | 'bar';
}

/** Where a wrap is pending, the cursor stands on the last column. */
function cursorOf({ active, cols, core }: Emulator): Cursor | undefined {
  const { isCursorHidden, decPrivateModes } = core.coreService;
  if (isCursorHidden) return undefined;
  return { x: Math.min(active.x, cols - 1), y: active.y, shape: decPrivateModes.cursorStyle ?? 'block' };
}

/** A cursor that is a block is a cell of other colours. */
function withCursor(emulator: Emulator, cells: readonly DrawnCell[], y: number, colors: Colors): readonly DrawnCell[] {
  const cursor = cursorOf(emulator);
  if (cursor?.shape !== 'block' || cursor.y !== y) return cells;
  const under = (ink: Ink): Ink => ({
    ...ink,
    fill: colors.background,
    underlineFill: colors.background,
    ground: colors.cursor,
    dim: false,
  });
  return cells.map((cell) => (cell.x <= cursor.x && cursor.x < cell.x + cell.columns ? { ...cell, ink: under(cell.ink) } : cell));
}

function cursorLine(emulator: Emulator, colors: Colors): string {
  const cursor = cursorOf(emulator);
  if (!cursor || cursor.shape === 'block') return '';
  const [left, top] = [cursor.x * CELL.width, cursor.y * CELL.height];
  if (cursor.shape === 'bar') return rect(left, top, CURSOR_LINE, CELL.height, colors.cursor);
  return rect(left, top + CELL.height - CURSOR_LINE, CELL.width, CURSOR_LINE, colors.cursor);
}
