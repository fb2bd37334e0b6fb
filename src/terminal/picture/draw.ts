// A picture from a snapshot, all in one step. Knows no thread and no session.
import { Fold } from '../fold.js';
import type { Snapshot } from '../terminal.js';
import { CELL } from './measures.js';
import { pngOf } from './png.js';
import { svgOf } from './svg.js';
import type { ThemeName } from './theme.js';

export const pictureFormats = ['svg', 'png'] as const;
export type PictureFormat = (typeof pictureFormats)[number];

export interface PictureOrder {
  readonly snapshot: Snapshot;
  readonly format: PictureFormat;
  readonly theme: ThemeName;
  /** Of the picture, if the program has set none. */
  readonly title: string;
}

/** UTF-16 units of the SVG of which a PNG is made, and cells that are in it: with more, it would take seconds. */
export const MAX_PNG_SOURCE = 4 * 1024 * 1024;
export const MAX_PNG_CELLS = 128 * 1024;

/** Its message is for who asked. */
export class Undrawable extends Error {
  override readonly name = 'Undrawable';
}

/** `fonts` is a folder, as `pngOf` takes it. Throws Undrawable, and what the emulator or the renderer throws. */
export function draw({ snapshot, format, theme, title }: PictureOrder, fonts?: string): Uint8Array {
  const fold = Fold.from(snapshot);
  const svg = svgOf(fold.emulator, { theme, cols: snapshot.cols, title });
  fold.dispose();
  if (format === 'svg') return new TextEncoder().encode(svg);
  if (svg.length > MAX_PNG_SOURCE || snapshot.cols * snapshot.rows > MAX_PNG_CELLS)
    throw new Undrawable('it is too large, or has too many colours, for a PNG; ask for svg');
  return pngOf(svg, { width: snapshot.cols * CELL.width, height: snapshot.rows * CELL.height }, fonts);
}
