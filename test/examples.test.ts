// The examples, run as the README says, against a gateway of their own.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { mintToken } from '../src/access/token.js';
import { connect, type TerminalClient } from '../src/client/node.js';
import { cutProxy } from './support/cut-proxy.js';
import { freePort } from './support/free-port.js';
import { until } from './support/redis.js';
import { type RunningGateway, startGateway } from './support/running-gateway.js';

const secret = 'a secret of the tests, long enough for HS256';
let gateway: RunningGateway;
beforeAll(async () => {
  gateway = await startGateway({ AUTH_JWT_SECRET: secret });
});
afterAll(() => gateway.stop());

const token = mintToken(secret, { sub: 'agent', scope: 'pty:control', ttlSeconds: 3600 });
const agent = () => `http://127.0.0.1:${gateway.port}/agents/shell`;

const opened: Array<() => unknown> = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** A session that somebody controls. */
async function newSession(): Promise<{ id: string; url: string; person: TerminalClient }> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const answer = await fetch(`${agent()}/sessions`, { method: 'POST', headers, body: '{}' });
  const { session_id, pty_ws_url } = (await answer.json()) as { session_id: string; pty_ws_url: string };
  const person = connect({ url: pty_ws_url, token, role: 'controller' });
  opened.push(() => person.close());
  await person.live();
  return { id: session_id, url: pty_ws_url, person };
}

/** An example that goes on; it ends with the test. */
function start(example: string, ...args: string[]): { process: ChildProcess; out(): string; err(): string } {
  const child = spawn(process.execPath, [`examples/${example}`, ...args], { env: { ...process.env, PTY_GATEWAY_TOKEN: token } });
  opened.push(() => child.kill());
  const said = { out: '', err: '' };
  child.stdout.on('data', (data) => {
    said.out += data;
  });
  child.stderr.on('data', (data) => {
    said.err += data;
  });
  return { process: child, out: () => said.out, err: () => said.err };
}

/** What an example prints. */
async function run(example: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [`examples/${example}`, ...args], {
    env: { ...process.env, PTY_GATEWAY_TOKEN: token },
    timeout: 60_000,
  });
  return stdout;
}

it('an example that lacks an argument says how it is used, and one that reaches no gateway which address that was', async () => {
  const failing = (example: string, ...args: string[]) => run(example, ...args).catch(({ code, stderr }) => [code, stderr]);
  expect(await failing('watch.mjs')).toEqual([1, 'usage: node watch.mjs PTY_WS_URL\n']);
  expect(await failing('answer.mjs', agent(), '.')).toEqual([1, "usage: node answer.mjs PTY_WS_URL 'PATTERN' ANSWER\n"]);
  const port = await freePort();
  expect(await failing('run-the-tests.mjs', `http://127.0.0.1:${port}/agents/shell`)).toEqual([1, expect.stringContaining(`${port}`)]);
});

it('run-the-tests sends a command, prints what it prints, cancels, and a person saw it all', async () => {
  const out = await run('run-the-tests.mjs', agent(), 'for i in 1 2 3; do echo "ok $i"; done');
  expect(out).toMatch(
    /^[^\n]+: [^\n]+\n[\s\S]*ok 1\s+ok 2\s+ok 3\s[\s\S]*The task is TASK_STATE_INPUT_REQUIRED: .*\nThe task is TASK_STATE_CANCELED: The task was canceled\.\nThe person saw [1-9]\d* bytes; then: /,
  );
});

it('run-the-tests says how a command has ended that ends its shell', async () => {
  const out = await run('run-the-tests.mjs', agent(), 'exit 3');
  expect(out).toMatch(/The task is TASK_STATE_FAILED: The program exited with status 3\.\nThe person saw [1-9]\d* bytes; then: /);
});

it('watch prints as text what an agent printed before and prints now, says what its task does, and ends with it', async () => {
  const { url, person } = await newSession();
  await person.send('echo before');
  const watch = start('watch.mjs', url);
  await until('it is live', async () => watch.err().includes('live'));
  await person.send("printf '\\033[1mnow\\033[m\\n'");
  person.input('exit\r');
  expect(await once(watch.process, 'exit')).toEqual([0, null]);
  expect(watch.out().replaceAll('\r', '')).toMatch(/^before$[\s\S]*^now$/m);
  expect(watch.err()).toMatch(/the task is TASK_STATE_WORKING[\s\S]*the task is TASK_STATE_COMPLETED[\s\S]*the session has ended/);
});

it('record-all keeps a recording of each session that has ended, and of no other, once its gateway can be reached', async () => {
  const [ended, running] = [await newSession(), await newSession()];
  ended.person.input('echo "recorded $((40 + 2))"; exit\r');
  await ended.person.ended;
  const folder = join(gateway.folder, 'recordings');
  const port = await freePort();
  const recorder = start('record-all.mjs', `http://127.0.0.1:${port}/agents/shell`, folder);
  await until('it cannot reach it', async () => recorder.err().includes('ECONNREFUSED'));
  const passage = await cutProxy(gateway.port, port);
  opened.push(() => passage.close());
  const file = join(folder, `${ended.id}.cast`);
  await until('it is recorded', async () => recorder.out().includes(file));
  const [header, ...events] = (await readFile(file, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(header).toMatchObject({ version: 2, width: 120, height: 30 });
  expect(events.map(([, , text]) => text).join('')).toContain('recorded 42');
  expect(await readdir(folder)).not.toContain(`${running.id}.cast`);
});

it('answer waits until it has control, answers the prompt each time, and ends with the session', async () => {
  const { url, person } = await newSession();
  const bot = start('answer.mjs', url, 'Go on\\? $', 'y');
  await until('it watches', async () => bot.err().includes('only watching'));
  person.input('for i in 1 2; do read -p "Go on? " reply; echo "reply $i: $reply"; done; exit\r');
  await person.requestRole('observer');
  expect(await once(bot.process, 'exit')).toEqual([0, null]);
  expect(bot.out()).toMatch(/^answered Go on\? \nanswered Go on\? \n$/);
});

it('README names each of them', async () => {
  const readme = await readFile('examples/README.md', 'utf8');
  for (const name of await readdir('examples')) expect(readme).toContain(name);
});
