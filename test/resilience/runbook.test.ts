// Five faults in real processes, each found as docs/runbook.md says: by the alert of a real Prometheus and by a line of the log. Knows no part of the gateway.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { freePort } from '../support/free-port.js';
import { type Gateways, type GatewaysOptions, Replica, startGateways, tokenFor } from '../support/gateways.js';
import { unsharing } from '../support/mounted.js';
import { needs } from '../support/needs.js';
import { Onlooker } from '../support/onlooker.js';
import { plainClient } from '../support/plain-client.js';
import { Prometheus } from '../support/prometheus.js';
import { until } from '../support/redis.js';

// Several processes start in each test, and alerts take their time.
vi.setConfig({ testTimeout: 150_000, hookTimeout: 60_000 });

const runbook = await readFile('docs/runbook.md', 'utf8');

needs(
  'prometheus',
  'redis-server',
  'redis-cli',
)('a fault is found by the alert and the line of the runbook', () => {
  let logs: string;
  let gateways: Gateways | undefined;
  let prometheus: Prometheus | undefined;
  const closers: Array<() => void> = [];

  beforeEach(async () => {
    logs = await mkdtemp(join(tmpdir(), 'runbook-'));
  });
  afterEach(async () => {
    for (const close of closers.splice(0)) close();
    await prometheus?.dispose();
    await gateways?.dispose();
    prometheus = gateways = undefined;
    await rm(logs, { recursive: true, force: true });
  });

  /** Two replicas that Prometheus watches, and that are well. */
  async function watched(options: GatewaysOptions = {}): Promise<{ gateways: Gateways; prometheus: Prometheus }> {
    gateways = await startGateways({ logs, env: { LOG_LEVEL: 'info' }, ...options });
    prometheus = await Prometheus.start(gateways.replicas.map(({ port }) => port));
    const watching = prometheus;
    // Before it had scraped anybody, nobody was there.
    await until('no alert fires', async () => (await watching.firing()).length === 0);
    return { gateways, prometheus };
  }

  function look(at: Gateways, id: string, replica: number): Onlooker {
    const token = tokenFor('somebody', 'pty:control');
    const onlooker = new Onlooker({ url: at.urlOf(id, at.at(replica)), token, role: 'controller' });
    closers.push(() => onlooker.client.close());
    return onlooker;
  }

  /** The first line that says these words, which the runbook quotes, as soon as it is there. */
  async function line(replica: string, words: string): Promise<Record<string, unknown>> {
    expect(runbook).toContain(words);
    let found: string | undefined;
    await until(`${replica} says ${JSON.stringify(words)}`, async () => {
      const all = await readFile(join(logs, `${replica}.log`), 'utf8').catch(() => '');
      found = all.split('\n').find((one) => JSON.stringify(parsed(one).msg ?? '').includes(JSON.stringify(words).slice(1, -1)));
      return found !== undefined;
    });
    return parsed(found ?? '');
  }

  it('of a Redis that somebody else keeps busy', async () => {
    const { gateways, prometheus } = await watched();
    const id = await gateways.begin(gateways.at(0), '/bin/bash', '-c', 'while sleep 0.05; do date; done');
    let isOver = false;
    closers.push(() => {
      isOver = true;
    });
    const spin =
      "local from = redis.call('TIME'); repeat local now = redis.call('TIME') until (now[1] - from[1]) * 1e6 + now[2] - from[2] > 400000";
    const busy = async () => {
      while (!isOver) await gateways.redis.tell('EVAL', spin, '0').catch(() => {});
    };
    const neighbour = busy();
    const { job } = await prometheus.alert('PtyGatewayLogSlow');
    expect(job).toBe('pty-gateway');
    const said = await line('replica-0', 'the log is slow: this is how long an append took');
    expect(said.seconds).toBeGreaterThan(0.25);
    // What it is not: nothing is away, and no process is busy.
    expect(await prometheus.ask('min(pty_gateway_log_available) == 1')).toHaveLength(1);
    isOver = true;
    await neighbour;
    expect(id).toBeDefined();
  });

  it('of a worker of the screens that hangs over what a session prints', async () => {
    const stuck = pathToFileURL(resolve('test/support/stuck-worker.mjs')).href;
    const { gateways, prometheus } = await watched({ count: 1, env: { LOG_LEVEL: 'info', NODE_OPTIONS: `--import=${stuck}` } });
    const id = await gateways.begin(
      gateways.at(0),
      '/bin/bash',
      '-c',
      'read; echo HANG; for i in 1 2 3 4 5 6 7 8 9; do sleep 1; echo still-$i; done; read',
    );
    const onlooker = look(gateways, id, 0);
    await until('one controls', () => onlooker.client.role === 'controller');
    onlooker.client.input('\n');
    const { instance } = await prometheus.alert('PtyGatewayScreenWorkerReplaced');
    expect(instance).toBe(`127.0.0.1:${gateways.at(0).port}`);
    expect(await prometheus.ask('pty_gateway_screen_worker_restarts_total{cause="hung"} > 0')).toHaveLength(1);
    const said = await line('replica-0', 'a worker of the screens was replaced');
    expect(said).toMatchObject({ session_id: id, cause: 'hung' });
    const given = await line('replica-0', '; this session has no screen any more');
    expect(given).toMatchObject({ session_id: id, sequence: said.sequence });
    // The stream goes on all the same.
    await onlooker.sees('still-9');
  });

  it('of a replica that lacks the key with which the others seal what they keep', async () => {
    const sealing = (byte: number) => `k${byte}:${Buffer.alloc(32, byte).toString('base64')}`;
    const { gateways, prometheus } = await watched({ envOf: (i) => ({ REPLAY_ENCRYPTION_KEYS: sealing(i) }) });
    const [well, ill] = [gateways.at(0), gateways.at(1)];
    const id = await gateways.begin(well);
    expect((await gateways.ask(ill, 'GET', `/${id}`)).status).toBe(404);
    expect((await prometheus.alert('PtyGatewaySessionsUnreadable')).instance).toBe(`127.0.0.1:${ill.port}`);
    const said = await line(ill.id, 'which REPLAY_ENCRYPTION_KEYS does not have');
    expect(said.msg).toContain(`session ${id} is damaged: it is sealed with the key "k0"`);
    expect(await prometheus.firing()).toEqual(['PtyGatewaySessionsUnreadable']);
  });

  it('of a replica that checks tokens with another key than the others', async () => {
    const odd = { AUTH_JWT_SECRET: 'another secret of the tests, long enough too' };
    const { gateways, prometheus } = await watched({ envOf: (i) => (i === 0 ? {} : odd) });
    const ill = gateways.at(1);
    closers.push(repeat(() => gateways.ask(ill, 'GET', ''), 50));
    expect((await prometheus.alert('PtyGatewayTokensRefused')).instance).toBe(`127.0.0.1:${ill.port}`);
    expect(await line(ill.id, 'request')).toMatchObject({ status: 401, why: 'the token is not valid' });
    expect(runbook).toContain('`the token is not valid`');
    expect(await prometheus.firing()).toEqual(['PtyGatewayTokensRefused']);
  });

  it('of a client that floods', async () => {
    const { gateways, prometheus } = await watched();
    const id = await gateways.begin(gateways.at(0));
    const flooder = await plainClient(gateways.urlOf(id, gateways.at(1)), tokenFor('mallory', 'pty:observe'));
    for (let sent = 0; sent < 200_000 && !flooder.closed; sent += 1000) {
      for (let i = 0; i < 1000; i++) flooder.say('ping', { client_ts: 'now' });
      await setImmediate();
    }
    // It is held back for a while first.
    await until('it is sent away', () => flooder.closed !== undefined, 90_000);
    expect(flooder.closed?.code).toBe(4429);
    expect((await prometheus.alert('PtyGatewayFlooded')).instance).toBe(`127.0.0.1:${gateways.at(1).port}`);
    const said = await line('replica-1', 'a connection was sent away: it went on sending more than it may');
    expect(said).toMatchObject({ principal: 'mallory', session_id: id, address: '127.0.0.1' });
    expect(await prometheus.firing()).toEqual(['PtyGatewayFlooded']);
  });

  const unshare = unsharing();
  it.runIf(unshare)('of a disk that is full, and then is not', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'full-'));
    const port = await freePort();
    const gateway = startOnSmallDisk(unshare as string[], { folder, port, logs });
    closers.push(() => gateway.kill());
    const replica = new Replica('alone', port, { folder, env: {}, logs: undefined });
    await until('it takes work', () => replica.isReady(), 60_000);
    prometheus = await Prometheus.start([port]);
    const alone = { port };
    const headers = { authorization: `Bearer ${tokenFor('somebody', 'pty:admin')}`, 'content-type': 'application/json' };
    const began = await fetch(`http://127.0.0.1:${alone.port}/agents/shell/sessions`, { method: 'POST', headers, body: '{}' });
    const { pty_ws_url } = (await began.json()) as { pty_ws_url: string };
    const client = await plainClient(pty_ws_url, tokenFor('somebody', 'pty:admin'));
    closers.push(() => client.ws.close());
    await client.attach();
    client.type('yes this fills the disk\r');
    await prometheus.alert('PtyGatewayLogUnavailable');
    await line('alone', 'cannot be written: the disk is full (ENOSPC); it is tried again');
    // The audit is on the same disk; each of these leaves a line in it.
    closers.push(
      repeat(
        () => fetch(`http://127.0.0.1:${port}/agents/shell/sessions`, { method: 'POST', headers: { ...headers, authorization: '' } }),
        20,
      ),
    );
    await prometheus.alert('PtyGatewayAuditNotWritten');
    await line('alone', 'the audit file');
    await prometheus.alert('PtyGatewayTerminalsHeldUp');
    gateway.makeRoom();
    const well = async () => (await prometheus?.ask('pty_gateway_log_available == 1 and pty_gateway_audit_writable == 1'))?.length === 1;
    await until('it goes on by itself', well, 60_000);
    await rm(folder, { recursive: true, force: true });
  });
});

