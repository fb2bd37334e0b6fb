import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { EXTENSION_URI } from '../../src/protocol/names.js';
import { freePort } from '../support/free-port.js';
import { type Run, run, runScript } from './process.js';

const running: Run[] = [];
afterEach(async () => {
  for (const { child, exit } of running.splice(0)) {
    child.kill('SIGKILL');
    await exit;
  }
});
const key = { AUTH_JWT_SECRET: 'a secret of the tests, long enough for HS256' };
const serve = (env: NodeJS.ProcessEnv) => {
  const started = run(['serve'], { PORT: '0', ...env });
  running.push(started);
  return started;
};

/** A gateway as it starts without any configuration, by the URL that it prints. */
async function invited(env: NodeJS.ProcessEnv = {}) {
  const gateway = serve(env);
  const [, base = '', token = ''] = await gateway.prints(/^Open (http:\/\/127\.0\.0\.1:\d+)\/#token=([^&\s]+)&open=\w+\n/m);
  const call = async (method: string, at: string) => {
    const response = await fetch(base + at, { method, headers: { authorization: `Bearer ${token}` } });
    // biome-ignore lint/suspicious/noExplicitAny: the test says what it expects.
    return { status: response.status, json: (await response.json()) as any };
  };
  const attach = async () => {
    const session = (await call('POST', '/agents/shell/sessions')).json;
    const ws = new WebSocket(session.pty_ws_url, ['pty-ws.v1'], { headers: { authorization: `Bearer ${token}` } });
    const goodbye = new Promise<string>((resolve) => {
      ws.on('message', (data) => {
        const { op, payload } = JSON.parse(String(data));
        if (op === 'binding_goodbye') resolve(payload.reason);
      });
    });
    const closed = new Promise<number>((resolve) => ws.on('close', resolve));
    await new Promise((resolve) => ws.on('open', resolve));
    ws.send(JSON.stringify({ op: 'pty.join_session', id: '1', payload: { role: 'controller' }, extensions: [EXTENSION_URI] }));
    await expect.poll(async () => (await call('GET', `/agents/shell/sessions/${session.session_id}`)).json.controllers.length).toBe(1);
    return { ws, session, goodbye, closed };
  };
  return { gateway, base, token, call, attach };
}

describe('serve', () => {
  it('starts without any configuration, and prints a URL that is signed in, for development', async () => {
    const { gateway, call } = await invited();
    await gateway.prints(/This is for development/);
    expect((await call('GET', '/readyz')).json).toEqual({ status: 'ready' });
    expect((await call('GET', '/agents')).json.agents.map((card: { name: string }) => card.name)).toEqual(['Shell']);
    expect((await call('POST', '/agents/shell/sessions')).status).toBe(201);
  });

  it('makes another key at each start', async () => {
    const [first, second] = [await invited(), await invited()];
    const response = await fetch(`${second.base}/agents`, { headers: { authorization: `Bearer ${first.token}` } });
    expect(response.status).toBe(401);
  });

  it.each([
    ['a bad value', { PORT: 'http' }, /^pty-gateway: PORT is "http"; expected an integer from 0 to 65535\n$/],
    ['no key where others can reach it', { HOST: '0.0.0.0' }, /^pty-gateway: HOST is "0\.0\.0\.0" and no key is set; expected [^\n]*\n$/],
    ['a key for cards that is none', { CARD_SIGNING_KEY: '/etc/hosts' }, /^pty-gateway: CARD_SIGNING_KEY is not usable [^\n]*\n$/],
    ['a key that is none', { AUTH_JWT_PUBLIC_KEY: 'x' }, /^pty-gateway: AUTH_JWT_PUBLIC_KEY is not usable [^\n]*\n$/],
    [
      'an agents file that is not there',
      { AGENTS_FILE: '/no/such/file' },
      /^pty-gateway: AGENTS_FILE: \/no\/such\/file cannot be read: [^\n]*\n$/,
    ],
    ['a key of what is stored that is none', { REPLAY_ENCRYPTION_KEYS: 'x' }, /^pty-gateway: REPLAY_ENCRYPTION_KEYS: entry 1 [^\n]*\n$/],
    ['an address of Redis that is none', { REDIS_URL: 'http://x' }, /^pty-gateway: REDIS_URL is not usable: [^\n]*\n$/],
    ['a password of Redis that is none', { REDIS_URL: 'redis://u:%zz@x' }, /^pty-gateway: REDIS_URL is not usable: [^\n]*\n$/],
    ['a file for a data folder', { DATA_DIR: '/etc/passwd' }, /^pty-gateway: DATA_DIR cannot be used; [^\n]*\n$/],
    ['a data folder where none can be made', { DATA_DIR: '/proc/x' }, /^pty-gateway: DATA_DIR cannot be used; [^\n]*\n$/],
    ['a data folder in which nothing can be made', { DATA_DIR: '/proc' }, /^pty-gateway: DATA_DIR cannot be used; [^\n]*\n$/],
    ['a folder for an audit file', { AUDIT_FILE: '/tmp' }, /^pty-gateway: AUDIT_FILE: \/tmp cannot be opened: [^\n]*\n$/],
    ['an audit file that cannot be made', { AUDIT_FILE: '/proc/x' }, /^pty-gateway: AUDIT_FILE: \/proc\/x cannot be opened: [^\n]*\n$/],
    [
      'an audit file that keeps nothing',
      { AUDIT_FILE: '/dev/null' },
      /^pty-gateway: AUDIT_FILE: \/dev\/null is no regular file; [^\n]*\n$/,
    ],
    ['a host that is none', { ...key, HOST: '999.1.1.1' }, /^pty-gateway: HOST is "999\.1\.1\.1"; expected [^\n]*\n$/],
    ['a host that is not this one', { ...key, HOST: '203.0.113.1' }, /^pty-gateway: HOST is "203\.0\.113\.1"; expected [^\n]*\n$/],
  ])('refuses to start with %s, in one line and with status 78', async (_what, env, line) => {
    const refused = serve(env);
    expect(await refused.exit).toEqual({ code: 78, signal: null });
    expect([refused.out, refused.err]).toEqual(['', expect.stringMatching(line)]);
  });

  it('says in one line that the port is taken', async () => {
    const port = String(await freePort());
    const first = serve({ PORT: port });
    await first.prints(/^Open /m);
    const second = serve({ PORT: port });
    expect((await second.exit).code).toBe(1);
    expect(second.err).toMatch(new RegExp(`^pty-gateway: 127\\.0\\.0\\.1:${port} is taken by another process \\(EADDRINUSE\\)\\n$`));
  });

  it('says in one line that Redis does not answer', async () => {
    const port = await freePort();
    const refused = serve({ REDIS_URL: `redis://127.0.0.1:${port}` });
    expect((await refused.exit).code).toBe(1);
    expect(refused.err).toMatch(new RegExp(`^pty-gateway: Redis \\(127\\.0\\.0\\.1:${port}\\) cannot be reached: [^\\n]*\\n$`));
  });

  it('says in one line that another process has the data folder', async () => {
    const { gateway } = await invited();
    const second = serve({ DATA_DIR: gateway.dataDir });
    expect((await second.exit).code).not.toBe(0);
    expect(second.err).toMatch(new RegExp(`^pty-gateway: [^\\n]*${gateway.child.pid}[^\\n]*\\n$`));
  });

  it('reads the agents file again on SIGHUP, and keeps the agents if it is bad', async () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'agents-')), 'agents.yaml');
    const agents = (...names: string[]) =>
      writeFileSync(file, `agents: {${names.map((n) => `${n}: {name: ${n}, command: [/bin/cat]}`).join(', ')}}`);
    agents('one');
    const { gateway, call } = await invited({ AGENTS_FILE: file });
    const names = async () => (await call('GET', '/agents')).json.agents.map((card: { name: string }) => card.name);
    agents('one', 'two');
    gateway.child.kill('SIGHUP');
    await gateway.prints(/AGENTS_FILE was read again: one, two/);
    expect(await names()).toEqual(['one', 'two']);
    writeFileSync(file, 'agents: {three: {}}');
    gateway.child.kill('SIGHUP');
    await gateway.prints(/AGENTS_FILE stays as it was: [^\n]*agents\.three\.name: expected a string of at least 1 characters, got nothing/);
    expect(await names()).toEqual(['one', 'two']);
  });
});

