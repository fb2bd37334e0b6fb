// The colours that this terminal says it has: xterm's 256, under the sixteen of the page's dark theme. Knows no terminal.

/** Each 0…255. */
export type Rgb = readonly [red: number, green: number, blue: number];

/** Of the dark page, as `#rrggbb`; a program is told these, whoever looks at it and with what colours. */
export const dark = {
  background: '#0e1318',
  foreground: '#d3dae2',
  cursor: '#5cc4b4',
  black: '#1b222a',
  red: '#e5786d',
  green: '#8fc77a',
  yellow: '#dcb867',
  blue: '#74a8e0',
  magenta: '#c08ad6',
  cyan: '#62bfc1',
  white: '#c5cdd6',
  brightBlack: '#66727f',
  brightRed: '#f2978d',
  brightGreen: '#aadd96',
  brightYellow: '#edd08c',
  brightBlue: '#97c1f0',
  brightMagenta: '#d6abe8',
  brightCyan: '#87d7d8',
  brightWhite: '#f1f4f7',
} as const;

/** Of the light page: for who looks at it there, or asks for a light picture. */
export const light: Readonly<Record<keyof typeof dark, string>> = {
  background: '#fdfdfc',
  foreground: '#22292f',
  cursor: '#0d7d70',
  black: '#22292f',
  red: '#b3372c',
  green: '#38761f',
  yellow: '#8a6100',
  blue: '#235fa8',
  magenta: '#83409c',
  cyan: '#0b7376',
  white: '#d5d9dc',
  brightBlack: '#6a747d',
  brightRed: '#cc4b40',
  brightGreen: '#4a8f2e',
  brightYellow: '#a27708',
  brightBlue: '#3a77c2',
  brightMagenta: '#9a57b3',
  brightCyan: '#1a8b8e',
  brightWhite: '#f4f5f5',
};

const { background, foreground, cursor, ...sixteen } = dark;
const named: readonly Rgb[] = Object.values(sixteen).map(rgbOf);
const special: Readonly<Record<number, Rgb>> = { 256: rgbOf(foreground), 257: rgbOf(background), 258: rgbOf(cursor) };
/** The levels of the 6×6×6 cube. */
const LEVELS = [0, 95, 135, 175, 215, 255];

/** The colour with this index: 0…255 of the palette, then foreground, background and cursor (256…258). */
export function colorAt(index: number): Rgb {
  const known = special[index] ?? named[index];
  if (known) return known;
  if (index >= 232) return [grey(index), grey(index), grey(index)];
  const place = index - 16;
  return [level(place / 36), level(place / 6), level(place)];
}

const level = (place: number): number => LEVELS[Math.floor(place) % 6] as number;
const grey = (index: number): number => 8 + 10 * (index - 232);

function rgbOf(hex: string): Rgb {
  const value = Number.parseInt(hex.slice(1), 16);
  return [value >> 16, (value >> 8) & 0xff, value & 0xff];
}
