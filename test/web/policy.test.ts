// What the page may do is what it does: a browser refuses all that is planted in it, by the policy that it was served with.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { mintToken } from '../../src/access/token.js';
import { needs } from '../support/needs.js';
import { type RunningGateway, startGateway } from '../support/running-gateway.js';
import { launch, startSession, visit } from './browser.js';

const SECRET = 'a secret of the test that is long enough';

needs('chromium')('the page', () => {
  let gateway: RunningGateway;
  let browser: Browser;
  /** Of somebody else, who notes what he is asked for. */
  let foreign: Server;
  let elsewhere: string;
  const asked: string[] = [];
  beforeAll(async () => {
    foreign = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.setHeader('access-control-allow-origin', '*').end('planted = true');
    });
    await new Promise<void>((listening) => foreign.listen(0, '127.0.0.1', listening));
    elsewhere = `127.0.0.1:${(foreign.address() as AddressInfo).port}`;
    gateway = await startGateway({ DRAIN_SECONDS: '1', AUTH_JWT_SECRET: SECRET });
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
    foreign.close();
  });

  async function open(): Promise<Page> {
    const token = mintToken(SECRET, { sub: 'ada', scope: 'pty:control', ttlSeconds: 60 });
    return (await visit(browser, `http://127.0.0.1:${gateway.port}/#token=${token}`)).page;
  }

  /** What the browser refused, by directive, while this ran in the page. */
  async function refused(page: Page, planted: string): Promise<string[]> {
    await page.evaluate(`
      window.refused = [];
      window.noting ??= addEventListener('securitypolicyviolation', (event) => refused.push(event.effectiveDirective)) ?? true;
      // In a turn of its own: what a debugger evaluates may evaluate.
      setTimeout(() => { ${planted} });
    `);
    await expect.poll(() => page.evaluate('refused.length')).toBeGreaterThan(0);
    return page.evaluate('refused');
  }
  const element = (name: string, members: object) =>
    `document.body.append(Object.assign(document.createElement('${name}'), ${JSON.stringify(members)}));`;

  it('is refused scripts that are planted in it, and all traffic with others; its own goes on', async () => {
    const page = await open();
    await startSession(page, 'Before');
    const attacks: ReadonlyArray<readonly [string, string]> = [
      ['script-src-elem', element('script', { textContent: 'planted = true' })],
      ['script-src-elem', element('script', { src: `http://${elsewhere}/script` })],
      ['script-src-elem', `${element('script', { src: 'data:text/javascript,planted=true' })}`],
      [
        'script-src-attr',
        `document.body.insertAdjacentHTML('beforeend', '<i id="i" onclick="planted=true"></i>'); document.getElementById('i').click();`,
      ],
      ['script-src', `eval('planted = true');`],
      ['script-src', `new Function('planted = true')();`],
      ['script-src', `setTimeout('planted = true');`],
      ['worker-src', `new Worker(URL.createObjectURL(new Blob(['fetch("http://${elsewhere}/worker")'])));`],
      ['img-src', element('img', { src: `http://${elsewhere}/picture` })],
      ['connect-src', `fetch('http://${elsewhere}/fetched');`],
      ['connect-src', `new WebSocket('ws://${elsewhere}/socket');`],
      ['connect-src', `navigator.sendBeacon('http://${elsewhere}/beacon', 'x');`],
      ['style-src-elem', element('link', { rel: 'stylesheet', href: `http://${elsewhere}/style` })],
      ['font-src', `new FontFace('f', 'url(http://${elsewhere}/font)').load().catch(() => {});`],
      ['frame-src', element('iframe', { src: `http://${elsewhere}/frame` })],
      ['object-src', element('object', { data: `http://${elsewhere}/object`, type: 'text/html' })],
      ['base-uri', `document.head.append(Object.assign(document.createElement('base'), { href: 'http://${elsewhere}/' }));`],
      ['form-action', `${element('form', { id: 'f', action: `http://${elsewhere}/form` })} document.getElementById('f').submit();`],
    ];
    for (const [directive, planted] of attacks) expect([planted, await refused(page, planted)]).toEqual([planted, [directive]]);
    expect(await page.evaluate('typeof planted')).toBe('undefined');
    expect(asked).toEqual([]);
    await page.reload();
    await page.evaluate(
      `window.refused = []; addEventListener('securitypolicyviolation', ({ effectiveDirective }) => refused.push(effectiveDirective));`,
    );
    await startSession(page, 'After');
    expect(await page.evaluate('refused')).toEqual([]);
  });

  it('is not shown in a frame of somebody else', async () => {
    const page = await open();
    const inside = page.url();
    await page.goto(`http://${elsewhere}/`);
    await page.evaluate((src) => {
      const frame = document.createElement('iframe');
      frame.src = src;
      document.body.append(frame);
      return new Promise((loaded) => frame.addEventListener('load', loaded));
    }, inside);
    await expect.poll(() => page.frames().at(-1)?.url()).toBe('chrome-error://chromewebdata/');
    expect(page.frames().map((frame) => frame.url())).not.toContain(inside);
  });
});
