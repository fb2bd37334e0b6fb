// The colours of the terminal, for a dark and a light page, and which of them it is. Knows no terminal.
import type { ITheme } from '@xterm/xterm';
import { dark as darkPalette, light as lightPalette } from '../../../src/terminal/palette.js';
import { onSettings, settings } from '../settings/settings.js';

const dark: ITheme = { ...darkPalette, cursorAccent: darkPalette.background, selectionBackground: '#2f4a55' };

const light: ITheme = { ...lightPalette, cursorAccent: lightPalette.background, selectionBackground: '#c6e3df' };

/** What a search has found, and the one of it that is shown. */
const darkMarks = { matchBackground: '#5f4d16', activeMatchBackground: '#96601d' };
const lightMarks = { matchBackground: '#f4e3a1', activeMatchBackground: '#f2bd6b' };

/** Of a text to its ground, as WCAG 2 has it for level AA. */
const READABLE_CONTRAST = 4.5;

const preference = matchMedia('(prefers-color-scheme: light)');
const isLight = () => (settings().theme === 'system' ? preference.matches : settings().theme === 'light');

export const themeName = (): 'light' | 'dark' => (isLight() ? 'light' : 'dark');

export const currentTheme = (): ITheme => (isLight() ? light : dark);

/** Programs are told of a dark terminal, and choose pale colours: on a light one they are darkened until they can be read. */
export const currentContrast = (): number => (isLight() ? READABLE_CONTRAST : 1);

export function marks() {
  const colours = isLight() ? lightMarks : darkMarks;
  return { ...colours, matchOverviewRuler: colours.matchBackground, activeMatchColorOverviewRuler: colours.activeMatchBackground };
}

/** Tells of each change until the signal. */
export function onThemeChange(listener: () => void, signal: AbortSignal): void {
  preference.addEventListener('change', listener, { signal });
  onSettings(listener, signal);
}

/** The page itself follows its style sheet, which is told what the visitor chose. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = settings().theme;
}
