// The package as others have it: packed, installed into an empty project, run in Node as docs/client.md says, and built by vite for a browser.
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, relative, resolve } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mintToken } from '../../src/access/token.js';
import { blocksOf } from '../support/document.js';
import { freePort } from '../support/free-port.js';
import { needs } from '../support/needs.js';
import { type RunningGateway, startGateway } from '../support/running-gateway.js';
import { launch, visit } from '../web/browser.js';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const document = await readFile(join(root, 'docs/client.md'), 'utf8');
/** Each program of the document, under its heading, with what it prints among other things. */
const sections = document.split(/^## /m).flatMap((section) => {
  const [program] = blocksOf(section, 'js');
  return program === undefined
    ? []
    : [{ title: section.split('\n')[0] as string, program, prints: blocksOf(section, 'text')[0] as string }];
});
const secret = 'a secret of the tests, long enough for HS256';
const token = mintToken(secret, { sub: 'ann', scope: 'pty:control', ttlSeconds: 3600 });
/** Milliseconds that npm, a compiler or a program of the documents may take on a busy machine. */
const PATIENCE_MS = 120_000;

let project: string;
let gateway: RunningGateway;
let pagePort: number;

beforeAll(async () => {
  pagePort = await freePort();
  gateway = await startGateway({ AUTH_JWT_SECRET: secret, ALLOWED_ORIGINS: `http://127.0.0.1:${pagePort}` });
  project = await mkdtemp(join(tmpdir(), 'pty-gateway-project-'));
  await install(project);
}, PATIENCE_MS);

afterAll(async () => {
  await gateway?.stop();
  await rm(project, { recursive: true, force: true });
});

/** What the package depends on is here already, so that npm asks nobody for it. */
async function install(into: string): Promise<void> {
  const { stdout } = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', into], { cwd: root });
  const [{ filename }] = JSON.parse(stdout);
  const { stdout: needed } = await run('npm', ['ls', '--omit=dev', '--all', '--parseable'], { cwd: root });
  const folders = needed.split('\n').map((folder) => relative(root, folder));
  for (const folder of [...folders.filter((each) => each.startsWith('node_modules')), 'node_modules/@xterm/xterm'])
    await cp(join(root, folder), join(into, folder), { recursive: true, verbatimSymlinks: true });
  const dependencies = { 'pty-gateway': `file:${filename}`, '@xterm/xterm': '6.0.0' };
  await writeFile(join(into, 'package.json'), JSON.stringify({ private: true, type: 'module', dependencies }));
  await run('npm', ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: into });
}

async function newSession(): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(`http://127.0.0.1:${gateway.port}/agents/shell/sessions`, { method: 'POST', headers, body: '{}' });
  return ((await answer.json()) as { pty_ws_url: string }).pty_ws_url;
}

describe('the package, installed', () => {
  it.each(sections)('prints what docs/client.md says under $title', { timeout: PATIENCE_MS }, async ({ title, program, prints }) => {
    const file = join(project, `${title.replaceAll(/\W/g, '-')}.js`);
    await writeFile(file, program);
    const env = { ...process.env, PTY_GATEWAY_TOKEN: token };
    const { stdout, stderr } = await run(process.execPath, [file, await newSession()], { cwd: project, env });
    expect(stderr).toBe('');
    const lines = stripVTControlCharacters(stdout).replaceAll('\r', '').split('\n');
    for (const line of prints.trim().split('\n')) expect(lines).toContain(line);
  });

  it('has types that a strict compiler takes, for Node and for a bundler', { timeout: PATIENCE_MS }, async () => {
    const program = `
      import { Terminal } from '@xterm/xterm';
      import { type ClientEnded, connect, type Missed } from 'pty-gateway/client';
      import { SessionAddon } from 'pty-gateway/xterm';
      const client = connect({ url: 'ws://h', role: 'observer' });
      client.on('missed', ({ from, keyframe }: Missed) => console.log(from + (keyframe ?? 0)));
      new Terminal().loadAddon(new SessionAddon(client));
      for await (const frame of client.frames()) if (frame.kind === 'output') frame.bytes.length;
      export const reason = (error: ClientEnded): string => error.reason;
      // @ts-expect-error no such role
      client.requestRole('owner');
    `;
    await writeFile(join(project, 'types.mts'), program);
    for (const [module, resolution] of [['nodenext', 'nodenext'] as const, ['esnext', 'bundler'] as const]) {
      const options = [
        '--strict',
        '--noEmit',
        '--target',
        'es2022',
        '--lib',
        'es2023,dom',
        '--module',
        module,
        '--moduleResolution',
        resolution,
      ];
      await run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options, 'types.mts'], { cwd: project });
    }
  });
});

needs('chromium')('the example that embeds a terminal in a page', () => {
  it('stands in docs/client.md as it is', async () => {
    expect(blocksOf(document, 'javascript')).toEqual([await readFile(join(root, 'examples/embed/terminal.js'), 'utf8')]);
  });

  it('is built by vite, and types and shows under its own policy, without a word of complaint', { timeout: PATIENCE_MS }, async () => {
    const site = await embedded();
    const pages = await serve(site, pagePort);
    const browser = await launch();
    try {
      const url = new URLSearchParams({ url: await newSession(), token });
      const { page, complaints } = await visit(browser, `http://127.0.0.1:${pagePort}/#${url}`);
      await page.getByText('live', { exact: true }).waitFor();
      await page.locator('.xterm-helper-textarea').focus();
      await page.keyboard.type('echo "$((6 * 7))"; tty\n');
      await page
        .locator('.xterm-rows')
        .filter({ hasText: /42.*\/dev\/pts\// })
        .waitFor();
      await page.keyboard.type('exit\n');
      await page.getByText('the session has ended').waitFor();
      expect(complaints).toEqual([]);
    } finally {
      await browser.close();
      pages.close();
    }
  });
});

/** The example built where the package is installed, for this gateway; resolves with the folder of the site. */
async function embedded(): Promise<string> {
  await cp(join(root, 'examples/embed'), join(project, 'embed'), { recursive: true });
  const html = join(project, 'embed/index.html');
  await writeFile(html, (await readFile(html, 'utf8')).replaceAll('127.0.0.1:8080', `127.0.0.1:${gateway.port}`));
  const outDir = join(project, 'site');
  await build({ configFile: false, logLevel: 'error', root: join(project, 'embed'), build: { outDir } });
  return outDir;
}

const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

async function serve(folder: string, port: number): Promise<Server> {
  const server = createServer(async ({ url = '/' }, response) => {
    const path = url === '/' ? '/index.html' : url;
    const body = await readFile(join(folder, path)).catch(() => undefined);
    response.writeHead(body ? 200 : 404, { 'content-type': TYPES[extname(path)] ?? 'text/plain' }).end(body);
  });
  await new Promise<void>((ready) => server.listen(port, '127.0.0.1', ready));
  return server;
}