describe('SIGTERM', () => {
  it('says goodbye to clients, ends the terminals, and exits with 0', async () => {
    const { gateway, attach } = await invited();
    const client = await attach();
    gateway.child.kill('SIGTERM');
    expect(await client.goodbye).toBe('server_shutdown');
    expect(await client.closed).toBe(1000);
    expect(await gateway.exit).toEqual({ code: 0, signal: null });
    const again = await invited({ DATA_DIR: gateway.dataDir });
    expect((await again.call('GET', '/agents/shell/sessions')).json.sessions).toMatchObject([
      { session_id: client.session.session_id, state: 'closed', reason: 'instance_terminated' },
    ]);
  });

  it('makes it not ready, and takes no session any more, while a client is slow to leave', async () => {
    const { gateway, attach, call } = await invited();
    const slow = await attach();
    // It takes nothing in, so it does not answer the close.
    slow.ws.pause();
    gateway.child.kill('SIGTERM');
    await expect.poll(async () => (await call('GET', '/readyz')).json).toEqual({ status: 'not ready', reason: 'draining' });
    expect((await call('GET', '/healthz')).status).toBe(200);
    expect((await call('POST', '/agents/shell/sessions')).status).toBe(503);
    gateway.child.kill('SIGTERM');
    expect((await gateway.exit).code).toBe(1);
    slow.ws.terminate();
  });
});

describe('a failure that nobody caught', () => {
  it.each(["throw new Error('by surprise')", "Promise.reject(new Error('by surprise'))"])(
    'is logged and ends the process: %s',
    async (failure) => {
      const script = runScript(`
      import { endOnSignals } from './src/shutdown.ts';
      endOnSignals({ log: { fatal: ({ err }, message) => console.log(message, err.message) } });
      setInterval(() => {}, 1000);
      setImmediate(() => { ${failure} });
    `);
      expect(await script.exit).toEqual({ code: 1, signal: null });
      expect(script.out).toBe('the gateway ends because of a failure that nobody caught by surprise\n');
    },
  );
});
