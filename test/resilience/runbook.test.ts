// Faults in real processes, each found as docs/runbook.md says: by the alert of a real Prometheus and by a line of the log. Knows no part of the gateway.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { freePort } from '../support/free-port.js';
import { type Gateways, type GatewaysOptions, Replica, startGateways, tokenFor } from '../support/gateways.js';
import { unsharing } from '../support/mounted.js';
import { needs } from '../support/needs.js';
import { Onlooker } from '../support/onlooker.js';
import { plainClient } from '../support/plain-client.js';
import { Prometheus } from '../support/prometheus.js';
import { openReceiver } from '../support/receiver.js';
import { until } from '../support/redis.js';

// Several processes start in each test, and alerts take their time.
vi.setConfig({ testTimeout: 150_000, hookTimeout: 150_000 });

/** What fires also where a machine is busy with others. */
const SLOWNESS = new Set(['PtyGatewayDeliverySlow', 'PtyGatewayEventLoopSlow', 'PtyGatewayLogSlow', 'PtyGatewayTerminalsHeldUp']);
/** More than the tail of a session and a socket hold, in bytes. */
const LAG_BYTES = 32 * 1024 * 1024;

const stuck = pathToFileURL(resolve('test/support/stuck-worker.mjs')).href;
const sealing = (byte: number) => `k${byte}:${Buffer.alloc(32, byte).toString('base64')}`;
const odd = { AUTH_JWT_SECRET: 'another secret of the tests, long enough too' };

/** Gateways in which a fault is made, and how they are set up for it. */
const houses = {
  'hung-worker': { count: 1, env: { NODE_OPTIONS: `--import=${stuck}` } },
  'other-key': { envOf: (i) => ({ REPLAY_ENCRYPTION_KEYS: sealing(i) }) },
  'other-secret': { envOf: (i) => (i === 0 ? {} : odd) },
  crowd: { envOf: (i) => (i === 0 ? {} : { HEARTBEAT_INTERVAL_SECONDS: '1', HEARTBEAT_TIMEOUT_SECONDS: '3' }) },
  loss: { env: { PUSH_ALLOWED_HOSTS: '127.0.0.1' } },
  'slow-redis': {},
  flood: {},
} as const satisfies Readonly<Record<string, GatewaysOptions>>;
type House = keyof typeof houses;

const runbook = await readFile('docs/runbook.md', 'utf8');

