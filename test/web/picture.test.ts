// A picture shows in each cell what the same terminal shows in a real browser.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Fold } from '../../src/terminal/fold.js';
import { draw } from '../../src/terminal/picture/draw.js';
import { inkOfPicture, inkOfXterm } from '../support/ink.js';
import { needs } from '../support/needs.js';
import { launch } from './browser.js';

const SIZE = { cols: 60, rows: 12 };
/** Cells that may differ, of all: a glyph that only just reaches into its cell. */
const MAX_DIFFERENT = 0.005;

const swatches = Array.from({ length: 60 }, (_, n) => `\x1b[48;5;${16 + n * 4}m `).join('');
const shades = Array.from({ length: 60 }, (_, n) => `\x1b[48;2;${n * 4};100;150m `).join('');
const STREAMS: ReadonlyArray<readonly [string, string]> = [
  [
    'looks',
    '\x1b[1mbold\x1b[0m \x1b[2mdim\x1b[0m \x1b[3mitalic\x1b[0m \x1b[4mline\x1b[0m \x1b[9mstrike\x1b[0m \x1b[8mhidden\x1b[0m \x1b[7minverse\x1b[0m',
  ],
  ['colours', `\x1b[31mred\x1b[1mbold\x1b[0m \x1b[44mblue\x1b[7mswapped\x1b[0m\r\n${swatches}\x1b[0m\r\n${shades}`],
  ['boxes', '┌──┬──┐\r\n│ab│cd│\r\n╞══╪══╡\r\n└──┴──┘ █▄▀▌▐ ▁▂▃▄▅▆▇█'],
  ['places', 'top\x1b[6;30Hmiddle\x1b[12;56Hlast\x1b[3;10r\x1b[10;1H\n\n scrolled \x1b[?6h\x1b[2;40Horigin'],
  ['the alternate screen', 'under\x1b[?1049h\x1b[44m\x1b[2J\x1b[5;5Hover\x1b[4 q'],
];

needs('chromium')('a picture beside xterm.js', () => {
  let browser: Awaited<ReturnType<typeof launch>>;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  it.each(STREAMS)('has the same grounds, and something in the same cells: %s', async (_name, stream) => {
    const page = await browser.newPage();
    const fold = new Fold(SIZE);
    fold.output(1, Buffer.from(stream));
    const snapshot = fold.snapshot();
    fold.dispose();
    const ours = await inkOfPicture(page, draw({ snapshot, format: 'png', theme: 'dark', title: '' }), SIZE);
    const { inks } = await inkOfXterm(page, snapshot.bytes, SIZE);
    await page.close();
    const blank = inks.map((theirs, i) => !theirs.isDrawn && !ours[i]?.isDrawn);
    expect(ours.filter((_, i) => blank[i]).map(({ ground }) => ground)).toEqual(
      inks.filter((_, i) => blank[i]).map(({ ground }) => ground),
    );
    const different = inks.filter(({ isDrawn }, i) => isDrawn !== ours[i]?.isDrawn).length;
    expect(different / inks.length).toBeLessThan(MAX_DIFFERENT);
    expect(ours.filter(({ isDrawn }) => isDrawn).length).toBeGreaterThan(3);
  });
});
