// What one does with a session beside typing: search it, follow its links, and have it as one likes it.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { needs } from '../support/needs.js';
import { by, drawn, SIGHT_MS, sees, shows, startSession, text, type } from './browser.js';
import { windows } from './windows.js';

const RENDERER = 'document.querySelector(".xterm").dataset.renderer';
/** A PNG of more than 100 kB, red at its left edge, in base64. */
const IMAGE = `(() => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 300, height: 200 });
  const ink = canvas.getContext('2d');
  const pixels = ink.createImageData(300, 200);
  pixels.data.forEach((_, at) => { pixels.data[at] = at % 4 === 3 ? 255 : Math.random() * 256; });
  ink.putImageData(pixels, 0, 0);
  ink.fillStyle = 'rgb(250, 0, 0)';
  ink.fillRect(0, 0, 20, 200);
  return canvas.toDataURL('image/png').split(',')[1];
})()`;
/** The left edge of the image that is shown, and how far its right edge is from the terminal's. */
const SHOWN = `(() => {
  const canvas = document.querySelector('.inline-image canvas');
  const right = (element) => element.getBoundingClientRect().right;
  return { red: [...canvas.getContext('2d').getImageData(5, 100, 1, 1).data], off: right(document.querySelector('.xterm-screen')) - right(canvas) };
})()`;
const GROUND = 'getComputedStyle(document.body).backgroundColor';

