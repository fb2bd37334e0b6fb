// Takes the picture of the README (docs/picture.png) from the running product: `npm run build && node scripts/picture.mjs`.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
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
const CODE = `// A cursor on the log: live is reading at the end, replay is reading from earlier.
export async function* read(log: Log, after: number): AsyncGenerator<Frame> {
  for (let place = after; ; ) {
    const frames = await log.read(place, { frames: 64, bytes: 65_536 });
    for (const frame of frames) yield frame;
    place = frames.at(-1)?.sequence ?? place;
    if (frames.length === 0) await log.more(place);
  }
}
`;

const folder = mkdtempSync(path.join(tmpdir(), 'pty-gateway-picture-'));
const agent = (name, cwd = folder) => ({
  name,
  command: ['/bin/bash', '--noprofile', '--norc'],
  cwd,
  env: { PS1: '\\[\\e[36m\\]\\W\\[\\e[0m\\] $ ' },
});
writeFileSync(path.join(folder, 'agents.json'), JSON.stringify({ agents: { build: agent('Build shell'), review: agent('Review agent') } }));
writeFileSync(path.join(folder, 'cursor.ts'), CODE);

const gateway = spawn(process.execPath, [path.join(root, process.env.PTY_GATEWAY_DIST ?? 'dist', 'src/main.js'), 'serve'], {
  env: {
    PATH: process.env.PATH,
    HOME: folder,
    USER: 'ada',
    PORT,
    LOG_LEVEL: 'warn',
    DRAIN_SECONDS: '1',
    DATA_DIR: path.join(folder, 'data'),
    AGENTS_FILE: path.join(folder, 'agents.json'),
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const invitation = await new Promise((found) => {
  let said = '';
  gateway.stdout.on('data', (chunk) => {
    said += chunk;
    const url = /http\S+#token=\S+/.exec(said)?.[0];
    if (url) found(url);
  });
});
const token = new URL(invitation).hash.slice(1);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ARGS });

async function visit(address) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, deviceScaleFactor: 2, colorScheme: 'dark' });
  const page = await context.newPage();
  await page.goto(address);
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
  const other = await visit(invitation);
  await begin(other, 'review', 'Read the change of monday', 'ls\n', 'cursor.ts');
  const page = await visit(invitation);
  await begin(page, 'build', 'Watch the fleet', 'htop -d 100\n', 'F10');
  await begin(page, 'build', 'Release 0.1', 'vim -c "syntax on" -c "set number" cursor.ts\n', 'cursor on the log');
  const watching = await visit(`${new URL(invitation).origin}/#${token}&${new URL(page.url()).hash.slice(1)}&role=observer`);
  await watching.getByTestId('state').filter({ hasText: 'Live' }).waitFor();
  await page.getByTestId('presence').filter({ hasText: '2 here' }).waitFor();
  mkdirSync(path.join(root, 'docs'), { recursive: true });
  await page.screenshot({ path: path.join(root, 'docs/picture.png') });
} finally {
  await browser.close();
  gateway.kill('SIGTERM');
  await new Promise((ended) => gateway.once('exit', ended));
  rmSync(folder, { recursive: true, force: true });
}
