// A real browser on the page, and what a person sees in it. Knows no protocol.
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { onPath } from '../support/needs.js';

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
/** What the browser itself says of a cut connection, a refused token, and what is not there. */
const OF_THE_NETWORK = /net::ERR_|WebSocket connection to .* failed|status of 40[14]/;
/** What it says of its own graphics, and xterm of a context that was taken away. */
const OF_THE_GRAPHICS = /GL Driver Message|webgl context not restored/;
/** Milliseconds for which a sight is waited for. */
export const SIGHT_MS = 20_000;

/** Milliseconds between two looks. */
const POLL_MS = 100;

/** Moves of a finger that is drawn. */
const DRAG_STEPS = 20;

export interface Window {
  readonly width: number;
  readonly height: number;
  /** Whether it is touched. */
  readonly touch?: boolean;
}

/** A visitor's window: a profile of its own, and all that the page complained of. */
export interface Visitor {
  readonly page: Page;
  /** What the console said as error or warning (but for the network's own), and what was thrown. */
  readonly complaints: readonly string[];
}

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: onPath('chromium') ?? 'chromium', args: ARGS });
}

export async function visit(browser: Browser, url: string, window: Window = { width: 1280, height: 800 }): Promise<Visitor> {
  const context = await browser.newContext({
    viewport: { width: window.width, height: window.height },
    hasTouch: window.touch === true,
    colorScheme: 'dark',
  });
  const page = await context.newPage();
  page.setDefaultTimeout(SIGHT_MS);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && !OF_THE_NETWORK.test(message.text()) && !OF_THE_GRAPHICS.test(message.text()))
      complaints.push(message.text());
  });
  await page.goto(url);
  return { page, complaints };
}

export const by = (page: Page, id: string) => page.getByTestId(id);

/** Waits until the connection line says this. */
export async function sees(page: Page, state: string | RegExp): Promise<void> {
  await by(page, 'state').filter({ hasText: state }).waitFor();
}

/** Starts a session of the agent `shell` in this window, and waits until it is live and its prompt is there. */
export async function startSession(page: Page, label: string): Promise<void> {
  await by(page, 'new-shell').click();
  await by(page, 'label').fill(label);
  await by(page, 'start').click();
  await sees(page, 'Live');
  await shows(page, '$ ');
}

/** Types as a person does: into whatever has the focus. */
export async function type(page: Page, text: string): Promise<void> {
  await page.keyboard.type(text);
}

/** Waits until what was changed is drawn: a finger touches what is on the glass. */
export async function drawn(page: Page): Promise<void> {
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
}

/** Draws a finger from one point to another, in CSS pixels of the page. */
export async function drag(page: Page, from: readonly [x: number, y: number], to: readonly [x: number, y: number]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const at = (n: number) => ({ x: from[0] + ((to[0] - from[0]) * n) / DRAG_STEPS, y: from[1] + ((to[1] - from[1]) * n) / DRAG_STEPS });
  await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [at(0)] });
  for (let n = 1; n <= DRAG_STEPS; n++) await session.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [at(n)] });
  await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
  await session.detach();
}

export interface Picture {
  readonly cols: string;
  /** One for each row: its text, blanks at the end trimmed. */
  readonly lines: readonly string[];
  /** The same rows as runs of cells that look alike: their text, colour, background and style. */
  readonly looks: ReadonlyArray<ReadonlyArray<string>>;
}

/** Read from the elements that the terminal is drawn with. The cursor's own look is left out: it shows which window has the focus. */
const PICTURE = `(() => {
  const rows = [...document.querySelectorAll('.xterm-rows > div')];
  const ground = getComputedStyle(document.querySelector('.xterm-rows'));
  const look = (span) => {
    if (span.classList.contains('xterm-cursor')) return 'cursor';
    const s = getComputedStyle(span);
    return [s.color, s.backgroundColor, s.fontWeight, s.fontStyle, s.textDecorationLine, s.textDecorationStyle, s.opacity].join(' ');
  };
  const plain = [ground.color, 'rgba(0, 0, 0, 0)', '400', 'normal', 'none', 'solid', '1'].join(' ');
  const runs = (row) => {
    const out = [];
    for (const span of row.children) {
      const its = look(span);
      for (const cell of span.textContent) {
        const last = out.at(-1);
        if (last && last.look === its) last.text += cell;
        else out.push({ look: its, text: cell });
      }
    }
    const last = out.at(-1);
    if (last && last.look === plain) last.text = last.text.replace(/[\\s\\u00a0]+$/, '');
    return out.filter((run) => run.text !== '').map((run) => run.look + ': ' + run.text.replaceAll('\\u00a0', ' '));
  };
  return {
    cols: document.querySelector('[data-testid=size]').textContent,
    lines: rows.map((row) => row.textContent.replaceAll('\\u00a0', ' ').trimEnd()),
    looks: rows.map(runs),
  };
})()`;

export const picture = (page: Page): Promise<Picture> => page.evaluate<Picture>(PICTURE);

export const text = async (page: Page): Promise<string> => (await picture(page)).lines.join('\n');

/** Waits until the terminal shows this text. */
export async function shows(page: Page, wanted: string | RegExp): Promise<void> {
  await page.locator('.xterm-rows').filter({ hasText: wanted }).waitFor();
}

/** Gives a controller's window another size, and waits until the session has the columns and rows that it returns. */
export async function resized(page: Page, window: Window): Promise<string[]> {
  const sizes = by(page, 'size');
  const before = await sizes.textContent();
  await page.setViewportSize({ width: window.width, height: window.height });
  await expect.poll(() => sizes.textContent(), { timeout: SIGHT_MS }).not.toBe(before);
  await expect.poll(() => by(page, 'stands').textContent(), { timeout: SIGHT_MS }).toBe('');
  return ((await sizes.textContent()) ?? '').split(' × ');
}

/** Waits until two windows show the same cells, and says where they differ if they never do. */
export async function alike(one: Page, other: Page): Promise<void> {
  const both = () => Promise.all([picture(one), picture(other)]);
  const deadline = Date.now() + SIGHT_MS;
  let [left, right] = await both();
  while (JSON.stringify(left) !== JSON.stringify(right) && Date.now() < deadline) {
    await one.waitForTimeout(POLL_MS);
    [left, right] = await both();
  }
  expect(right).toEqual(left);
}
