// Takes the picture of the README (docs/picture.png) from the running product: `npm run build && node scripts/picture.mjs`.
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import { root } from './fingerprint.mjs';

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const PORT = process.env.PORT ?? '8947';
const folder = mkdtempSync(path.join(tmpdir(), 'pty-gateway-picture-'));
const main = path.resolve(root, process.env.PTY_GATEWAY_DIST ?? 'dist', 'src/main.js');
const env = {
  PATH: process.env.PATH,
  HOME: folder,
  PORT,
  LOG_LEVEL: 'warn',
  DRAIN_SECONDS: '1',
  DATA_DIR: path.join(folder, 'data'),
  AGENTS_FILE: path.join(folder, 'agents.json'),
  AUTH_JWT_SECRET: randomBytes(32).toString('base64url'),
};
const agent = (name) => ({
  name,
  command: ['/bin/bash', '--noprofile', '--norc'],
  cwd: root,
  env: { PS1: '\\[\\e[36m\\]\\W\\[\\e[0m\\] $ ' },
});
writeFileSync(env.AGENTS_FILE, JSON.stringify({ agents: { build: agent('Build shell'), review: agent('Review agent') } }));

const gateway = spawn(process.execPath, [main, 'serve'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
const base = `http://127.0.0.1:${PORT}/`;
const isReady = () =>
  fetch(`${base}readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
while (!(await isReady())) {
  if (gateway.exitCode !== null) throw new Error('the gateway ended before it was ready');
  await setTimeout(100);
}
const tokenOf = (name) =>
  execFileSync(process.execPath, [main, 'token', '--scope', 'pty:control', '--sub', name], { env, encoding: 'utf8' }).trim();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ARGS });

async function visit(name, place = '') {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 2, colorScheme: 'dark' });
  const page = await context.newPage();
  await page.goto(`${base}#token=${tokenOf(name)}${place}`);
  return page;
}

async function begin(page, agentId, label, command, sight) {
  await page.getByTestId(`new-${agentId}`).click();
  const form = page.getByTestId(`agent-${agentId}`);
  await form.getByTestId('label').fill(label);
  await form.getByTestId('start').click();
  await page.getByTestId('title').filter({ hasText: label }).waitFor();
  await page.locator('.xterm-rows').filter({ hasText: '$ ' }).waitFor();
  await page.keyboard.type(command);
  await page.locator('.xterm-rows').filter({ hasText: sight }).waitFor();
}

try {
  const lin = await visit('lin');
  await begin(lin, 'review', 'Read the change', 'ls\n', 'package.json');
  const ada = await visit('ada');
  await begin(ada, 'build', 'Watch the machine', 'htop -d 100\n', 'F10');
  await begin(
    ada,
    'build',
    'Release 0.1',
    'vim -c "syntax on" -c "set number" -c "normal 20j" src/log/log.ts\n',
    'The contract of the log',
  );
  const place = `&${new URL(ada.url()).hash.slice(1)}&role=observer`;
  for (const name of ['lin', 'review agent'])
    await (await visit(name, place)).getByTestId('state').filter({ hasText: 'Live' }).waitFor({ state: 'attached' });
  await ada.getByTestId('presence').filter({ hasText: '3 here' }).click();
  mkdirSync(path.join(root, 'docs'), { recursive: true });
  await ada.screenshot({ path: path.join(root, 'docs/picture.png') });
} finally {
  await browser.close();
  gateway.kill('SIGTERM');
  await new Promise((ended) => gateway.once('exit', ended));
  rmSync(folder, { recursive: true, force: true });
}
