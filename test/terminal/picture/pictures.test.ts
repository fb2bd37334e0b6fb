// Pictures are drawn beside everything else, one at a time: a bad one harms no other, and nobody waits without a bound.
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Fold } from '../../../src/terminal/fold.js';
import type { PictureOrder } from '../../../src/terminal/picture/draw.js';
import { MAX_WAITING, Pictures, type PicturesOptions } from '../../../src/terminal/picture/pictures.js';

const script = new URL('./dying-worker.ts', import.meta.url);
let open: Pictures[] = [];
afterEach(async () => {
  await Promise.all(open.map((pictures) => pictures.close()));
  open = [];
});

function studio(options: PicturesOptions = {}): Pictures {
  const pictures = new Pictures(options);
  open.push(pictures);
  return pictures;
}

function order(shown: string, { format = 'svg' as 'svg' | 'png', cols = 10, rows = 2 } = {}): PictureOrder {
  const fold = new Fold({ cols, rows });
  fold.output(1, Buffer.from(shown));
  const snapshot = fold.snapshot();
  fold.dispose();
  return { snapshot, format, theme: 'dark', title: '' };
}

const outcome = (picture: Promise<Uint8Array>): Promise<string> =>
  picture.then(
    () => 'drawn',
    ({ failure }) => failure,
  );

describe('pictures', () => {
  it('are drawn as SVG or PNG, twice as large', async () => {
    const pictures = studio();
    expect(Buffer.from(await pictures.draw('a', order('hello'))).toString()).toMatch(/^<svg .*hello.*<\/svg>\n$/s);
    const png = Buffer.from(await pictures.draw('b', order('b', { format: 'png' })));
    expect(png.subarray(1, 4).toString()).toBe('PNG');
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([160, 64]);
  });

  it('are drawn with the fonts of a folder where the own ones have no glyph, and with a box where none has', async () => {
    const fonts = mkdtempSync(path.join(tmpdir(), 'fonts-'));
    const bold = order('\u{1d400}', { format: 'png' });
    const withoutAny = await studio({ fonts }).draw('a', bold);
    copyFileSync('node_modules/dejavu-fonts-ttf/ttf/DejaVuMathTeXGyre.ttf', path.join(fonts, 'math.ttf'));
    const withOne = await studio({ fonts }).draw('a', bold);
    rmSync(fonts, { recursive: true });
    expect(Buffer.from(withOne).equals(withoutAny)).toBe(false);
    expect(Buffer.from(await studio({ fonts }).draw('a', bold)).equals(withoutAny)).toBe(true);
  });

  it('are drawn once for one key, for all who ask', async () => {
    const pictures = studio();
    const both = await Promise.all([pictures.draw('a', order('one')), pictures.draw('a', order('two'))]);
    expect(both[0]).toBe(both[1]);
    expect(await pictures.draw('a', order('three'))).toBe(both[0]);
  });

  it('are refused where too many wait already, and drawn again later', async () => {
    const pictures = studio();
    const asked = Array.from({ length: MAX_WAITING + 2 }, (_, n) => outcome(pictures.draw(`${n}`, order(`${n}`))));
    expect(await asked.at(-1)).toBe('busy');
    expect(await Promise.all(asked.slice(0, -1))).toEqual(asked.slice(0, -1).map(() => 'drawn'));
    expect(await outcome(pictures.draw('again', order('again')))).toBe('drawn');
  });

  it('end alone where they hang or stop their thread', async () => {
    const pictures = studio({ script, drawMs: 5000 });
    const asked = ['DIE', 'fine', 'HANG', 'fine too'].map((text) => outcome(pictures.draw(text, order(text))));
    expect(await Promise.all(asked)).toEqual(['failed', 'drawn', 'slow', 'drawn']);
  });

  it('say so where they are too large for a PNG', async () => {
    const large = { format: 'png', cols: 1024, rows: 200 } as const;
    await expect(studio().draw('a', order('a', large))).rejects.toThrow('it is too large, or has too many colours, for a PNG; ask for svg');
  });

  it('are not waited for when the gateway closes', async () => {
    const pictures = studio({ script });
    const asked = ['HANG', 'behind it'].map((text) => outcome(pictures.draw(text, order(text))));
    await pictures.close();
    expect(await Promise.all(asked)).toEqual(['busy', 'busy']);
    expect(await outcome(pictures.draw('late', order('late')))).toBe('busy');
  });
});
