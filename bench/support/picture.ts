// The budgets as a picture: how far each value is from what it must be, on one scale. Knows no question.
import type { Judged } from './asking.js';
import { short } from './figures.js';
import { type Bound, inWords, isHeld } from './question.js';

const ROW = 26;
const [LABEL, SCALE, VALUE] = [290, 420, 200];
/** The scale ends where a value is so many times better or worse than its bound. */
const DECADES = 1;
const COLOURS = { aim: '#1a7f37', must: '#9a6700', no: '#cf222e' };

/** Each row is a value that has a bound: right of the middle line it is held, the dots are the lowest and the highest round. */
export function picture(judged: readonly Judged[]): string {
  const rows = judged.filter(({ budget }) => budget.must ?? budget.aim);
  const [width, height] = [LABEL + SCALE + VALUE, (rows.length + 2) * ROW];
  const middle = LABEL + SCALE / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="13" role="img">`,
    '<title>How far each value is from its budget</title>',
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    `<text x="${middle}" y="${ROW - 8}" text-anchor="middle" fill="#57606a">◂ worse · as budgeted · better ▸</text>`,
    `<line x1="${middle}" x2="${middle}" y1="${ROW}" y2="${height - ROW / 2}" stroke="#8c959f"/>`,
    ...rows.map((row, n) => rowOf(row, (n + 1) * ROW)),
    '</svg>\n',
  ].join('\n');
}

function rowOf({ budget, spread }: Judged, top: number): string {
  const bound = (budget.must ?? budget.aim) as Bound;
  const colour = budget.aim && isHeld(spread.median, budget.aim) ? COLOURS.aim : isHeld(spread.median, bound) ? COLOURS.must : COLOURS.no;
  const [from, to] = [placeOf(1, { atLeast: 1 }), placeOf(spread.median, bound)];
  const y = top + ROW / 2;
  const bar = `<rect x="${Math.min(from, to)}" y="${top + 5}" width="${Math.max(1, Math.abs(to - from))}" height="${ROW - 10}" fill="${colour}"/>`;
  const dots = [spread.low, spread.high].map((value) => `<circle cx="${placeOf(value, bound)}" cy="${y}" r="3" fill="#24292f"/>`);
  const name = `<text x="${LABEL - 10}" y="${y + 4}" text-anchor="end" fill="#24292f">${budget.path}</text>`;
  const value = `${short(spread.median)} ${budget.unit} (${inWords(bound)})`;
  return `${name}${bar}${dots.join('')}<text x="${LABEL + SCALE + 10}" y="${y + 4}" fill="#24292f">${value}</text>`;
}

/** On a logarithmic scale, so that twice as good is as far as half as good. */
function placeOf(value: number, bound: Bound): number {
  const better = 'atLeast' in bound ? value / bound.atLeast : bound.atMost / value;
  const share = Math.max(-1, Math.min(1, Math.log10(better) / DECADES));
  return Math.round(LABEL + (SCALE * (share + 1)) / 2);
}
