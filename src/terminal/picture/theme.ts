// The colours that a picture is drawn in: a page's theme, under what the program has changed. Knows no cell.
import { colorAt, dark, light, type Rgb } from '../palette.js';
import type { Color } from '../style.js';

export const themes = { dark, light } as const;
export type ThemeName = keyof typeof themes;

const names = [
  'black',
  'red',
  'green',
  'yellow',
  'blue',
  'magenta',
  'cyan',
  'white',
  'brightBlack',
  'brightRed',
  'brightGreen',
  'brightYellow',
  'brightBlue',
  'brightMagenta',
  'brightCyan',
  'brightWhite',
] as const;

/** Each as `#rrggbb`. */
export interface Colors {
  readonly foreground: string;
  readonly background: string;
  readonly cursor: string;
  /** A colour of a cell; undefined for a default. */
  of(color: Color): string | undefined;
}

/** `changed` has what the program set: 0…255 of the palette, then foreground, background and cursor (256…258). */
export function colorsOf(name: ThemeName, changed: ReadonlyMap<number, Rgb> | undefined): Colors {
  const theme = themes[name];
  const set = (index: number): string | undefined => {
    const rgb = changed?.get(index);
    return rgb && hexOf(rgb);
  };
  const named = (index: number): string | undefined => {
    const own = names[index];
    return own && theme[own];
  };
  return {
    foreground: set(256) ?? theme.foreground,
    background: set(257) ?? theme.background,
    cursor: set(258) ?? theme.cursor,
    of: (color) => {
      if (color === undefined) return undefined;
      if ('rgb' in color) return `#${color.rgb.toString(16).padStart(6, '0')}`;
      return set(color.index) ?? named(color.index) ?? hexOf(colorAt(color.index));
    },
  };
}

const hexOf = (rgb: Rgb): string => `#${rgb.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
