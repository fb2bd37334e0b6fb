// What the page reads and says by itself: settings, addresses, figures, times.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CatchingUp } from '../../web/src/session/catching-up.js';
import { inBytes } from '../../web/src/session/readout.js';
import { MAX_FONT_PX, MIN_FONT_PX, readSettings } from '../../web/src/settings/choices.js';
import { ago, until } from '../../web/src/shared/times.js';
import { imageIn, MAX_IMAGE_BYTES } from '../../web/src/terminal/image-file.js';
import { openable } from '../../web/src/terminal/links.js';

describe('settings', () => {
  it('are whole and within bounds, whatever the browser kept', () => {
    const usual = readSettings(null);
    const anything = fc.oneof(
      fc.string(),
      fc.json(),
      fc.record({ fontPx: fc.double(), font: fc.string(), theme: fc.string() }).map((given) => JSON.stringify(given)),
    );
    fc.assert(
      fc.property(anything, (text) => {
        const read = readSettings(text);
        expect(Object.keys(read)).toEqual(Object.keys(usual));
        expect(read.fontPx === 0 || (read.fontPx >= MIN_FONT_PX && read.fontPx <= MAX_FONT_PX)).toBe(true);
        expect(read.font).not.toMatch(/["';{}\\]/);
        expect(readSettings(JSON.stringify(read))).toEqual(read);
      }),
    );
  });
});

describe('a link in a terminal', () => {
  it('is opened if it leads to the web, and nowhere else', () => {
    expect(openable('https://example.com/a?b#c')).toBe('https://example.com/a?b#c');
    for (const text of [
      'javascript:alert(1)',
      'JavaScript:alert(1)',
      ' javascript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      '/a',
      '',
    ]) {
      expect(openable(text), text).toBeUndefined();
    }
    fc.assert(fc.property(fc.oneof(fc.webUrl(), fc.string()), (text) => /^https?:/.test(openable(text) ?? 'https:')));
  });
});

describe('an image that is printed', () => {
  const png = (width: number, height: number): Buffer => {
    const head = Buffer.from('89504e470d0a1a0a0000000d494844520000000000000000', 'hex');
    head.writeUInt32BE(width, 16);
    head.writeUInt32BE(height, 20);
    return head;
  };
  const jpeg = Buffer.from('ffd8ffe000044a46ffc000110800c80140030122', 'hex');
  const printed = (bytes: Buffer, head = 'File=inline=1') => imageIn(`${head}:${bytes.toString('base64')}`);

  it('is told by what its file says of itself', () => {
    expect(printed(png(320, 200))).toMatchObject({ type: 'image/png', width: 320, height: 200 });
    expect(printed(Buffer.from('GIF89a\x40\x01\xc8\x00', 'latin1'))).toMatchObject({ type: 'image/gif', width: 320, height: 200 });
    expect(printed(jpeg)).toMatchObject({ type: 'image/jpeg', width: 320, height: 200 });
    expect(printed(png(1, 1), 'File=name=eA==;inline=1;width=3')).toBeDefined();
  });

  it('is none if it is too large, not to be shown inline, or of another kind', () => {
    for (const [width, height] of [
      [0, 1],
      [16_000_001, 1],
      [0xffffffff, 0xffffffff],
    ] as const)
      expect(printed(png(width, height)), `${width}×${height}`).toBeUndefined();
    expect(printed(png(1, 1), 'File=name=eA==')).toBeUndefined();
    expect(printed(png(1, 1), 'File=inline=0')).toBeUndefined();
    expect(printed(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'))).toBeUndefined();
    expect(printed(Buffer.concat([png(1, 1), Buffer.alloc(MAX_IMAGE_BYTES)]))).toBeUndefined();
  });

  it('is none, and throws nothing, whatever else is printed', () => {
    const starts = fc.constantFrom('89504e47', '47494638', 'ffd8ff', 'ffd8ffc0', 'ffd8ffe00000', '');
    const bytes = fc
      .tuple(starts, fc.uint8Array({ maxLength: 40 }))
      .map(([start, rest]) => Buffer.concat([Buffer.from(start, 'hex'), rest]));
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          bytes.map((all) => `File=inline=1:${all.toString('base64')}`),
        ),
        (payload) => {
          const { width = 1, height = 1 } = imageIn(payload) ?? {};
          expect(width * height).toBeLessThanOrEqual(16_000_000);
        },
      ),
    );
  });
});

describe('words for figures', () => {
  it('tell bytes in three figures at most', () => {
    expect([0, 999, 1000, 1234, 999_000, 1_500_000].map(inBytes)).toEqual(['0 B', '999 B', '1.0 kB', '1.2 kB', '999 kB', '1.5 MB']);
  });

  it('tell how long ago it was, and how long it will be', () => {
    const minutes = [0, 1, 59, 60, 47 * 60, 48 * 60];
    expect(minutes.map((n) => ago(0, n * 60_000))).toEqual(['just now', '1 min', '59 min', '1 h', '47 h', '2 d']);
    expect(minutes.map((n) => until(n * 60_000, 0))).toEqual(['over', '1 min', '59 min', '1 h', '47 h', '2 d']);
  });
});

describe('what was caught up', () => {
  it('is told after a cut, and only if nothing was lost', () => {
    const caughtUp = new CatchingUp();
    caughtUp.came(5000);
    expect(caughtUp.back()).toBeUndefined();
    caughtUp.cut();
    caughtUp.came(2000);
    caughtUp.cut();
    caughtUp.came(500);
    expect(caughtUp.back()).toBe('Connected again. 2.5 kB were caught up: nothing is missing.');
    caughtUp.cut();
    expect(caughtUp.back()).toBe('Connected again. Nothing was printed meanwhile.');
    caughtUp.cut();
    caughtUp.lost();
    expect(caughtUp.back()).toBeUndefined();
  });
});