needs(
  'prometheus',
  'redis-server',
  'redis-cli',
)('a fault is found by the alert and the line of the runbook', () => {
  let logs: string;
  let prometheus: Prometheus;
  let gatewaysOf: Readonly<Record<House, Gateways>>;
  const closers: Array<() => void> = [];

  // All of them at once: most of the time it is waited.
  beforeAll(async () => {
    logs = await mkdtemp(join(tmpdir(), 'runbook-'));
    gatewaysOf = await allOf<House, GatewaysOptions, Gateways>(houses, async (options, name) => {
      await mkdir(join(logs, name));
      return startGateways({ logs: join(logs, name), ...options, env: { LOG_LEVEL: 'info', ...options.env } });
    });
    prometheus = await Prometheus.start(await allOf(gatewaysOf, async ({ replicas }) => replicas.map(({ port }) => port)));
    // Before it had scraped anybody, nobody was there.
    await until('nobody is absent any more', async () => !(await prometheus.firing()).includes('PtyGatewayAbsent'));
  });
  afterAll(async () => {
    try {
      for (const close of closers.splice(0)) close();
    } finally {
      await prometheus?.dispose();
      await Promise.all(Object.values(gatewaysOf ?? {}).map((gateways) => gateways.dispose()));
      await rm(logs, { recursive: true, force: true });
    }
  });

  /** What fires in a house, but for what a busy machine brings about. */
  const firing = async (house: House) => (await prometheus.firing(house)).filter((name) => !SLOWNESS.has(name));

  function look(at: Gateways, id: string, replica: number): Onlooker {
    const token = tokenFor('somebody', 'pty:control');
    const onlooker = new Onlooker({ url: at.urlOf(id, at.at(replica)), token, role: 'controller' });
    closers.push(() => onlooker.client.close());
    return onlooker;
  }

  /** The first line that says these words, which the runbook quotes, as soon as it is there; of a house, or of one alone. */
  async function line(house: House | '', replica: string, words: string): Promise<Record<string, unknown>> {
    expect(runbook).toContain(words);
    let found: string | undefined;
    await until(`${replica} says ${JSON.stringify(words)}`, async () => {
      const all = await readFile(join(logs, house, `${replica}.log`), 'utf8').catch(() => '');
      found = all.split('\n').find((one) => JSON.stringify(parsed(one).msg ?? '').includes(JSON.stringify(words).slice(1, -1)));
      return found !== undefined;
    });
    return parsed(found ?? '');
  }

  it.concurrent('of a worker of the screens that hangs over what a session prints', async () => {
    const gateways = gatewaysOf['hung-worker'];
    const id = await gateways.begin(
      gateways.at(0),
      '/bin/bash',
      '-c',
      'read; echo HANG; for i in 1 2 3 4 5 6 7 8 9; do sleep 1; echo still-$i; done; read',
    );
    const onlooker = look(gateways, id, 0);
    await until('one controls', () => onlooker.client.role === 'controller');
    onlooker.client.input('\n');
    const { instance } = await prometheus.alert('PtyGatewayScreenWorkerReplaced', 'hung-worker');
    expect(instance).toBe(`127.0.0.1:${gateways.at(0).port}`);
    expect(await prometheus.ask('pty_gateway_screen_worker_restarts_total{job="hung-worker", cause="hung"} > 0')).toHaveLength(1);
    const said = await line('hung-worker', 'replica-0', 'a worker of the screens was replaced');
    expect(said).toMatchObject({ session_id: id, cause: 'hung', principal: 'operator', instance_id: expect.any(String) });
    const given = await line('hung-worker', 'replica-0', '; this session has no screen any more');
    expect(given).toMatchObject({ session_id: id, sequence: said.sequence });
    await until(
      'it is counted',
      async () => (await prometheus.ask('pty_gateway_sessions_without_screen{job="hung-worker"} == 1')).length === 1,
    );
    // The stream goes on all the same.
    await onlooker.sees('still-9');
  });

  it.concurrent('of a replica that lacks the key with which the others seal what they keep', async () => {
    const gateways = gatewaysOf['other-key'];
    const [well, ill] = [gateways.at(0), gateways.at(1)];
    const id = await gateways.begin(well);
    expect((await gateways.ask(ill, 'GET', `/${id}`)).status).toBe(404);
    expect((await prometheus.alert('PtyGatewaySessionsUnreadable', 'other-key')).instance).toBe(`127.0.0.1:${ill.port}`);
    const said = await line('other-key', ill.id, 'which REPLAY_ENCRYPTION_KEYS does not have');
    expect(said.msg).toContain(`session ${id} cannot be read here: it is sealed with the key "k0"`);
    for (const [i, { id: replica }] of gateways.replicas.entries())
      expect(await line('other-key', replica, 'the gateway is ready')).toMatchObject({ sealing_keys: [`k${i}`] });
    expect(await firing('other-key')).toEqual(['PtyGatewaySessionsUnreadable']);
  });

  it.concurrent('of a replica that checks tokens with another key than the others', async () => {
    const gateways = gatewaysOf['other-secret'];
    const ill = gateways.at(1);
    closers.push(repeat(() => gateways.ask(ill, 'GET', ''), 50));
    expect((await prometheus.alert('PtyGatewayTokensRefused', 'other-secret')).instance).toBe(`127.0.0.1:${ill.port}`);
    expect(await line('other-secret', ill.id, 'request')).toMatchObject({ status: 401, why: 'the token is not valid' });
    expect(runbook).toContain('`the token is not valid`');
    expect(await firing('other-secret')).toEqual(['PtyGatewayTokensRefused']);
  });

  it.concurrent('of clients that are too slow, or say nothing', async () => {
    const gateways = gatewaysOf.crowd;
    const [owner, quick] = [gateways.at(0), gateways.at(1)];
    const id = await gateways.begin(owner, '/bin/bash', '-c', `read; yes lagging | head -c ${LAG_BYTES}; read`);
    const client = await plainClient(gateways.urlOf(id, owner), tokenFor('slow', 'pty:control'));
    closers.push(() => client.ws.terminate());
    await client.attach();
    client.type('\n');
    client.ws.pause();
    await prometheus.shows(`pty_gateway_terminal_output_bytes_total{job="crowd"} >= ${LAG_BYTES}`);
    client.ws.resume();
    await prometheus.shows('rate(pty_gateway_lagged_clients_total{job="crowd"}[1m]) > 0');
    // Whose program it is that prints so much.
    expect(await line('crowd', owner.id, 'a session prints very much')).toMatchObject({ session_id: id, principal: 'operator' });
    const silent = new WebSocket(gateways.urlOf(id, quick), ['pty-ws.v1'], {
      autoPong: false,
      headers: { authorization: `Bearer ${tokenFor('silent', 'pty:observe')}` },
    });
    silent.on('error', () => {});
    const { metric } = await prometheus.shows('rate(pty_gateway_reaped_connections_total{job="crowd"}[1m]) > 0');
    expect(metric.instance).toBe(`127.0.0.1:${quick.port}`);
  });

  it.concurrent('of a receiver of push notifications that takes none, and of a replica that dies with its sessions', async () => {
    const gateways = gatewaysOf.loss;
    const [stays, dies] = [gateways.at(0), gateways.at(1)];
    const receiver = await openReceiver({ reply: () => 404 });
    closers.push(() => void receiver.close());
    for (let i = 0; i < 5; i++) {
      const { status } = await fetch(`http://127.0.0.1:${stays.port}/agents/shell/a2a/v1/message:send`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${tokenFor('somebody', 'pty:control')}`,
          'content-type': 'application/json',
          'a2a-version': '1.0',
        },
        body: JSON.stringify({
          message: { messageId: `m${i}`, role: 'ROLE_USER', parts: [{ text: 'date' }] },
          configuration: { taskPushNotificationConfig: { url: receiver.url } },
        }),
      });
      expect(status).toBe(200);
    }
    expect((await prometheus.alert('PtyGatewayPushFailing', 'loss')).instance).toBe(`127.0.0.1:${stays.port}`);
    expect(await line('loss', stays.id, 'a push notification was not delivered')).toMatchObject({ why: 'HTTP 404' });
    const id = await gateways.begin(dies);
    await dies.stop('SIGKILL');
    expect((await prometheus.alert('PtyGatewaySessionsLost', 'loss')).instance).toBe(`127.0.0.1:${stays.port}`);
    const said = await line('loss', stays.id, 'a session whose replica is gone was closed');
    expect(said).toMatchObject({ session_id: id, owner: dies.id });
    expect((await prometheus.alert('PtyGatewayReplicaDown', 'loss')).instance).toBe(`127.0.0.1:${dies.port}`);
    expect(await firing('loss')).toEqual(['PtyGatewayPushFailing', 'PtyGatewayReplicaDown', 'PtyGatewaySessionsLost']);
  });

  const unshare = unsharing();
  it.runIf(unshare).concurrent('of a disk that is full, and then is not', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'full-'));
    const port = await freePort();
    const gateway = startOnSmallDisk(unshare as string[], { folder, port, logs });
    closers.push(() => gateway.kill());
    const replica = new Replica('alone', port, { folder, env: {}, logs: undefined });
    await until('it takes work', () => replica.isReady(), 60_000);
    const watching = await Prometheus.start({ disk: [port] });
    const alone = { port };
    const headers = { authorization: `Bearer ${tokenFor('somebody', 'pty:admin')}`, 'content-type': 'application/json' };
    const began = await fetch(`http://127.0.0.1:${alone.port}/agents/shell/sessions`, { method: 'POST', headers, body: '{}' });
    const { pty_ws_url } = (await began.json()) as { pty_ws_url: string };
    const client = await plainClient(pty_ws_url, tokenFor('somebody', 'pty:admin'));
    closers.push(() => client.ws.close());
    await client.attach();
    client.type('yes this fills the disk\r');
    await watching.alert('PtyGatewayLogUnavailable');
    await watching.alert('PtyGatewayDiskFillsUp');
    const said = await line('', 'alone', 'cannot be written: the disk is full (ENOSPC); it is tried again');
    expect(said).toMatchObject({ session_id: pty_ws_url.split('/').at(-2), path: expect.stringContaining(folder) });
    // The audit is on the same disk; each of these leaves a line in it.
    closers.push(
      repeat(
        () => fetch(`http://127.0.0.1:${port}/agents/shell/sessions`, { method: 'POST', headers: { ...headers, authorization: '' } }),
        20,
      ),
    );
    await watching.alert('PtyGatewayAuditNotWritten');
    await line('', 'alone', 'the audit file');
    await watching.alert('PtyGatewayTerminalsHeldUp');
    gateway.makeRoom();
    const well = async () => (await watching.ask('pty_gateway_log_available == 1 and pty_gateway_audit_writable == 1'))?.length === 1;
    await until('it goes on by itself', well, 60_000);
    await line('', 'alone', 'the disk takes entries again');
    await watching.dispose();
    gateway.kill();
    await rm(folder, { recursive: true, force: true });
  });

  it('of a Redis that somebody else keeps busy', async () => {
    const gateways = gatewaysOf['slow-redis'];
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
    const { job } = await prometheus.alert('PtyGatewayLogSlow', 'slow-redis');
    expect(job).toBe('slow-redis');
    const said = await line('slow-redis', 'replica-0', 'the log is slow: this is how long an append took');
    expect(said.seconds).toBeGreaterThan(0.25);
    expect(said.event_loop_lag_seconds).toEqual(expect.any(Number));
    // What it is not: nothing is away, and no process is busy.
    expect(await prometheus.ask('min(pty_gateway_log_available{job="slow-redis"}) == 1')).toHaveLength(1);
    isOver = true;
    await neighbour;
    expect(id).toBeDefined();
  });

  it('of a client that floods', async () => {
    const gateways = gatewaysOf.flood;
    const id = await gateways.begin(gateways.at(0));
    const flooder = await plainClient(gateways.urlOf(id, gateways.at(1)), tokenFor('mallory', 'pty:observe'));
    await flooder.attach({ role: 'observer' });
    await flooder.answer(flooder.type('what an observer may not'));
    for (let sent = 0; sent < 200_000 && !flooder.closed; sent += 1000) {
      for (let i = 0; i < 1000; i++) flooder.say('ping', { client_ts: 'now' });
      await setImmediate();
    }
    // It is held back for a while first.
    expect((await prometheus.alert('PtyGatewayClientsHeldBack', 'flood')).instance).toBe(`127.0.0.1:${gateways.at(1).port}`);
    const held = await line('flood', 'replica-1', 'a connection is held back: it sends more than it may');
    expect(held).toMatchObject({
      principal: 'mallory',
      session_id: id,
      address: '127.0.0.1',
      cause: expect.stringMatching(/frames|requests/),
      last_op: 'ping',
      last_refusal: 'PERMISSION_DENIED',
    });
    await until('it is sent away', () => flooder.closed !== undefined, 90_000);
    expect(flooder.closed?.code).toBe(4429);
    expect((await prometheus.alert('PtyGatewayFlooded', 'flood')).instance).toBe(`127.0.0.1:${gateways.at(1).port}`);
    const said = await line('flood', 'replica-1', 'a connection was sent away: it went on sending more than it may');
    expect(said).toMatchObject({
      principal: 'mallory',
      session_id: id,
      address: '127.0.0.1',
      last_op: 'ping',
      last_refusal: 'PERMISSION_DENIED',
    });
    expect(await firing('flood')).toEqual(['PtyGatewayClientsHeldBack', 'PtyGatewayFlooded']);
  });
});

/** The same names, with what became of each; all at the same time. */
async function allOf<K extends string, From, To>(
  all: Readonly<Record<K, From>>,
  make: (from: From, name: K) => Promise<To>,
): Promise<Record<K, To>> {
  const made = Object.entries<From>(all).map(async ([name, from]) => [name, await make(from, name as K)] as const);
  return Object.fromEntries(await Promise.all(made)) as Record<K, To>;
}

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
      if (child.exitCode !== null || child.signalCode !== null) return;
      void once(child, 'exit');
      process.kill(-(child.pid as number), 'SIGKILL');
    },
  };
}
