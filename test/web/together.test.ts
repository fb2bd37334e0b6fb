// Several people in one session: who has control, how it moves, who may do what, and what a small window or a frozen network shows.
import { expect, it } from 'vitest';
import { needs } from '../support/needs.js';
import { by, drag, drawn, SIGHT_MS, sees, shows, startSession, text, type } from './browser.js';
import { windows } from './windows.js';

/** CSS pixels that are read with ease. */
const READABLE_PX = 12;
/** Where the cursor is in relation to the part of the terminal that is in view, and how large the text is. */
const SIGHT = `(() => {
  const host = document.querySelector('[data-testid=terminal]').getBoundingClientRect();
  const cursor = document.querySelector('.xterm-cursor').getBoundingClientRect();
  const inView = cursor.left >= host.left - 2 && cursor.right <= host.right + 2 && cursor.top >= host.top - 2 && cursor.bottom <= host.bottom + 2;
  return { inView, fontPx: Number.parseFloat(getComputedStyle(document.querySelector('.xterm-rows')).fontSize) };
})()`;

needs('chromium')('a session with several people', () => {
  const { open, join, token, proxy } = windows();

  it('shows one who can only watch no button that does more', async () => {
    const ada = await open(token('ada'));
    await startSession(ada, 'Watched');
    const eve = await join(ada, token('eve', 'pty:observe'));
    await sees(eve, 'Live');
    await by(eve, 'notice').filter({ hasText: 'your token does not let you type' }).waitFor();
    await by(eve, 'agent-shell').waitFor();
    await by(eve, 'menu').click();
    for (const id of ['role', 'end', 'new-shell', 'paste']) expect(await by(eve, id).isVisible(), id).toBe(false);
    await by(eve, 'presence').click();
    await by(eve, 'person').filter({ hasText: 'eve' }).filter({ hasText: 'you · watches' }).waitFor();
    expect(await by(eve, 'remove').count()).toBe(0);
  });

  it('lets one ask for control, who has it grant that or not, and take it back, also by keys', async () => {
    const ada = await open(token('ada'));
    await startSession(ada, 'Asked');
    const bob = await join(ada, token('bob'), '&role=observer');
    const ask = by(bob, 'role').filter({ hasText: 'Ask for control' });
    await ask.click();
    await by(ada, 'ask').filter({ hasText: 'bob asks for control' }).waitFor();
    await by(ada, 'decline').click();
    await by(bob, 'notice').filter({ hasText: 'Not now: you ask for control no longer.' }).waitFor();
    await ask.click();
    await by(ada, 'ask').waitFor();
    await ada.keyboard.press('Control+Shift+ArrowUp');
    await ada.keyboard.press('Enter');
    await by(bob, 'notice').filter({ hasText: 'You have control now.' }).waitFor();
    await type(bob, 'echo lent-$((40+2))\n');
    await shows(ada, 'lent-42');
    await by(ada, 'role').filter({ hasText: 'Take control back' }).click();
    await by(bob, 'notice').filter({ hasText: 'ada has control now, and you watch.' }).waitFor();
    expect(await by(ada, 'ask').count()).toBe(0);
  });

  it('asks where the cursor is not, also on a phone', async () => {
    const phone = await open(token('ada'), { width: 390, height: 600, touch: true });
    await startSession(phone, 'Asked on a phone');
    const bob = await join(phone, token('bob'), '&role=observer');
    await by(bob, 'role').filter({ hasText: 'Ask for control' }).click();
    await by(phone, 'ask').waitFor();
    const isClear = async () => {
      const [ask, cursor] = await Promise.all([by(phone, 'ask').boundingBox(), phone.locator('.xterm-cursor').boundingBox()]);
      return ask && cursor && (cursor.y + cursor.height <= ask.y || cursor.y >= ask.y + ask.height);
    };
    for (const [before, where] of [
      ['seq 99', 'low'],
      ['clear', 'high'],
    ]) {
      await type(phone, `${before}; echo ${where}-$((40+2))\n`);
      await shows(phone, `${where}-42`);
      await expect.poll(isClear, { timeout: SIGHT_MS }).toBe(true);
    }
  });

  it('shows who types, while they do', async () => {
    const ada = await open(token('ada'));
    await startSession(ada, 'Typed');
    const bob = await join(ada, token('bob'), '&role=observer');
    await sees(bob, 'Live');
    await by(bob, 'presence').click();
    const line = by(bob, 'person').filter({ hasText: 'ada' });
    await type(ada, 'x');
    await line.filter({ hasText: 'has control · typing' }).waitFor();
    await line.filter({ hasNotText: 'typing' }).waitFor();
  });

  it('tells who has control instead of offering what would not work, and why typing does nothing', async () => {
    const ada = await open(token('ada'));
    await startSession(ada, 'Held');
    const bob = await join(ada, token('bob'), '&role=observer');
    await sees(bob, 'Live');
    await by(bob, 'role').filter({ hasText: 'Ask for control' }).waitFor();
    expect(await by(bob, 'role').getAttribute('title')).toBe('ada has control');
    await bob.locator('.xterm-screen').click();
    await type(bob, 'x');
    await by(bob, 'notice').filter({ hasText: 'You are watching. ada has control.' }).waitFor();
    await by(ada, 'role').click();
    await by(ada, 'notice').filter({ hasText: 'You gave up control. Nobody has it now.' }).waitFor();
    await by(bob, 'notice').filter({ hasText: 'Nobody has control now.' }).waitFor();
    await type(bob, 'x');
    await by(bob, 'notice').filter({ hasText: 'Nobody has control: take it to type.' }).waitFor();
    await by(bob, 'role').filter({ hasText: 'Take control' }).click();
    await by(ada, 'notice').filter({ hasText: 'bob has control now.' }).waitFor();
    await by(bob, 'role').filter({ hasText: 'Give up control' }).waitFor();
    await type(bob, 'echo bob-$((40+2))\n');
    await shows(ada, 'bob-42');
  });

  it('lets an admin take control over after a word, hand it on, and send somebody away', async () => {
    const ada = await open(token('ada'));
    await startSession(ada, 'Moved');
    const root = await join(ada, token('root', 'pty:admin'), '&role=observer');
    await sees(root, 'Live');
    const asked: string[] = [];
    root.on('dialog', (dialog) => {
      asked.push(dialog.message());
      void dialog.accept();
    });
    await by(root, 'role').filter({ hasText: 'Take control' }).click();
    await by(root, 'role').filter({ hasText: 'Give up control' }).waitFor();
    expect(asked.at(-1)).toContain('ada has control');
    await by(ada, 'notice').filter({ hasText: 'root has control now, and you watch.' }).waitFor();
    await by(root, 'presence').click();
    await by(root, 'hand-over').click();
    await by(ada, 'notice').filter({ hasText: 'You have control now.' }).waitFor();
    await type(ada, 'echo again-$((40+2))\n');
    await shows(root, 'again-42');
    await by(root, 'remove').click();
    await by(ada, 'notice').filter({ hasText: 'You were sent away from this session.' }).waitFor();
    await sees(ada, 'Not connected');
    expect(await text(ada)).toContain('again-42');
  });

  it('shows a phone that watches a readable part that follows the cursor, or the whole screen', async () => {
    const ada = await open(token('ada'));
    await startSession(ada, 'Large');
    const phone = await join(ada, token('bob'), '&role=observer', { width: 390, height: 600 });
    await sees(phone, 'Live');
    const sight = () => phone.evaluate<{ inView: boolean; fontPx: number }>(SIGHT);
    const follows = () => expect.poll(async () => (await sight()).inView, { timeout: SIGHT_MS }).toBe(true);
    await type(ada, 'seq 60; printf "%80s" to-the-right\n');
    await shows(phone, 'to-the-right');
    await follows();
    await type(ada, '\necho back-$((40+2))\n');
    await shows(phone, 'back-42');
    await follows();
    expect((await sight()).fontPx).toBeGreaterThanOrEqual(READABLE_PX);
    await by(phone, 'reading').filter({ hasText: 'Whole screen' }).click();
    expect((await sight()).fontPx).toBeLessThan(READABLE_PX);
    const box = await phone.locator('.xterm-screen').boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 999)).toBeLessThanOrEqual(390);
    await by(phone, 'reading').filter({ hasText: 'Readable' }).click();
    await follows();
  });

  it('scrolls back, and pans what is shown in part, with a finger', async () => {
    const ada = await open(token('ada'), { width: 1280, height: 500 });
    await startSession(ada, 'Touched');
    await type(ada, 'seq -f "line %g." 200; echo end-$((40+2))\n');
    await shows(ada, 'end-42');
    const phone = await join(ada, token('bob'), '&role=observer', { width: 390, height: 600, touch: true });
    await shows(phone, 'end-42');
    await drag(phone, [100, 120], [100, 300]);
    await shows(phone, 'line 170.');
    expect(await text(phone)).not.toContain('end-42');
    await by(phone, 'reading').filter({ hasText: 'Whole screen' }).waitFor();
    await drawn(phone);
    await drag(phone, [300, 400], [100, 400]);
    await expect
      .poll(() => phone.evaluate('document.querySelector("[data-testid=terminal]").scrollLeft'), { timeout: SIGHT_MS })
      .not.toBe(0);
  });

  it('notices a network that is frozen, and gives control back to one who had it', { timeout: 60_000 }, async () => {
    const ada = await open(token('ada', 'pty:admin'), undefined, proxy().port);
    await startSession(ada, 'Frozen');
    proxy().freeze();
    await sees(ada, /Offline|Connecting again/);
    await by(ada, 'notice').filter({ hasText: 'What you typed last may not have arrived.' }).waitFor();
    await type(ada, 'x');
    await by(ada, 'notice').filter({ hasText: 'what you type is not sent' }).waitFor();
    proxy().cut();
    proxy().mend();
    await sees(ada, 'Live');
    await by(ada, 'role').filter({ hasText: 'Give up control' }).waitFor();
    await type(ada, 'echo thawed-$((40+2))\n');
    await shows(ada, 'thawed-42');
  });

  it('says that a link was copied, and what it needs', async () => {
    const ada = await open(token('ada'));
    await ada.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await startSession(ada, 'Linked');
    await by(ada, 'menu').click();
    await by(ada, 'copy-link').click();
    await by(ada, 'notice').filter({ hasText: 'The link is copied.' }).waitFor();
  });
});
