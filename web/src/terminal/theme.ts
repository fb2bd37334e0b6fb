// The terminal's colours, for a dark and a light page. Knows no terminal.
import type { ITheme } from '@xterm/xterm';
import { dark as palette } from '../../../src/terminal/palette.js';

const dark: ITheme = { ...palette, cursorAccent: palette.background, selectionBackground: '#2f4a55' };

const light: ITheme = {
  background: '#fdfdfc',
  foreground: '#22292f',
  cursor: '#0d7d70',
  cursorAccent: '#fdfdfc',
  selectionBackground: '#c6e3df',
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

const preference = matchMedia('(prefers-color-scheme: light)');

export const currentTheme = (): ITheme => (preference.matches ? light : dark);

/** Tells of each change of the preference until the signal. */
export function onThemeChange(listener: () => void, signal: AbortSignal): void {
  preference.addEventListener('change', listener, { signal });
}
