// Redis servers of a test's own, on free ports: one, a cluster, or a master with its replica and a Sentinel. Knows no key.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from './free-port.js';

const run = promisify(execFile);
/** Those that run, which must not outlive the tests. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const server of running) server.kill('SIGKILL');
});

/** How long a server, a cluster or a failover may take to come about, in milliseconds. */
const PATIENCE_MS = 20_000;

/** Waits until something is so, asked again and again. */
export async function until(what: string, isSo: () => Promise<boolean> | boolean, patienceMs = PATIENCE_MS): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`it did not happen: ${what}`);
    await sleep(20);
  }
}

export class RedisServer {
  readonly port: number;
  readonly dir: string;
  readonly #args: readonly string[];
  #process: ChildProcess | undefined;

  /** `args` come before all others: a file of configuration must. */
  constructor(port: number, dir: string, args: readonly string[]) {
    this.port = port;
    this.dir = dir;
    this.#args = args;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Of the process that runs now. */
  get pid(): number {
    const pid = this.#process?.pid;
    if (pid === undefined) throw new Error('this redis-server does not run');
    return pid;
  }

  /** Where it talks to the other nodes of a cluster. */
  get clusterPort(): string | undefined {
    return this.#args[this.#args.indexOf('--cluster-port') + 1];
  }

  /** Says something to it with redis-cli; resolves with the answer as it prints it. */
  async tell(...words: string[]): Promise<string> {
    const { stdout } = await run('redis-cli', ['-h', '127.0.0.1', '-p', `${this.port}`, ...words]);
    return stdout.trim();
  }

  async start(...args: string[]): Promise<void> {
    const own = ['--port', `${this.port}`, '--bind', '127.0.0.1', '--dir', this.dir];
    const started = spawn('redis-server', [...this.#args, ...own, ...args], { stdio: 'ignore' });
    this.#process = started;
    running.add(started);
    started.once('exit', () => running.delete(started));
    await until(`redis-server answers on port ${this.port}`, () => this.#answers());
  }

  async #answers(): Promise<boolean> {
    return (await this.tell('PING').catch(() => '')) === 'PONG';
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal);
  }

  /** Ends it: in order, or as if the machine had fallen. What it wrote to its folder stays. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const started = this.#process;
    this.#process = undefined;
    if (!started || started.exitCode !== null || started.signalCode !== null) return;
    const gone = once(started, 'exit');
    started.kill(signal);
    await gone;
  }

  async dispose(): Promise<void> {
    await this.stop('SIGKILL');
    await rm(this.dir, { recursive: true, force: true });
  }
}

export async function startRedis(...args: string[]): Promise<RedisServer> {
  const dir = await mkdtemp(join(tmpdir(), 'redis-'));
  const server = new RedisServer(await freePort(), dir, ['--save', '', '--repl-diskless-sync-delay', '0', ...args]);
  await server.start();
  return server;
}

export interface RedisCluster {
  readonly url: string;
  readonly nodes: readonly RedisServer[];
  dispose(): Promise<void>;
}

/** A node that knows no other yet. */
export async function startClusterNode(...args: string[]): Promise<RedisServer> {
  const own = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000', '--cluster-port', `${await freePort()}`];
  return startRedis(...own, ...args);
}

/** Three nodes that share the slots; `args` are for each. */
export async function startCluster(...args: string[]): Promise<RedisCluster> {
  const nodes = await Promise.all(Array.from({ length: 3 }, () => startClusterNode(...args)));
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
  await run('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes']);
  await until('the cluster is formed', async () => {
    const states = await Promise.all(nodes.map((node) => node.tell('CLUSTER', 'INFO')));
    return states.every((state) => state.includes('cluster_state:ok'));
  });
  return {
    url: nodes.map(({ url }) => url).join(','),
    nodes,
    dispose: async () => {
      await Promise.all(nodes.map((node) => node.dispose()));
    },
  };
}

export interface RedisWithSentinel {
  readonly url: string;
  readonly sentinelMaster: string;
  readonly master: RedisServer;
  readonly replica: RedisServer;
  /** Resolves when the replica has become the master and the Sentinel says so. */
  promoted(): Promise<void>;
  dispose(): Promise<void>;
}

/** A master, its replica, and one Sentinel that watches them and fails over after half a second of silence. */
export async function startWithSentinel(): Promise<RedisWithSentinel> {
  const sentinelMaster = 'main';
  const master = await startRedis();
  const replica = await startRedis('--replicaof', '127.0.0.1', `${master.port}`);
  await until('the replica follows', async () => (await replica.tell('INFO', 'replication')).includes('master_link_status:up'));
  const sentinel = await startSentinel(sentinelMaster, master.port);
  await until('the Sentinel knows the replica', async () =>
    (await sentinel.tell('SENTINEL', 'REPLICAS', sentinelMaster)).includes(`${replica.port}`),
  );
  return {
    url: sentinel.url,
    sentinelMaster,
    master,
    replica,
    promoted: () =>
      until('the replica is promoted', async () => {
        const address = await sentinel.tell('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', sentinelMaster);
        return address.includes(`${replica.port}`) && (await replica.tell('ROLE')).startsWith('master');
      }),
    dispose: async () => {
      for (const server of [sentinel, replica, master]) await server.dispose();
    },
  };
}

async function startSentinel(name: string, masterPort: number): Promise<RedisServer> {
  const dir = await mkdtemp(join(tmpdir(), 'sentinel-'));
  const config = join(dir, 'sentinel.conf');
  await writeFile(config, `sentinel monitor ${name} 127.0.0.1 ${masterPort} 1\n`);
  await appendFile(config, `sentinel down-after-milliseconds ${name} 500\nsentinel failover-timeout ${name} 3000\n`);
  const server = new RedisServer(await freePort(), dir, [config, '--sentinel']);
  await server.start();
  return server;
}
