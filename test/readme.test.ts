import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAgentsFile } from '../src/agents/agents-file.js';
import { blocksOf, shell } from './support/document.js';
import { freePort } from './support/free-port.js';

const root = path.resolve(import.meta.dirname, '..');
const readme = await readFile(path.join(root, 'README.md'), 'utf8');
const blocks = (language: string) => blocksOf(readme, language);
const [start, ...others] = blocks('sh') as [string, ...string[]];

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'readme-'));
});
// A gateway that was told to end may still be writing there.
afterAll(() => rm(dir, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 }), 30_000);

/** The command's port, where the README has the default one. */
const at = (port: number, script: string) => script.replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`);
const untilReady = (port: number) =>
  `for i in $(seq 200); do curl -sf http://127.0.0.1:${port}/readyz >/dev/null && break; sleep 0.1; done`;

describe('The README', () => {
  it('is two commands from a fresh clone to a URL that opens', { timeout: 300_000 }, async () => {
    const port = await freePort();
    const clone = path.join(dir, 'clone');
    await new Promise((resolve, reject) => execFile('git', ['clone', '-q', root, clone], (e) => (e ? reject(e) : resolve(undefined))));
    const lines = start.trim().split('\n');
    expect(lines).toEqual(['npm ci', 'npm start']);
    const script = `${lines[0]}; ${lines[1]} >log 2>&1 & ${untilReady(port)}; until grep -q '#token=' log; do sleep 0.1; done; cat log; curl -s http://127.0.0.1:${port}/`;
    const { code, out } = await shell(script.replace('; npm start', '\nnpm start'), clone, { PORT: String(port) });
    expect(out).toMatch(new RegExp(`Open http://127\\.0\\.0\\.1:${port}/#token=ey`));
    expect(out).toMatch(/<title>/);
    expect(code).toBe(0);
  });

  it('begins, lists, types into, shares and reads a session as it says, and watches it from a program', { timeout: 120_000 }, async () => {
    const port = await freePort();
    // The commands are run where the gateway is installed, so that npx finds it; what they make goes elsewhere.
    const [serve, ...rest] = others.map((block) => at(port, block)) as [string, ...string[]];
    const watcher = path.join(root, 'dist', 'readme-watcher.mjs');
    await writeFile(watcher, blocks('js')[0] as string);
    const pick = `node -p 'JSON.parse(fs.readFileSync(0))[0].pty_ws_url'`;
    const script = [
      serve.replace('>gateway.log 2>&1 &', `>'${path.join(dir, 'gateway.log')}' 2>&1 & ${untilReady(port)}`),
      ...rest,
      `node ${watcher} "$(npx pty-gateway sessions --all --json | ${pick})"`,
    ].join('\n');
    const { code, out } = await shell(script, root, {
      PORT: String(port),
      PTY_GATEWAY_URL: `http://127.0.0.1:${port}`,
      DATA_DIR: path.join(dir, 'data'),
      HOME: dir,
      PS1: '$ ',
    });
    await rm(watcher);
    expect(out).toMatch(/^\d+\t6 \* 7 is 42\t6 \* 7 is 42$/m);
    expect(out).toMatch(/^[0-9a-f-]{36} +shell +running .* first$/m);
    expect(out.match(/^hello from the command line/gm)?.length ?? 0).toBeGreaterThanOrEqual(1);
    expect(out).toMatch(/^ended$/m);
    expect(code).toBe(0);
  });

  it('shows an agents file that the gateway takes', async () => {
    const file = path.join(dir, 'agents.yaml');
    await writeFile(file, blocks('yaml')[0] as string);
    const agents = openAgentsFile(file).list();
    expect(agents.map(({ id }) => id)).toEqual(['build', 'top']);
  });

  it('names files and folders that are there', async () => {
    for (const [, target] of readme.matchAll(/\]\(([^)#]+)\)/g)) await readFile(path.join(root, target as string));
  });
});
