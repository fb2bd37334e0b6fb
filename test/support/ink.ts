// Which cells of a terminal have something drawn in them: as xterm.js draws it in a real browser, and as a picture of ours does. Knows no session.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { dark } from '../../src/terminal/palette.js';
import type { Size } from '../../src/terminal/terminal.js';

const lib = (name: string): string => readFileSync(createRequire(import.meta.url).resolve(`@xterm/xterm/${name}`), 'utf8');
const theme = { ...dark, cursorAccent: dark.background };

/** For each cell, row by row: its ground (the colour that most of it has, as `#rgb` of coarse steps), and whether anything else is drawn in it. */
export type Inks = ReadonlyArray<{ readonly ground: string; readonly isDrawn: boolean }>;

/** In the page: an image as cells. `from` cuts the middle of a cell out, so that what a neighbour's glyph leaves over the edge is not counted. */
const CELLS = `async (data, cols, rows, width, height) => {
  const image = new Image();
  image.src = 'data:image/png;base64,' + data;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  context.drawImage(image, 0, 0);
  const [w, h] = [width || image.width / cols, height || image.height / rows];
  const cells = [];
  for (let y = 0; y < rows; y++) for (let x = 0; x < cols; x++) {
    const [left, top] = [Math.round(x * w) + 1, Math.round(y * h) + 1];
    const { data: px } = context.getImageData(left, top, Math.round(w) - 2, Math.round(h) - 2);
    const counts = new Map();
    for (let i = 0; i < px.length; i += 4) {
      const key = px[i] + ',' + px[i + 1] + ',' + px[i + 2];
      counts.set(key, (counts.get(key) || 0) + 1);
    }
    const [ground] = [...counts].sort((a, b) => b[1] - a[1])[0];
    const own = ground.split(',').map(Number);
    let drawn = 0;
    for (let i = 0; i < px.length; i += 4) if (Math.abs(px[i] - own[0]) + Math.abs(px[i + 1] - own[1]) + Math.abs(px[i + 2] - own[2]) > 60) drawn++;
    cells.push({ ground, isDrawn: drawn >= 2 });
  }
  return cells;
}`;

const cells = (page: Page, png: Uint8Array, { cols, rows }: Size, cell?: { width: number; height: number }): Promise<Inks> =>
  page.evaluate(
    `(${CELLS})(${JSON.stringify(Buffer.from(png).toString('base64'))}, ${cols}, ${rows}, ${cell?.width ?? 0}, ${cell?.height ?? 0})`,
  );

/** Of a PNG of ours. */
export const inkOfPicture = (page: Page, png: Uint8Array, size: Size): Promise<Inks> => cells(page, png, size);

/** Of xterm.js, written to in this page. */
export async function inkOfXterm(page: Page, bytes: Uint8Array, size: Size): Promise<{ inks: Inks; png: Uint8Array }> {
  await page.setContent(`<style>${lib('css/xterm.css')}body{margin:0}#t{position:absolute;left:0;top:0}</style><div id=t></div>`);
  await page.addScriptTag({ content: lib('lib/xterm.js') });
  const cell = await page.evaluate<{ width: number; height: number }>(`new Promise((done) => {
    const terminal = new Terminal({ cols: ${size.cols}, rows: ${size.rows}, scrollback: 0, theme: ${JSON.stringify(theme)},
      fontFamily: 'DejaVu Sans Mono', fontSize: 14, cursorInactiveStyle: 'block', allowProposedApi: true });
    terminal.open(document.querySelector('#t'));
    const data = Uint8Array.from(atob(${JSON.stringify(Buffer.from(bytes).toString('base64'))}), (c) => c.charCodeAt(0));
    terminal.write(data, () => requestAnimationFrame(() => requestAnimationFrame(() => {
      const box = document.querySelector('.xterm-screen').getBoundingClientRect();
      done({ width: box.width / ${size.cols}, height: box.height / ${size.rows} });
    })));
  })`);
  const png = await page.locator('.xterm-screen').screenshot();
  return { inks: await cells(page, png, size, cell), png };
}
