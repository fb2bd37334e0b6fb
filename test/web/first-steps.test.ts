// The first minute on the page, and coming back to it: what is open, who is signed in, and what stays when the gateway does not.
import { expect, it } from 'vitest';
import { needs } from '../support/needs.js';
import { startGateway } from '../support/running-gateway.js';
import { by, SIGHT_MS, sees, shows, text, type } from './browser.js';
import { windows } from './windows.js';

/** Its token alone, as a fragment has it. */
const fragment = (invitation: string) => `token=${new URLSearchParams(new URL(invitation).hash.slice(1)).get('token')}`;

needs('chromium')('the first minute', () => {
  const { open, join, tab, token } = windows();

  it('lands in a live shell, and the same URL in a second window watches the same shell', async () => {
    const url = `${token('ada')}&open=shell`;
    const first = await open(url);
    await sees(first, 'Live');
    await shows(first, '$ ');
    expect(new URL(first.url()).hash).toMatch(/^#session=shell\/[\w-]+$/);
    await type(first, 'echo one-$((40+2))\n');
    await shows(first, 'one-42');
    const second = await open(url);
    await sees(second, 'Live');
    await shows(second, 'one-42');
    expect(second.url()).toBe(first.url());
    await by(second, 'notice').filter({ hasText: 'You are watching. ada (elsewhere) has control.' }).waitFor();
    await type(first, 'exit\n');
    await sees(first, 'Ended: exit 0');
    const third = await open(url);
    await sees(third, 'Live');
    expect(third.url()).not.toBe(first.url());
    await type(third, 'exit\n');
    await sees(third, 'Ended: exit 0');
  });

  it('says so when the agent to be opened is not there', async () => {
    const page = await open(`${token('ada')}&open=nobody`);
    await by(page, 'welcome-word').filter({ hasText: 'There is no such agent' }).waitFor();
    expect(new URL(page.url()).hash).toBe('');
  });

  it('offers in the middle what may be started, and opens it with one click', async () => {
    const page = await open(token('ada'));
    await by(page, 'start-shell').click();
    await sees(page, 'Live');
    await type(page, 'exit\n');
    await sees(page, 'Ended: exit 0');
  });

  it('signs a second tab in with what the first one has, and a signed-out one not', async () => {
    const first = await open(`${token('ada')}&open=shell`);
    await sees(first, 'Live');
    const second = await tab(first.context(), new URL(first.url()).hash.slice(1));
    await sees(second, 'Live');
    await by(second, 'sign-out').click();
    await by(second, 'token').waitFor();
    await second.reload();
    await by(second, 'token').waitFor();
    expect(await by(second, 'command').textContent()).toBe('npx pty-gateway token --scope pty:control --sub NAME');
    await sees(first, 'Live');
    await type(first, 'exit\n');
    await sees(first, 'Ended: exit 0');
  });

  it('keeps the screen when the gateway is started anew, and goes on with the URL that it prints then', { timeout: 60_000 }, async () => {
    const before = await startGateway({ DRAIN_SECONDS: '0' });
    const here = `http://127.0.0.1:${before.port}`;
    const page = await open(`${fragment(before.invitation)}&open=shell`, undefined, before.port);
    await sees(page, 'Live');
    await type(page, 'echo kept-$((40+2))\n');
    await shows(page, 'kept-42');
    await before.stop();
    const after = await startGateway({ DRAIN_SECONDS: '0', PORT: String(before.port), PUBLIC_URL: here });
    try {
      await by(page, 'refused').filter({ hasText: 'started anew? Then open the URL that it prints now' }).waitFor();
      expect(await text(page)).toContain('kept-42');
      const other = await page.context().newPage();
      await other.goto(`${here}/#${fragment(after.invitation)}&open=shell`);
      await sees(other, 'Live');
      await by(page, 'refused').waitFor({ state: 'detached' });
    } finally {
      await after.stop();
    }
  });

  it('scrolls back over what was printed before one came', async () => {
    const ada = await open(`${token('ada')}&open=shell`, { width: 1000, height: 500 });
    await sees(ada, 'Live');
    await type(ada, 'seq -f "line %g." 300; echo end-$((40+2))\n');
    await shows(ada, 'end-42');
    const bob = await join(ada, token('bob'), '&role=observer', { width: 1000, height: 500 });
    await shows(bob, 'end-42');
    for (const page of [bob, ada]) {
      if (page === ada) await page.reload();
      await sees(page, 'Live');
      await shows(page, 'end-42');
      for (let pages = 0; pages < 30; pages++) await page.keyboard.press('Shift+PageUp');
      await shows(page, /line 2\./);
    }
    await type(ada, 'exit\n');
    await expect.poll(() => by(ada, 'state').textContent(), { timeout: SIGHT_MS }).toBe('Ended: exit 0');
  });
});
