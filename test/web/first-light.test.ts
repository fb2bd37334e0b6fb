// The page in a real browser on the real gateway: what one types, all see; who comes late or comes back sees the same.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type CutProxy, cutProxy } from '../support/cut-proxy.js';
import { needs } from '../support/needs.js';
import { type RunningGateway, startGateway } from '../support/running-gateway.js';
import { alike, by, launch, picture, resized, SIGHT_MS, sees, shows, startSession, text, type, type Visitor, visit } from './browser.js';

/** A build's output: colours of all three kinds, styles, a progress bar that is drawn over, wide and combined characters. */
const BUILD = String.raw`#!/bin/bash
printf '\e[1;34m==>\e[0m \e[1mBuilding\e[0m \e[4mpty\e[24m-\e[3mgateway\e[0m \e[2m(release)\e[0m\n'
for step in compile link test; do
  for done in 20 40 60 80 100; do printf '\r\e[K  \e[38;5;%dm%-8s\e[0m \e[48;2;40;90;80m%*s\e[0m %d%%' $((done + 60)) $step $((done / 5)) '' $done; done
  printf '\r\e[K  \e[32m✔\e[0m %-8s \e[38;2;250;180;90mok\e[0m 日本語 é ─┼─\n' $step
done
printf '\e[7m reversed \e[27m \e[9mstruck\e[0m \e[41;97m 0 errors \e[0m\nbuild finished\n'
`;

