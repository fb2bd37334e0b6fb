// The terminal's colours, for a dark and a light page. Knows no terminal.
import type { ITheme } from '@xterm/xterm';
import { dark as darkPalette, light as lightPalette } from '../../../src/terminal/palette.js';

const dark: ITheme = { ...darkPalette, cursorAccent: darkPalette.background, selectionBackground: '#2f4a55' };

const light: ITheme = { ...lightPalette, cursorAccent: lightPalette.background, selectionBackground: '#c6e3df' };

const preference = matchMedia('(prefers-color-scheme: light)');

export const currentTheme = (): ITheme => (preference.matches ? light : dark);

/** Tells of each change of the preference until the signal. */
export function onThemeChange(listener: () => void, signal: AbortSignal): void {
  preference.addEventListener('change', listener, { signal });
}
