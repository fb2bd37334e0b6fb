// The page for everyone: no serious fault that axe-core finds in any view, light or dark; keys alone; a small first load.
import { gzipSync } from 'node:zlib';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { needs } from '../support/needs.js';
import { by, sees, shows, startSession, text, type } from './browser.js';
import { windows } from './windows.js';

/** Most bytes, gzipped, that the page loads before anything is asked of it. */
const FIRST_LOAD_BYTES = 300_000;

interface Fault {
  readonly id: string;
  readonly impact: string;
  readonly nodes: ReadonlyArray<{ readonly html: string; readonly failureSummary: string }>;
}

/** What has the focus, and how it is outlined. */
const RING = '[document.activeElement.dataset.testid, getComputedStyle(document.activeElement).outlineStyle]';

/** The cells of the terminal have the colours that its program gave them. */
async function faults(page: Page, where: string): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{ violations: Fault[] }>('axe.run({ exclude: [[".xterm-rows"]] })');
  const grave = violations.filter(({ id, impact }) => ['serious', 'critical'].includes(impact) || /^(landmark|page-has-heading)/.test(id));
  return grave.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${where}: ${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}

needs('chromium')('the page', () => {
  const { open, token, gateway } = windows();

  it.each(['dark', 'light'] as const)(
    'has no serious fault for those who cannot see it well, in any view (%s)',
    { timeout: 120_000 },
    async (scheme) => {
      const found: string[] = [];
      const look = async (page: Page, where: string) => {
        await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
        found.push(...(await faults(page, where)));
      };
      const nobody = await open('');
      await by(nobody, 'token').waitFor();
      await look(nobody, 'sign in');
      const ada = await open(token('ada', 'pty:admin'));
      await by(ada, 'start-shell').waitFor();
      await by(ada, 'new-shell').click();
      await look(ada, 'lobby');
      await by(ada, 'new-shell').click();
      await startSession(ada, 'One');
      await look(ada, 'session');
      await by(ada, 'menu').click();
      await look(ada, 'menu');
      await by(ada, 'settings-open').click();
      await look(ada, 'settings');
      await ada.keyboard.press('Escape');
      await by(ada, 'share-button').click();
      await by(ada, 'share-make').click();
      await by(ada, 'share-line').waitFor();
      await look(ada, 'share');
      await ada.keyboard.press('Escape');
      await by(ada, 'presence').click();
      await look(ada, 'people');
      await ada.keyboard.press('Control+Shift+F');
      await startSession(ada, 'One');
      await by(ada, 'tile-2').click();
      await look(ada, 'tiles');
      const phone = await open(token('bob'), { width: 390, height: 844, touch: true });
      await by(phone, 'start-shell').waitFor();
      await look(phone, 'lobby on a phone');
      await by(phone, 'start-shell').click();
      await sees(phone, 'Live');
      await look(phone, 'session on a phone');
      expect(found).toEqual([]);
    },
  );

  it('is used by keys alone: a session started, its buttons reached, the list of keys opened and closed', async () => {
    const ada = await open(token('ada'));
    await by(ada, 'start-shell').focus();
    await ada.keyboard.press('Enter');
    await sees(ada, 'Live');
    await type(ada, 'echo typed-$((40+2))?\n');
    await shows(ada, 'typed-42?');
    expect(await by(ada, 'shortcuts').count()).toBe(0);
    await ada.keyboard.press('Control+Shift+ArrowUp');
    await ada.keyboard.press('?');
    await by(ada, 'shortcuts').filter({ hasText: 'search in what was printed' }).filter({ hasText: 'five seconds back, on' }).waitFor();
    await ada.keyboard.press('Escape');
    await by(ada, 'shortcuts').waitFor({ state: 'detached' });
    const outline = 'getComputedStyle(document.activeElement).outlineStyle';
    expect(await ada.evaluate(outline)).toBe('solid');
  });

  it.each([
    { name: 'a mouse', window: { width: 1280, height: 800 } },
    { name: 'a finger', window: { width: 390, height: 844, touch: true } },
  ])('rings what Ctrl Shift ↑ and Ctrl Shift → lead to also for one who used $name before', async ({ window }) => {
    const ada = await open(token('ada'), window);
    await startSession(ada, 'Ringed');
    const point = ada.locator('.xterm-screen');
    const ring = () => ada.evaluate(RING);
    await (window.touch ? point.tap() : point.click());
    await ada.keyboard.press('Control+Shift+ArrowUp');
    expect(await ring()).toEqual(['role', 'solid']);
    await by(ada, 'menu').click();
    await by(ada, 'replay').click();
    await by(ada, 'playback').waitFor();
    await ada.keyboard.press('Control+Shift+ArrowLeft');
    await sees(ada, 'Live');
    await ada.keyboard.press('Control+Shift+ArrowRight');
    await expect.poll(ring).toEqual(['play', 'solid']);
    await by(ada, 'play').click();
    expect(await ada.evaluate('"keys" in document.documentElement.dataset')).toBe(false);
  });

  it('tells the terminal to a screen reader, if that is chosen', async () => {
    const ada = await open(token('ada'));
    await startSession(ada, 'Read');
    await by(ada, 'menu').click();
    await by(ada, 'settings-open').click();
    await by(ada, 'setting-screenReader').check();
    await ada.keyboard.press('Escape');
    await ada.locator('.xterm-screen').click();
    await type(ada, 'echo read-$((40+2))\n');
    await ada.locator('.xterm-accessibility').filter({ hasText: 'read-42' }).waitFor({ state: 'attached' });
  });

  it('gives a phone Ctrl, Alt and what was copied, and takes its keys away when the session ends', async () => {
    const phone = await open(token('bob'), { width: 390, height: 844, touch: true });
    await phone.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await startSession(phone, 'On the road');
    expect(await phone.evaluate('getComputedStyle(document.querySelector(".xterm-helper-textarea")).fontSize')).toBe('16px');
    await type(phone, 'cat -v\n');
    await phone.evaluate('navigator.clipboard.writeText("pasted-42")');
    await by(phone, 'key-paste').click();
    await shows(phone, 'pasted-42');
    await by(phone, 'key-alt').click();
    await type(phone, 'b');
    await by(phone, 'key-alt').click();
    await by(phone, 'key-ctrl').click();
    await by(phone, 'key-arrow-left').click();
    await type(phone, '|\n');
    await shows(phone, 'pasted-42^[b^[[1;7D|');
    await by(phone, 'key-ctrl').click();
    await type(phone, 'd');
    await expect.poll(() => text(phone)).toMatch(/\$$/m);
    await type(phone, 'exit\n');
    await sees(phone, 'Ended: exit 0');
    await by(phone, 'key-bar').waitFor({ state: 'hidden' });
  });

  it(`loads at most ${FIRST_LOAD_BYTES / 1000} kB at first, gzipped`, async () => {
    const page = await open('');
    await by(page, 'token').waitFor();
    const base = `http://127.0.0.1:${gateway().port}/`;
    const loaded = await page.evaluate<string[]>('performance.getEntriesByType("resource").map(({ name }) => name)');
    const parts = await Promise.all([base, ...loaded].map(async (url) => gzipSync(await (await fetch(url)).arrayBuffer()).length));
    const total = parts.reduce((sum, part) => sum + part, 0);
    expect(total).toBeGreaterThan(50_000);
    expect(total).toBeLessThan(FIRST_LOAD_BYTES);
  });
});