function parsed(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line);
  } catch {
    return {};
  }
}

/** Does it again and again, until the answer is called. */
function repeat(what: () => Promise<unknown>, everyMs: number): () => void {
  const timer = setInterval(() => void what().catch(() => {}), everyMs);
  return () => clearInterval(timer);
}

interface SmallDisk {
  readonly folder: string;
  readonly port: number;
  readonly logs: string;
}

/** A gateway whose data are on 4 MiB of which 3 MiB are somebody else's; `makeRoom` takes away those and makes the disk larger. */
function startOnSmallDisk(unshare: readonly string[], { folder, port, logs }: SmallDisk): { makeRoom(): void; kill(): void } {
  const script = [
    'mount -t tmpfs -o size=4m tmpfs "$0"',
    'head -c 3145728 /dev/zero > "$0/other"',
    `"$1" "$2" serve > "${logs}/alone.log" 2>&1 &`,
    'echo started; read go; mount -o remount,size=256m "$0"; rm "$0/other"; wait',
  ].join('\n');
  const args = [...unshare, 'sh', '-c', script, folder, process.execPath, resolve('dist/src/main.js')];
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    DATA_DIR: join(folder, 'data'),
    PORT: `${port}`,
    AUTH_JWT_SECRET: 'a secret of the tests, long enough for HS256',
  };
  const child = spawn('unshare', args, { env, stdio: ['pipe', 'ignore', 'ignore'], detached: true });
  return {
    makeRoom: () => void child.stdin.write('go\n'),
    kill: () => {
      if (child.exitCode !== null) return;
      void once(child, 'exit');
      process.kill(-(child.pid as number), 'SIGKILL');
    },
  };
}
