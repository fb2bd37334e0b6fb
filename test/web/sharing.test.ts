// A link to watch, from the page that makes it to the page of one who has it.
import { expect, it } from 'vitest';
import { needs } from '../support/needs.js';
import { by, sees, shows, startSession, type } from './browser.js';
import { windows } from './windows.js';

needs('chromium')('a link to watch', () => {
  const { open, token } = windows();
  const fragment = (url: string) => new URL(url).hash.slice(1);

  it('is made, copied, used by somebody without a token, and revoked under their eyes', async () => {
    const ada = await open(token('ada'));
    await ada.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await startSession(ada, 'Shared');
    await by(ada, 'share-button').click();
    await by(ada, 'share-label').fill('Bob');
    await by(ada, 'share-ttl').selectOption('15 minutes');
    await by(ada, 'share-make').click();
    await by(ada, 'share-line').filter({ hasText: 'Bob' }).filter({ hasText: 'ada made it · ends in 15 min' }).waitFor();
    await by(ada, 'share-copy').click();
    await by(ada, 'share-word').filter({ hasText: 'The link is copied.' }).waitFor();
    const url = await by(ada, 'share-url').inputValue();
    expect(await ada.evaluate('navigator.clipboard.readText()')).toBe(url);
    await ada.keyboard.press('Escape');
    await by(ada, 'share').waitFor({ state: 'detached' });
    await type(ada, 'echo shared-$((40+2))\n');

    const guest = await open(fragment(url));
    await sees(guest, 'Live');
    await shows(guest, 'shared-42');
    expect(fragment(guest.url())).not.toContain('token');
    for (const id of ['role', 'share-button', 'new-shell']) expect(await by(guest, id).isVisible(), id).toBe(false);
    await by(ada, 'presence').click();
    await by(ada, 'person').filter({ hasText: 'guest Bob' }).filter({ hasText: 'watches' }).waitFor();

    await by(ada, 'share-button').click();
    await by(ada, 'share-revoke').click();
    await by(guest, 'refused').filter({ hasText: 'This link is good no longer' }).waitFor();
    await sees(guest, 'Not connected');
    expect(await by(guest, 'notice').isVisible()).toBe(false);
    await by(await open(fragment(url)), 'refused')
      .filter({ hasText: 'This link is good no longer' })
      .waitFor();
    await expect.poll(() => by(ada, 'share-line').count()).toBe(0);
  });
});
