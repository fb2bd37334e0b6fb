// What there is, and several sessions at once.
import { expect, it } from 'vitest';
import { needs } from '../support/needs.js';
import { by, SIGHT_MS, sees, shows, startSession, type } from './browser.js';
import { windows } from './windows.js';

const ACTIVE = 'document.activeElement?.closest(".view")?.getAttribute("aria-label")';

needs('chromium')('the lobby', () => {
  const { open, token, gateway } = windows();
  const fragment = (session: { session_id: string }) => `&session=shell/${session.session_id}`;
  const begin = async (body: object) => {
    const answer = await fetch(`http://127.0.0.1:${gateway().port}/agents/shell/sessions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token('maker').replace('token=', '')}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as { session_id: string };
  };

  it('shows what runs in small pictures, with what is to be known of it, and finds it by what is typed', async () => {
    const plain = await begin({ label: 'Plain' });
    const hidden = await begin({ label: 'Hidden', secrets: ['a secret of the test'] });
    const ada = await open(token('ada'));
    const card = ({ session_id }: { session_id: string }) => by(ada, `card-${session_id}`);
    await card(plain).locator('[data-state=fresh] img').waitFor();
    await card(plain).filter({ hasText: 'nobody here: who opens it has control' }).waitFor();
    await card(hidden).filter({ hasText: 'sensitive' }).waitFor();
    await by(ada, 'filter').fill('hid');
    await card(plain).waitFor({ state: 'detached' });
    await by(ada, `session-${plain.session_id}`).waitFor({ state: 'detached' });
    expect(await by(ada, `session-${hidden.session_id}`).isVisible()).toBe(true);
    await by(ada, 'filter').fill('nothing of that name');
    await ada.getByText('None that match.').waitFor();
    await by(ada, 'filter').fill('');
    await card(plain).click();
    await sees(ada, 'Live');
  });

  it('says that a picture is on its way, and that there is none', async () => {
    const plain = await begin({ label: 'Late' });
    const ada = await open('');
    let answer = () => {};
    const asked = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await ada.route(/format=svg/, async (route) => {
      await asked;
      await route.abort();
    });
    await ada.evaluate(`location.hash = ${JSON.stringify(token('ada'))}`);
    const card = by(ada, `card-${plain.session_id}`);
    await card.getByText('The picture is coming…').waitFor();
    answer();
    await card.getByText('There is no picture now').waitFor();
    await ada.unroute(/format=svg/);
    await card.locator('[data-state=fresh] img').waitFor();
  });

  it('opens several sessions as tabs and tiles, moves between them by keys, and has them after a reload', async () => {
    const first = await begin({ label: 'First' });
    const second = await begin({ label: 'Second' });
    const ada = await open(token('ada') + fragment(first));
    await sees(ada, 'Live');
    await ada.evaluate(`location.hash = ${JSON.stringify(fragment(second).slice(1))}`);
    await by(ada, 'title').filter({ hasText: 'Second' }).waitFor();
    await sees(ada, 'Live');
    expect(await by(ada, 'tab').allTextContents()).toEqual(['First✕', 'Second✕']);

    await by(ada, 'tile-2').click();
    await expect.poll(() => by(ada, 'state').allTextContents(), { timeout: SIGHT_MS }).toEqual(['Live', 'Live']);
    expect(await ada.evaluate(ACTIVE)).toBe('Second');
    await ada.keyboard.press('Control+Shift+ArrowLeft');
    await expect.poll(() => ada.evaluate(ACTIVE)).toBe('First');
    await type(ada, 'echo first-$((40+2))\n');
    await ada.locator('.view.active .xterm-rows').filter({ hasText: 'first-42' }).waitFor();
    expect(await ada.title()).toBe('First · pty-gateway');
    await ada.locator('.view:not(.active) .xterm-screen').click();
    await expect.poll(() => new URL(ada.url()).hash).toContain(second.session_id);

    await ada.reload();
    await expect.poll(() => by(ada, 'state').allTextContents(), { timeout: SIGHT_MS }).toEqual(['Live', 'Live']);
    await by(ada, 'tab').filter({ hasText: 'Second' }).getByRole('button').click();
    await expect.poll(() => by(ada, 'title').allTextContents()).toEqual(['First']);
    await shows(ada, 'first-42');
  });

  it('tells a tab whose session goes on from one whose session has ended', async () => {
    const ada = await open(token('ada'));
    await startSession(ada, 'Short');
    await startSession(ada, 'Long');
    const close = (name: string) => by(ada, 'tab').filter({ hasText: name }).getByRole('button').getAttribute('aria-label');
    expect(await close('Short')).toBe('Close Short here; it goes on');
    await by(ada, 'tab').filter({ hasText: 'Short' }).locator('a').click();
    await type(ada, 'exit\n');
    await sees(ada, 'Ended: exit 0');
    await expect.poll(() => close('Short')).toBe('Close Short');
    expect(await close('Long')).toBe('Close Long here; it goes on');
  });

  it('keeps a session that is in view no more: its control, and what it prints meanwhile', async () => {
    const ada = await open(token('ada'));
    await startSession(ada, 'Behind');
    await type(ada, 'sleep 0.5; echo behind-$((40+2))\n');
    const behind = ada.url();
    const other = await begin({ label: 'Before' });
    await ada.evaluate(`location.hash = ${JSON.stringify(fragment(other).slice(1))}`);
    await by(ada, 'title').filter({ hasText: 'Before' }).waitFor();
    await sees(ada, 'Live');
    await ada.evaluate(`location.hash = ${JSON.stringify(new URL(behind).hash)}`);
    await shows(ada, 'behind-42');
    await by(ada, 'role').filter({ hasText: 'Give up control' }).waitFor();
  });
});
