// An SVG document of ours as a PNG, in the fonts that come with the gateway. Knows no screen. Slow: for a thread of its own.
import { createRequire } from 'node:module';
import path from 'node:path';
import { Resvg } from '@resvg/resvg-js';

/** Pixels of the picture for one of the document, where there is room. */
const SCALE = 2;
/** Most pixels of a picture (64 MiB while it is drawn); a larger screen is drawn smaller. */
export const MAX_PIXELS = 16 * 1024 * 1024;

const folder = path.join(path.dirname(createRequire(import.meta.url).resolve('dejavu-fonts-ttf/package.json')), 'ttf');
/** DejaVu, by the names of its files. */
export const FONTS = ['DejaVuSansMono', 'DejaVuSansMono-Bold', 'DejaVuSansMono-Oblique', 'DejaVuSansMono-BoldOblique', 'DejaVuSans'];
const fontFiles = FONTS.map((name) => path.join(folder, `${name}.ttf`));
/** Scripts that DejaVu does not have: they come from the fonts of a folder or of the system, which take a while to be read. */
const OTHER_SCRIPTS = /[\u0700-\u1dff\u2e80-\ufffc\u{10000}-\u{10ffff}]/u;

/** `fonts` is a folder of fonts for other scripts; without it those of the system are looked through. A folder that is not there has none. */
export function pngOf(svg: string, size: { readonly width: number; readonly height: number }, fonts?: string): Uint8Array {
  const zoom = Math.min(SCALE, Math.sqrt(MAX_PIXELS / (size.width * size.height)));
  const needsOthers = OTHER_SCRIPTS.test(svg);
  const font = {
    fontFiles,
    fontDirs: needsOthers && fonts !== undefined ? [fonts] : [],
    loadSystemFonts: needsOthers && fonts === undefined,
    defaultFontFamily: 'DejaVu Sans Mono',
    monospaceFamily: 'DejaVu Sans Mono',
  };
  return new Resvg(svg, { fitTo: { mode: 'zoom', value: zoom }, font }).render().asPng();
}
