// What a visitor can choose on this device, and how it is read. Pure: knows no browser and no view.

export const themes = ['system', 'dark', 'light'] as const;
export const renderers = ['auto', 'webgl', 'dom'] as const;

export interface Settings {
  readonly theme: (typeof themes)[number];
  /** Of the terminal, in CSS pixels: MIN_FONT_PX to MAX_FONT_PX; 0 is what suits the window. */
  readonly fontPx: number;
  /** A font of this device; empty: its usual one for terminals. */
  readonly font: string;
  readonly copyOnSelect: boolean;
  /** The terminal's text is told to screen readers. */
  readonly screenReader: boolean;
  /** How the terminal is drawn. `auto`: by the graphics hardware where there is some. */
  readonly renderer: (typeof renderers)[number];
  /** Images that programs print are shown beside the text. */
  readonly images: boolean;
}

export const MIN_FONT_PX = 8;
export const MAX_FONT_PX = 32;
const MAX_FONT_CHARS = 100;
const usual: Settings = { theme: 'system', fontPx: 0, font: '', copyOnSelect: false, screenReader: false, renderer: 'auto', images: false };

/** What is not as it should be is as usual. */
export function readSettings(text: string | null): Settings {
  const { theme, fontPx, font, copyOnSelect, screenReader, renderer, images } = fieldsIn(text);
  return {
    theme: themes.find((one) => one === theme) ?? usual.theme,
    fontPx: typeof fontPx === 'number' && fontPx > 0 ? Math.min(Math.max(Math.round(fontPx), MIN_FONT_PX), MAX_FONT_PX) : usual.fontPx,
    font: typeof font === 'string' ? font.replace(/[^\p{L}\p{N} _-]/gu, '').slice(0, MAX_FONT_CHARS) : usual.font,
    copyOnSelect: copyOnSelect === true,
    screenReader: screenReader === true,
    renderer: renderers.find((one) => one === renderer) ?? usual.renderer,
    images: images === true,
  };
}

function fieldsIn(text: string | null): Record<string, unknown> {
  try {
    return { ...(JSON.parse(text ?? '{}') as object) };
  } catch {
    return {};
  }
}