needs('chromium')('a session', () => {
  const { gateway, open, token, proxy } = windows();

  it('is searched in what was scrolled out of it', async () => {
    const ada = await open(token('ada'), { width: 1000, height: 500 });
    await startSession(ada, 'Searched');
    await type(ada, 'seq -f "line %g." 300; echo end-$((40+2))\n');
    await shows(ada, 'end-42');
    await ada.keyboard.press('Control+Shift+F');
    await by(ada, 'search').fill('line 17.');
    await by(ada, 'search-count').filter({ hasText: '1 of 1' }).waitFor();
    await shows(ada, 'line 17.');
    await by(ada, 'search').fill('no such words');
    await by(ada, 'search-count').filter({ hasText: 'not found' }).waitFor();
    await ada.keyboard.press('Escape');
    await type(ada, 'echo typed-$((40+2))\n');
    await shows(ada, 'typed-42');
  });

  it('shows an image that a program prints where that is wanted alone, and moves no text by it', async () => {
    const ada = await open(token('ada'));
    const image = (await ada.evaluate(IMAGE)) as string;
    expect(image.length).toBeGreaterThan(100_000);
    writeFileSync(path.join(gateway().folder, 'image'), `\x1b]1337;File=inline=1;size=1:${image}\x07\n`);
    await startSession(ada, 'Images');
    const printed = async () => {
      await type(ada, 'clear; cat image; echo end-$((40+2))\n');
      await expect.poll(() => text(ada), { timeout: SIGHT_MS }).toMatch(/^\nend-42\n\$$/m);
      return text(ada);
    };
    const without = await printed();
    expect(await ada.locator('canvas').count()).toBe(0);
    await by(ada, 'settings').click();
    await by(ada, 'setting-images').check();
    await ada.keyboard.press('Escape');
    await ada.locator('.xterm[data-images=shown]').waitFor();
    await ada.locator('.xterm-helper-textarea').focus();
    await type(ada, 'clear\n');
    await expect.poll(() => text(ada), { timeout: SIGHT_MS }).toMatch(/^\$\n/);
    expect(await printed()).toBe(without);
    await ada.locator('.inline-image canvas').waitFor();
    const { red, off } = (await ada.evaluate(SHOWN)) as { red: number[]; off: number };
    expect(red).toEqual([250, 0, 0, 255]);
    expect(Math.abs(off)).toBeLessThan(1);
    await by(ada, 'settings').click();
    await by(ada, 'setting-images').uncheck();
    await expect.poll(() => ada.locator('canvas').count()).toBe(0);
  });

  it('opens a link after a word that shows where it leads, and no link that is a script', async () => {
    const ada = await open(token('ada'));
    await startSession(ada, 'Links');
    const asked: string[] = [];
    ada.on('dialog', (dialog) => {
      asked.push(dialog.message());
      void dialog.dismiss();
    });
    await type(
      ada,
      String.raw`clear; printf '\e]8;;javascript:alert(1)\e\\script\e]8;;\e\\ \e]8;;http://127.0.0.1:9/marked\e\\marked\e]8;;\e\\ http://127.0.0.1:9/plain\n'; echo end-$((40+2))` +
        '\n',
    );
    await shows(ada, 'end-42');
    const cell = await ada.evaluate<{ width: number; height: number }>(
      '(() => { const { width, height } = document.querySelector(".xterm-rows > div").getBoundingClientRect(); return { width, height }; })()',
    );
    const cols = Number((await by(ada, 'size').textContent())?.split(' ')[0]);
    const at = (col: number) => ({ x: (cell.width / cols) * (col + 0.5), y: cell.height / 2 });
    const click = async (col: number) => {
      await ada.locator('.xterm-screen').hover({ position: at(col) });
      await drawn(ada);
      await ada.locator('.xterm-screen').click({ position: at(col) });
    };
    await click(2);
    await click('script '.length + 2);
    await expect.poll(() => asked.length, { timeout: SIGHT_MS }).toBe(1);
    await click('script marked '.length + 2);
    await expect.poll(() => asked.length, { timeout: SIGHT_MS }).toBe(2);
    expect(asked[0]).toContain('http://127.0.0.1:9/marked');
    expect(asked[1]).toContain('http://127.0.0.1:9/plain');
  });

  it('tells after a cut what was caught up', async () => {
    const ada = await open(token('ada'), undefined, proxy().port);
    await startSession(ada, 'Cut');
    await type(ada, 'sleep 1; seq 1000; echo end-$((40+2))\n');
    proxy().cut();
    await sees(ada, /Offline/);
    proxy().mend();
    await shows(ada, 'end-42');
    await by(ada, 'notice').filter({ hasText: 'Connected again.' }).waitFor();
  });

  it('is shown as the visitor chose, here and after a reload', async () => {
    const ada = await open(token('ada'));
    await startSession(ada, 'Chosen');
    const before = await ada.evaluate(GROUND);
    const size = await by(ada, 'size').textContent();
    await by(ada, 'menu').click();
    await by(ada, 'settings-open').click();
    await by(ada, 'setting-theme').selectOption('light');
    await by(ada, 'setting-fontPx').fill('20');
    await by(ada, 'setting-copyOnSelect').check();
    await ada.keyboard.press('Escape');
    await expect.poll(() => by(ada, 'size').textContent(), { timeout: SIGHT_MS }).not.toBe(size);
    await ada.reload();
    await sees(ada, 'Live');
    expect(await ada.evaluate(GROUND)).not.toBe(before);
    await ada.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await type(ada, 'clear; echo word-$((40+2))\n');
    await shows(ada, 'word-42');
    await ada.locator('.xterm-screen').dblclick({ position: { x: 12, y: 8 } });
    await expect.poll(() => ada.evaluate('navigator.clipboard.readText()'), { timeout: SIGHT_MS }).toBe('word-42');
  });

  it('is shown as the visitor chose while it was not in view', async () => {
    const ada = await open(token('ada'), { width: 390, height: 844 });
    await startSession(ada, 'Elsewhere');
    await ada.locator('a.back').click();
    await by(ada, 'settings').click();
    const [loaded] = await Promise.all([ada.waitForResponse(/inline-images/), by(ada, 'setting-images').check()]);
    await loaded.finished();
    await ada.keyboard.press('Escape');
    await ada.getByRole('link', { name: /^Elsewhere/ }).click();
    await ada.locator('.xterm[data-images=shown]').waitFor();
  });

  it('goes on as text when the graphics hardware lets go of it', async () => {
    const ada = await open(token('ada'));
    await startSession(ada, 'Drawn');
    expect(await ada.evaluate(RENDERER)).not.toBe('webgl');
    await by(ada, 'menu').click();
    await by(ada, 'settings-open').click();
    await by(ada, 'setting-renderer').selectOption('webgl');
    await expect.poll(() => ada.evaluate(RENDERER), { timeout: SIGHT_MS }).toBe('webgl');
    await ada.keyboard.press('Escape');
    const lose =
      'for (const c of document.querySelectorAll(".xterm canvas")) c.getContext("webgl2")?.getExtension("WEBGL_lose_context").loseContext()';
    await ada.evaluate(lose);
    await expect.poll(() => ada.evaluate(RENDERER), { timeout: SIGHT_MS }).toBe('dom');
    await ada.locator('.xterm-screen').click();
    await type(ada, 'echo text-$((40+2))\n');
    await shows(ada, 'text-42');
  });
});
