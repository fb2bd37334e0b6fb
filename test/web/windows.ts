// Windows on one gateway with a key, for a file of tests. Knows no page.
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { Scope } from '../../src/access/principal.js';
import { mintToken } from '../../src/access/token.js';
import { type CutProxy, cutProxy } from '../support/cut-proxy.js';
import { type RunningGateway, startGateway } from '../support/running-gateway.js';
import { launch, type Visitor, visit, type Window } from './browser.js';

const SECRET = 'a secret of the test that is long enough';
const TTL_SECONDS = 3600;

export interface Windows {
  gateway(): RunningGateway;
  proxy(): CutProxy;
  /** A token of this visitor, as a fragment has it. */
  token(sub: string, scope?: Scope): string;
  /** Opens the page in a browser profile of its own; `fragment` goes without its `#`. */
  open(fragment: string, window?: Window, port?: number): Promise<Page>;
  /** The same session as this window's, for another visitor. */
  join(page: Page, token: string, how?: string, window?: Window): Promise<Page>;
  /** One more tab of the same browser profile. */
  tab(context: BrowserContext, fragment: string): Promise<Page>;
}

/** To be called in a suite: starts and ends with it. Nothing may be complained of on the console of any window. */
export function windows(): Windows {
  let gateway: RunningGateway;
  let proxy: CutProxy;
  let browser: Browser;
  let visitors: Visitor[] = [];
  beforeAll(async () => {
    gateway = await startGateway({ DRAIN_SECONDS: '1', AUTH_JWT_SECRET: SECRET });
    proxy = await cutProxy(gateway.port);
    browser = await launch();
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
  const address = (fragment: string, port = gateway.port) => `http://127.0.0.1:${port}/#${fragment}`;
  const open: Windows['open'] = async (fragment, window, port) => {
    const visitor = await visit(browser, address(fragment, port), window);
    visitors.push(visitor);
    return visitor.page;
  };
  return {
    gateway: () => gateway,
    proxy: () => proxy,
    token: (sub, scope = 'pty:control') => `token=${mintToken(SECRET, { sub, scope, ttlSeconds: TTL_SECONDS })}`,
    open,
    join: (page, token, how = '', window) => open(`${token}&${new URL(page.url()).hash.slice(1)}${how}`, window),
    async tab(context, fragment) {
      const page = await context.newPage();
      await page.goto(address(fragment));
      return page;
    },
  };
}
