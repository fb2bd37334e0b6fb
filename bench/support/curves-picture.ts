// Curves as a picture: each in a field of its own, from nothing on both axes, so that a line looks like a line. Knows nothing of what was measured.
import { type Curve, shapeOf } from './curve.js';
import { short } from './figures.js';

const COLUMNS = 3;
const [WIDTH, HEIGHT] = [300, 210];
const MARGIN = { left: 16, right: 16, top: 52, bottom: 34 };
const INK = {
  text: '#24292f',
  quiet: '#57606a',
  axis: '#8c959f',
  flat: '#1a7f37',
  flattens: '#1a7f37',
  linear: '#0969da',
  steepens: '#cf222e',
};

export function curvesPicture(curves: readonly Curve[]): string {
  const [width, height] = [COLUMNS * WIDTH, Math.ceil(curves.length / COLUMNS) * HEIGHT];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" font-family="sans-serif" font-size="12" role="img">`,
    '<title>What each thing costs as there is more of it</title>',
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...curves.map(
      (curve, n) => `<g transform="translate(${(n % COLUMNS) * WIDTH} ${Math.floor(n / COLUMNS) * HEIGHT})">${field(curve)}</g>`,
    ),
    '</svg>\n',
  ].join('\n');
}

function field(curve: Curve): string {
  const { name, of, unit, points } = curve;
  const [right, bottom] = [WIDTH - MARGIN.right, HEIGHT - MARGIN.bottom];
  const most = { x: Math.max(...points.map(([x]) => x)), y: Math.max(...points.map(([, y]) => y)) };
  const place = ([x, y]: readonly [number, number]): string =>
    `${(MARGIN.left + (x / most.x) * (right - MARGIN.left)).toFixed(1)},${(bottom - (Math.max(0, y) / most.y) * (bottom - MARGIN.top)).toFixed(1)}`;
  const { word } = shapeOf(curve);
  const at = points.map(place);
  return [
    text(MARGIN.left, 20, name, INK.text),
    text(MARGIN.left, 38, `${word}; ${short(most.y)} ${unit} at most`, INK[word]),
    `<path d="M${MARGIN.left} ${MARGIN.top}V${bottom}H${right}" fill="none" stroke="${INK.axis}"/>`,
    `<polyline points="${at.join(' ')}" fill="none" stroke="${INK[word]}" stroke-width="2"/>`,
    ...at.map((point) => `<circle cx="${point.split(',')[0]}" cy="${point.split(',')[1]}" r="3" fill="${INK[word]}"/>`),
    text(MARGIN.left, bottom + 18, '0', INK.quiet),
    text(right, bottom + 18, `${most.x.toLocaleString('en')} ${of}`, INK.quiet, 'end'),
  ].join('');
}

const text = (x: number, y: number, words: string, colour: string, anchor = 'start'): string =>
  `<text x="${x}" y="${y}" fill="${colour}" text-anchor="${anchor}">${words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;
