// What has happened in a session, played on the page: at its pace, from any place, with the keyboard, on a phone, and by a link.
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { needs } from '../support/needs.js';
import { by, SIGHT_MS, sees, startSession, text, type, type Window } from './browser.js';
import { windows } from './windows.js';

const SCRIPT = "echo o''ne; sleep 0.6; echo t''wo; sleep 4; printf '\\033[44mth''ree\\033[0m\\n'; exit\n";
/** Milliseconds in which a step is drawn. */
const STEP_MS = 2000;
/** CSS pixels that are read with ease. */
const READABLE_PX = 12;
const PHONE = { width: 390, height: 844, touch: true };

const state = (page: Page) => by(page, 'playback').getAttribute('data-state');
const said = (page: Page, words: string | RegExp) => by(page, 'said').filter({ hasText: words }).waitFor();
const paused = (page: Page) => expect.poll(() => state(page), { timeout: SIGHT_MS }).toMatch(/paused|ended/);
/** The lines that the program printed. */
const printed = async (page: Page) => (await text(page)).split('\n').filter((line) => /^(one|two|three)$/.test(line));
const shows = (page: Page, lines: string[], timeout = SIGHT_MS) => expect.poll(() => printed(page), { timeout }).toEqual(lines);
/** Some step on the way shows them: whether one did is seen before the next is taken. */
const stepsTo = async (page: Page, key: string, lines: string[]) => {
  for (let n = 0; n < 3; n++) {
    await page.keyboard.press(key);
    const isThere = await shows(page, lines, STEP_MS).then(
      () => true,
      () => false,
    );
    if (isThere) return;
  }
  await shows(page, lines);
};

const momentOf = (page: Page) => new URL(page.url()).hash.slice(1);

needs('chromium')('the playback of a session', () => {
  const { open, token } = windows();

  /** The place of a session that has printed all this and ended. */
  let place: string;
  beforeAll(async () => {
    const ada = await open(token('ada'));
    await startSession(ada, 'Played <1>');
    await type(ada, SCRIPT);
    await sees(ada, /exit|ended/i);
    place = momentOf(ada);
  });
  const player = (who: string, t: string, window?: Window) => open(`${token(who, 'pty:observe')}&${place}&t=${t}`, window);

  it('shows it again at its pace, without the long waits, up to its end', async () => {
    const ada = await open(`${token('ada')}&${place}`);
    await by(ada, 'menu').click();
    await by(ada, 'replay').click();
    await by(ada, 'playback').waitFor();
    await by(ada, 'title').filter({ hasText: 'Played <1>' }).waitFor();
    await said(ada, 'The end.');
    await shows(ada, ['one', 'two', 'three']);
    expect(await by(ada, 'play').textContent()).toBe('Play');
    expect(await by(ada, 'position').getAttribute('aria-valuetext')).toMatch(/^0:\d\d of 0:\d\d, /);
    await by(ada, 'live').click();
    await by(ada, 'view').waitFor();
  });

  it('goes anywhere with the keyboard', async () => {
    const ada = await player('ada', '0.001');
    await paused(ada);
    await ada.keyboard.press('End');
    await shows(ada, ['one', 'two', 'three']);
    await ada.keyboard.press('Home');
    await shows(ada, []);
    await ada.keyboard.press('Shift+ArrowRight');
    await said(ada, /ada/);
    await ada.keyboard.press('End');
    await shows(ada, ['one', 'two', 'three']);
    await stepsTo(ada, ',', ['one', 'two']);
    await stepsTo(ada, '.', ['one', 'two', 'three']);
    await ada.keyboard.press('Home');
    await ada.keyboard.press('+');
    expect(await by(ada, 'speed').inputValue()).toBe('1.5');
    await ada.keyboard.press(' ');
    await said(ada, 'The end.');
  });

  it('finds what was printed, and gives a link to that moment', async () => {
    const ada = await player('ada', '0.001');
    await paused(ada);
    await ada.keyboard.press('/');
    await ada.keyboard.type('two');
    await ada.keyboard.press('Enter');
    await by(ada, 'hits').filter({ hasText: /of \d/ }).waitFor();
    // The typed line has it as well, in quotes that tell it apart; the printed one is the last.
    await shows(ada, ['one', 'two']);
    await expect.poll(() => momentOf(ada)).toMatch(/&t=\d+(\.\d+)?$/);
    const bob = await open(`${token('bob', 'pty:observe')}&${momentOf(ada)}`);
    await shows(bob, ['one', 'two']);
    await paused(bob);
    await ada.keyboard.press('Control+a');
    await ada.keyboard.type('nowhere at all');
    await ada.keyboard.press('Enter');
    await by(ada, 'hits').filter({ hasText: 'Not found' }).waitFor();
  });

  it('marks each place of what it has found, goes forth and back between them, and forgets them', async () => {
    const ada = await player('ada', '0.001');
    await paused(ada);
    await by(ada, 'find').fill('three');
    await ada.keyboard.press('Enter');
    const hits = (words: string) => by(ada, 'hits').filter({ hasText: words }).waitFor();
    const marked = () => ada.locator('.xterm-decoration-container > *').count();
    await hits('1 of');
    const count = Number((await by(ada, 'hits').textContent())?.split(' of ')[1]);
    await expect.poll(marked, { timeout: SIGHT_MS }).toBeGreaterThan(0);
    await by(ada, 'the-next-place').click();
    await hits(`${Math.min(2, count)} of ${count}`);
    await by(ada, 'the-place-before').click();
    await hits(`1 of ${count}`);
    await by(ada, 'find').focus();
    await ada.keyboard.press('Shift+Enter');
    await hits(`${count} of ${count}`);
    await by(ada, 'find').fill('');
    await expect.poll(marked).toBe(0);
    expect(await by(ada, 'the-next-place').isVisible()).toBe(false);
  });

  it('is downloaded as an asciicast', async () => {
    const ada = await player('ada', '0.001');
    await paused(ada);
    const [file] = await Promise.all([ada.waitForEvent('download'), by(ada, 'download').click()]);
    expect(file.suggestedFilename()).toBe('Played-1-.cast');
    expect(JSON.parse((await readFile(await file.path(), 'utf8')).split('\n')[0] ?? '')).toMatchObject({ version: 2, title: 'Played <1>' });
  });

  it('fits on a phone, where it is moved by a finger', async () => {
    const eve = await player('eve', '0.001', PHONE);
    await paused(eve);
    expect(await eve.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
    expect(await by(eve, 'readable').isChecked()).toBe(true);
    const fontPx = 'Number.parseFloat(getComputedStyle(document.querySelector(".xterm-rows")).fontSize)';
    await expect.poll(() => eve.evaluate(fontPx), { timeout: SIGHT_MS }).toBe(READABLE_PX);
    for (const id of ['play', 'speed', 'skip', 'find', 'position', 'live', 'download']) {
      const box = await by(eve, id).boundingBox();
      expect(box && box.x >= 0 && box.x + box.width <= PHONE.width && box.y + box.height <= PHONE.height, id).toBe(true);
    }
    const slider = await by(eve, 'position').boundingBox();
    if (slider) await eve.touchscreen.tap(slider.x + slider.width - 2, slider.y + slider.height / 2);
    await shows(eve, ['one', 'two', 'three']);
    await by(eve, 'play').tap();
    await said(eve, 'The end.');
  });

  it('says so where there is nothing to play', async () => {
    const ada = await open(`${token('ada')}&session=shell/0190f8c0-0000-7000-8000-000000000000&t=0`);
    await said(ada, /no such session/);
  });
});
