// docs/protocol.md: the client that it ends with, in nothing but Python, does what it says, also through a network that is cut.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { mintToken } from '../../src/access/token.js';
import { CORE_OPERATIONS, EXTENSION_URI, PTY_OPERATIONS } from '../../src/protocol/names.js';
import { type CutProxy, cutProxy } from '../support/cut-proxy.js';
import { blocksOf } from '../support/document.js';
import { needs } from '../support/needs.js';
import { until } from '../support/redis.js';
import { type RunningGateway, startGateway } from '../support/running-gateway.js';

const guide = readFileSync('docs/protocol.md', 'utf8');
const secret = 'a secret of the tests, long enough for HS256';
const token = mintToken(secret, { sub: 'py', scope: 'pty:control', ttlSeconds: 3600 });

it('The guide names the extension and the operations as they are', () => {
  expect(guide).toContain(`"${EXTENSION_URI}"`);
  for (const op of [...PTY_OPERATIONS, ...CORE_OPERATIONS.slice(0, 1)]) expect(guide).toContain(op);
});

needs('python3')("The guide's client", () => {
  let gateway: RunningGateway;
  let network: CutProxy;
  beforeAll(async () => {
    gateway = await startGateway({ AUTH_JWT_SECRET: secret });
    network = await cutProxy(gateway.port);
    writeFileSync(join(gateway.folder, 'client.py'), blocksOf(guide, 'python').join('\n'));
  });
  afterAll(async () => {
    await network.close();
    await gateway.stop();
  });
  const running: ChildProcess[] = [];
  afterEach(() => {
    for (const each of running.splice(0)) each.kill();
  });

  /** The client on a session, through the network. */
  async function client(line: string, session?: string): Promise<{ exit: Promise<unknown[]>; out(): string; err(): string }> {
    const url = new URL(session ?? (await newSession()));
    url.port = String(network.port);
    const child = spawn('python3', [join(gateway.folder, 'client.py'), url.href, line], {
      env: { ...process.env, PTY_GATEWAY_TOKEN: token },
    });
    running.push(child);
    const said = { out: '', err: '' };
    child.stdout.on('data', (data) => {
      said.out += data;
    });
    child.stderr.on('data', (data) => {
      said.err += data;
    });
    return { exit: once(child, 'close'), out: () => stripVTControlCharacters(said.out).replaceAll('\r', ''), err: () => said.err };
  }

  async function newSession(): Promise<string> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(`http://127.0.0.1:${gateway.port}/agents/shell/sessions`, { method: 'POST', headers, body: '{}' });
    return ((await answer.json()) as { pty_ws_url: string }).pty_ws_url;
  }

  it('types, prints what the session prints, and ends with it', async () => {
    const { exit, out, err } = await client('echo "$((6 * 7))"; head -c 100000 /dev/zero | tr "\\0" x; echo; exit');
    expect([await exit, err()]).toEqual([[0, null], '']);
    expect(out()).toMatch(/\n42\nx{100000}\n/);
  });

  it('prints every line once over cuts of the network', async () => {
    const { exit, out, err } = await client('for i in 1 2 3 4 5 6; do echo "line $i."; read -t 0.3; done; exit');
    for (const line of ['line 2.', 'line 4.']) {
      await until(line, () => out().includes(`${line}\n`));
      network.cut();
      await until('it has noticed', () => err() !== '');
      network.mend();
    }
    expect(await exit).toEqual([0, null]);
    expect(out().match(/^line \d\.$/gm)).toEqual([1, 2, 3, 4, 5, 6].map((n) => `line ${n}.`));
  });

  it('stays away from what it may not see, and says so', async () => {
    const { exit, err } = await client('', 'ws://127.0.0.1:1/agents/shell/sessions/019a0000-0000-7000-8000-000000000000/attach');
    expect(await exit).toEqual([1, null]);
    expect(err()).toBe('the gateway answered 404\n');
  });
});
