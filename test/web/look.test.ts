// How the page looks: nothing over another, nothing cut off that there is room for, nothing too pale. Knows no protocol.
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { light } from '../../src/terminal/palette.js';
import { needs } from '../support/needs.js';
import { by, SIGHT_MS, sees, startSession, type } from './browser.js';
import { windows } from './windows.js';

/** As far as WCAG 2 asks of text, level AA. */
const READABLE_CONTRAST = 4.5;
/** Room for a title of a dozen letters at least, in CSS pixels. */
const PHONE_TITLE_PX = 110;
const PALE = String.raw`printf '\033[38;5;225mpale-%s\033[0m\n' text`;

/** How far the letters of each face in view are from its middle. */
const OFF_CENTRE = `[...document.querySelectorAll('.faces .face')].map((face) => {
  const letters = document.createRange();
  letters.selectNodeContents(face);
  const [text, box] = [letters.getBoundingClientRect(), face.getBoundingClientRect()];
  return Math.abs(text.left + text.width / 2 - box.left - box.width / 2);
})`;
/** How much of the name of who is signed in there is no room for. */
const CUT_OFF = `(() => { const who = document.querySelector('[data-testid=who]'); return who.scrollWidth - who.clientWidth; })()`;
/** What is in view of each bar: where it begins and ends, from the left. */
const BARS = `[...document.querySelectorAll('.bar')].filter((bar) => bar.checkVisibility()).map((bar) => [...bar.children].flatMap((part) =>
  part.matches('.heading') ? [...part.children].filter((line) => line.matches('h1')) : part)
  .map((part) => part.getBoundingClientRect()).filter(({ width }) => width > 0).map(({ left, right }) => [left, right]))`;
/** The contrast of the text in the terminal that begins so, to this ground. */
const contrast = (page: Page, start: string, ground: string) =>
  page.evaluate(
    `(() => {
    const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
      .reduce((sum, v, n) => sum + v * [0.2126, 0.7152, 0.0722][n], 0);
    const text = [...document.querySelectorAll('.xterm-rows span')].find((span) => span.textContent.startsWith(${JSON.stringify(start)}));
    if (!text) return 0;
    const ground = ${JSON.stringify(ground)}.match(/[0-9a-f]{2}/g).map((hex) => Number.parseInt(hex, 16));
    const [a, b] = [light(getComputedStyle(text).color.match(/\\d+/g).map(Number)), light(ground)];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  })()`,
  );

needs('chromium')('the page, as it looks', () => {
  const { open, token, proxy } = windows();

  it('has the letters of each face in its middle, and the whole name of who is signed in', async () => {
    const ada = await open(token('ada.lovelace'));
    await startSession(ada, 'Faces');
    for (const off of (await ada.evaluate(OFF_CENTRE)) as number[]) expect(off).toBeLessThan(1);
    expect(await by(ada, 'who').textContent()).toBe('Signed in as ada.lovelace');
    expect(await ada.evaluate(CUT_OFF)).toBe(0);
  });

  it('darkens pale text on a light page until it can be read', async () => {
    const ada = await open(token('ada'));
    await startSession(ada, 'Pale');
    await ada.emulateMedia({ colorScheme: 'light' });
    await type(ada, `${PALE}\n`);
    const seen = () => contrast(ada, 'pale-text', light.background);
    await expect.poll(seen, { timeout: SIGHT_MS }).toBeGreaterThanOrEqual(READABLE_CONTRAST);
  });

  it('has the controls of a playback side by side where there is room', async () => {
    const ada = await open(token('ada'));
    await startSession(ada, 'Played');
    await by(ada, 'menu').click();
    await by(ada, 'replay').click();
    await by(ada, 'playback').waitFor();
    const [play, speed] = await Promise.all(['play', 'speed'].map((id) => by(ada, id).boundingBox()));
    expect(Math.abs((play?.y ?? 0) - (speed?.y ?? 99))).toBeLessThan(5);
    expect(await by(ada, 'tab').allTextContents()).toEqual(['Played✕', 'History: Played✕']);
  });

  it('leaves most of a title on a phone that is offline', async () => {
    const ada = await open(token('ada'), { width: 390, height: 844, touch: true }, proxy().port);
    await startSession(ada, 'A title of some length');
    await proxy().cut();
    await by(ada, 'retry').waitFor();
    const room = await ada.evaluate('document.querySelector("h1").getBoundingClientRect().width');
    expect(room).toBeGreaterThan(PHONE_TITLE_PX);
    await sees(ada, 'Offline');
  });

  it('has a title in every bar and nothing over another, however narrow its tile', async () => {
    const ada = await open(token('ada'));
    await startSession(ada, 'One of these');
    await startSession(ada, 'Two of these');
    await by(ada, 'tile-2').click();
    for (const width of [1280, 800, 640, 390, 320]) {
      await ada.setViewportSize({ width, height: 640 });
      expect(((await ada.evaluate(BARS)) as unknown[]).length, `bars at ${width}`).toBe(width < 640 ? 1 : 2);
      for (const parts of (await ada.evaluate(BARS)) as [number, number][][]) {
        const title = parts.find(([left, right]) => right - left >= 30);
        expect(title, `a title at ${width}`).toBeDefined();
        for (const [n, [left]] of parts.entries())
          expect(left, `part ${n} at ${width}`).toBeGreaterThanOrEqual((parts[n - 1]?.[1] ?? 0) - 0.5);
      }
    }
    await ada.setViewportSize({ width: 1280, height: 800 });
    await by(ada, 'tile-1').click();
    await ada.reload();
    await sees(ada, 'Live');
    await expect.poll(() => by(ada, 'tab').allTextContents(), { timeout: SIGHT_MS }).toEqual(['One of these✕', 'Two of these✕']);
  });
});
