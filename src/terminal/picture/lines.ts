// The lines at characters in SVG: underlines of five kinds, strikes and overlines. Knows no text.
import type { DrawnCell, Ink } from './cells.js';
import { CELL } from './measures.js';

/** Pixels below the top of a row. */
const UNDER = 14.5;
const STRIKE = 8.5;
const OVER = 0.5;
/** Height of a wave, and of half its length, in pixels. */
const WAVE = 2;

/** A stretch of neighbouring cells under the same line. */
interface Stretch {
  readonly kind: string;
  readonly color: string;
  readonly dim: boolean;
  readonly from: number;
  to: number;
}

/** The elements of one row whose top is at `y` pixels. */
export function linesOf(cells: readonly DrawnCell[], y: number): string {
  const strokes: ReadonlyArray<readonly [(ink: Ink) => string, (ink: Ink) => string]> = [
    [({ underline }) => (underline ? `under ${underline}` : ''), ({ underlineFill }) => underlineFill],
    [({ strike }) => (strike ? 'strike' : ''), ({ fill }) => fill],
    [({ overline }) => (overline ? 'over' : ''), ({ fill }) => fill],
  ];
  return strokes
    .flatMap(([kindOf, colorOf]) => stretches(cells, kindOf, colorOf))
    .map((stretch) => element(stretch, y))
    .join('');
}

function stretches(cells: readonly DrawnCell[], kindOf: (ink: Ink) => string, colorOf: (ink: Ink) => string): Stretch[] {
  const all: Stretch[] = [];
  for (const { x, columns, ink } of cells) {
    const kind = kindOf(ink);
    if (kind === '') continue;
    const color = colorOf(ink);
    const last = all.at(-1);
    if (last && last.to === x && last.kind === kind && last.color === color && last.dim === ink.dim) last.to = x + columns;
    else all.push({ kind, color, dim: ink.dim, from: x, to: x + columns });
  }
  return all;
}

function element({ kind, color, dim, from, to }: Stretch, y: number): string {
  const [left, right] = [from * CELL.width, to * CELL.width];
  const straight = (at: number): string => `M${left} ${y + at}H${right}`;
  const draw = (path: string, dashes = ''): string =>
    `<path d="${path}" stroke="${color}" fill="none"${dashes && ` stroke-dasharray="${dashes}"`}${dim ? ' opacity=".5"' : ''}/>`;
  switch (kind) {
    case 'under 2':
      return draw(straight(UNDER - 1) + straight(UNDER + 1));
    case 'under 3':
      return draw(`M${left} ${y + UNDER}${`q${WAVE / 2} ${-WAVE} ${WAVE} 0t${WAVE} 0`.repeat((right - left) / (2 * WAVE))}`);
    case 'under 4':
      return draw(straight(UNDER), '1 1');
    case 'under 5':
      return draw(straight(UNDER), '3 1');
    case 'strike':
      return draw(straight(STRIKE));
    case 'over':
      return draw(straight(OVER));
    default:
      return draw(straight(UNDER));
  }
}