needs(
  'chromium',
  'vim',
  'less',
  'htop',
)('the page', () => {
  let gateway: RunningGateway;
  let proxy: CutProxy;
  let browser: Browser;
  let visitors: Visitor[] = [];

  beforeAll(async () => {
    gateway = await startGateway({ DRAIN_SECONDS: '1' });
    proxy = await cutProxy(gateway.port);
    browser = await launch();
    writeFileSync(join(gateway.folder, 'build.sh'), BUILD);
    writeFileSync(
      join(gateway.folder, 'notes.c'),
      Array.from({ length: 200 }, (_, n) => `int line_${n} = ${n}; /* "a comment" */\n`).join(''),
    );
    mkdirSync(join(gateway.folder, 'src'));
  });
  afterEach(async () => {
    const complaints = visitors.flatMap((visitor) => visitor.complaints);
    await Promise.all(visitors.map(({ page }) => page.context().close()));
    visitors = [];
    expect(complaints).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await proxy?.close();
    await gateway?.stop();
  });

  const open = async (url: string, window?: { width: number; height: number }) => {
    const visitor = await visit(browser, url, window);
    visitors.push(visitor);
    return visitor.page;
  };
  const token = () => `token=${new URLSearchParams(new URL(gateway.invitation).hash.slice(1)).get('token')}`;
  /** Signed in, with no session open. */
  const lobby = () => `http://127.0.0.1:${gateway.port}/#${token()}`;
  /** The same session, from another window. */
  const join_ = (address: string, how: string, window?: { width: number; height: number }) => {
    const session = new URL(address).hash.slice(1);
    return open(`http://127.0.0.1:${gateway.port}/#${token()}&${session}${how}`, window);
  };

  it('asks for a token when there is none, and again when the one given is refused', async () => {
    const page = await open(`http://127.0.0.1:${gateway.port}/`);
    await by(page, 'token').fill('no.such.token');
    await page.keyboard.press('Enter');
    await by(page, 'refused').waitFor();
    await by(page, 'token').fill(token().replace('token=', ''));
    await page.keyboard.press('Enter');
    await by(page, 'agent-shell').waitFor();
  });

  it('shows a coloured build, vim, less and htop to all, cell for cell and colour for colour, also to one who comes late', {
    timeout: 90_000,
  }, async () => {
    const alice = await open(lobby());
    await startSession(alice, 'Release build');
    expect(await alice.title()).toBe('Release build · pty-gateway');
    const bob = await join_(alice.url(), '&role=observer', { width: 1000, height: 700 });
    await sees(bob, 'Live');

    const programs: ReadonlyArray<readonly [command: string, sight: string | RegExp, leave: string]> = [
      ['bash build.sh\n', 'build finished', 'clear\n'],
      ['vim -c "syntax on" notes.c\n', 'line_20', ':q!\n'],
      ['less notes.c\n', 'notes.c', 'q'],
      ['htop -d 100\n', /F10\s*Quit/, 'q'],
    ];
    for (const [command, sight, leave] of programs) {
      await type(alice, command);
      await shows(alice, sight);
      const carol = await join_(alice.url(), '&role=observer');
      await sees(carol, 'Live');
      for (const other of [bob, carol]) {
        await alike(alice, other);
        expect(await text(other)).toMatch(sight);
      }
      await carol.context().close();
      await type(alice, leave);
      await expect.poll(() => text(alice), { timeout: SIGHT_MS }).toMatch(/\$$/m);
    }
    await type(alice, 'exit 3\n');
    await sees(alice, 'Ended: exit 3');
    await sees(bob, 'Ended: exit 3');
    const dave = await join_(alice.url(), '');
    await sees(dave, 'Ended: exit 3');
    await alike(alice, dave);
  });

  it('comes back after a cut without a lost or a doubled line', async () => {
    const alice = await open(`http://127.0.0.1:${proxy.port}/#${token()}`);
    await startSession(alice, 'Counting');
    await type(alice, 'clear; for i in $(seq 100 699); do printf "%s." $i; sleep 0.01; done; echo; echo all-$((40+2))\n');
    await shows(alice, '130.131');
    proxy.cut();
    await sees(alice, /Offline: next try in \d+ s/);
    proxy.mend();
    await sees(alice, 'Live');
    await shows(alice, 'all-42');
    const numbers = (await picture(alice)).lines.join('').match(/100\..*699/)?.[0];
    expect(numbers?.split('.')).toEqual(Array.from({ length: 600 }, (_, n) => String(100 + n)));
    await type(alice, 'echo back-$((40+2))\n');
    await shows(alice, 'back-42');
  });

  it('hands control over, and tells a second controller that it watches', async () => {
    const alice = await open(lobby());
    await startSession(alice, 'Hand over');
    const bob = await join_(alice.url(), '');
    await by(bob, 'notice').filter({ hasText: 'You are watching' }).waitFor();
    await type(bob, 'echo unheard\n');
    await by(alice, 'role').click();
    await by(alice, 'role').filter({ hasText: 'Take control' }).waitFor();
    await by(bob, 'role').click();
    await by(bob, 'role').filter({ hasText: 'Give up control' }).waitFor();
    await type(bob, 'echo heard-$((40+2))\n');
    await shows(alice, 'heard-42');
    expect(await text(alice)).not.toContain('unheard');
    await by(alice, 'presence').click();
    await expect.poll(() => by(alice, 'person').allTextContents()).toHaveLength(2);
  });

  it('fits the session to the window that controls it, and the whole of it into a phone that watches', async () => {
    const alice = await open(lobby());
    await startSession(alice, 'Sizes');
    const [cols, rows] = await resized(alice, { width: 800, height: 600 });
    await type(alice, 'clear; stty size\n');
    await shows(alice, `${rows} ${cols}`);

    const phone = await join_(alice.url(), '&role=observer', { width: 390, height: 844 });
    await shows(phone, `${rows} ${cols}`);
    await by(phone, 'stands').filter({ hasText: 'larger than this window' }).waitFor({ state: 'attached' });
    const box = await phone.locator('.xterm-screen').boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? 999)).toBeLessThanOrEqual(390);
    expect(await by(phone, 'key-bar').isVisible()).toBe(false);
  });

  it('shows the same after a resize to one who has scrolled much and to one who came late', async () => {
    const alice = await open(lobby(), { width: 1000, height: 500 });
    await startSession(alice, 'Long');
    await type(alice, 'seq -f "a line that is long enough to be wrapped when the window gets narrow, number %g" 100; echo end-$((40+2))\n');
    await shows(alice, 'end-42');
    const bob = await join_(alice.url(), '&role=observer', { width: 1280, height: 800 });
    await shows(bob, 'end-42');
    for (const size of [
      { width: 1200, height: 800 },
      { width: 700, height: 700 },
      { width: 1100, height: 600 },
    ]) {
      await resized(alice, size);
      await alike(alice, bob);
    }
  });

  it('gives a phone the keys that it lacks', async () => {
    const phone = await open(lobby(), { width: 390, height: 844 });
    await startSession(phone, 'On the road');
    await type(phone, 'cat -v\n');
    await by(phone, 'key-esc').click();
    await by(phone, 'key-arrow-up').click();
    await by(phone, 'key-tab').click();
    await type(phone, '|\n');
    await shows(phone, /\^\[\^\[\[A\s+\|/);
    await by(phone, 'key-ctrl').click();
    await type(phone, 'c');
    await expect.poll(() => text(phone)).toMatch(/\$$/m);
  });

  it('is not asked by programs, live or later: the gateway answers, once', async () => {
    const alice = await open(`http://127.0.0.1:${proxy.port}/#${token()}`);
    await startSession(alice, 'Questions');
    await type(alice, 'clear; printf "\\e[6n"; read -rs -t 5 -d R place; printf "%s" "$place" | wc -c | sed s/$/-characters/\n');
    await shows(alice, /[1-9]\d*-characters/);
    // So much comes before the question that it is read long after the connection is live again.
    await type(alice, 'echo waits-$((40+2)); until [ -e go ]; do sleep 0.1; done; seq 200000; printf "\\e[6n"; touch asked; cat -v\n');
    await shows(alice, 'waits-42');
    proxy.cut();
    await sees(alice, /Offline/);
    writeFileSync(join(gateway.folder, 'go'), '');
    await expect.poll(() => existsSync(join(gateway.folder, 'asked')), { timeout: SIGHT_MS }).toBe(true);
    proxy.mend();
    await sees(alice, 'Live');
    await shows(alice, '200000');
    await type(alice, 'quiet\n');
    await expect.poll(() => text(alice), { timeout: SIGHT_MS }).toMatch(/^(\^\[\[\d+;1R)quiet\n\1quiet$/m);
    expect((await text(alice)).match(/\d+;\d+R/g)).toHaveLength(2);
  });

  it('copies what is selected, and pastes it in brackets where the program wants them', async () => {
    const alice = await open(lobby());
    await alice.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await startSession(alice, 'Clipboard');
    await type(alice, 'clear; printf "\\e[?2004h"; echo word-$((40+2)); cat -v\n');
    await shows(alice, 'word-42');
    await alice.locator('.xterm-screen').dblclick({ position: { x: 12, y: 8 } });
    await by(alice, 'copy').click();
    await by(alice, 'menu').click();
    await by(alice, 'paste').click();
    await shows(alice, '^[[200~word-42^[[201~');
  });

  it('can be left and taken with the keyboard alone', async () => {
    const alice = await open(lobby());
    await startSession(alice, 'No mouse');
    await alice.keyboard.press('Control+Shift+ArrowUp');
    await alice.keyboard.press('Enter');
    await by(alice, 'role').filter({ hasText: 'Take control' }).waitFor();
    await alice.keyboard.press('Shift+Tab');
    expect(await alice.evaluate('document.activeElement.closest("main") !== null')).toBe(true);
  });

  it('works under a path prefix', async () => {
    const prefixed = await startGateway({ DRAIN_SECONDS: '1' }, '/tools/terminals');
    try {
      const alice = await open(prefixed.invitation.replace(/&.*/, ''));
      expect(new URL(alice.url()).pathname).toBe('/tools/terminals/');
      await startSession(alice, 'Behind a proxy');
      await type(alice, 'echo prefix-$((40+2))\n');
      await shows(alice, 'prefix-42');
    } finally {
      await prefixed.stop();
    }
  });

  it('goes on when a program prints what would stop the terminal of the browser', async () => {
    const alice = await open(lobby());
    await startSession(alice, 'Hazards');
    await type(
      alice,
      'clear; printf "\\e[999;999H\\e[1Jx\\e[2147483647b\\e[2147483647S\\e[2147483647L\\e[2147483647T"; echo; echo still-$((40+2))\n',
    );
    await shows(alice, 'still-42');
  });
});
