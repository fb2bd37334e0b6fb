// How large things are in a picture, in CSS pixels. Knows no screen.

/** A cell, as programs are told that it is (CSI 16 t): nobody's cells are known here, and all are told the same. */
export const CELL = { width: 8, height: 16 } as const;
/** At this size a glyph of DejaVu Sans Mono is as wide as a cell. */
export const FONT_PX = 13.29;
