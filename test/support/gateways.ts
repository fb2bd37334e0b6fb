// Built gateways on one Redis, each a process of its own that a test can kill, stop and start again. Knows no assertion.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Scope } from '../../src/access/principal.js';
import { mintToken } from '../../src/access/token.js';
import { type CutProxy, cutProxy } from './cut-proxy.js';
import { freePort } from './free-port.js';
import { type RedisServer, startRedis, until } from './redis.js';
import { type Lag, type SlowWire, slowWire } from './slow-wire.js';

/** Where the build is: `dist`, or what PTY_GATEWAY_DIST names. */
const dist = resolve(process.env.PTY_GATEWAY_DIST ?? 'dist');
const SECRET = 'a secret of the tests, long enough for HS256';
/** The instance that every gateway has. */
const INSTANCE = 'shell';
/** After how long a replica that is dead is believed dead, in seconds. */
const LEASE_SECONDS = 2;
/** What a gateway said last and is kept, in characters. */
const SAID_CHARS = 4000;
/** Milliseconds until a gateway takes work, on a machine that is busy with others. */
const START_MS = 90_000;
/** Milliseconds that an answer to a request may take. */
const ANSWER_MS = 20_000;

export const tokenFor = (sub: string, scope: Scope): string => mintToken(SECRET, { sub, scope, ttlSeconds: 3600 });

interface Surroundings {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly logs: string | undefined;
  /** The folder of its build; `dist`, or what PTY_GATEWAY_DIST names, if absent. */
  readonly build?: string | undefined;
}

/** One replica; it keeps its port, its id and its folder over all its lives. */
export class Replica {
  readonly id: string;
  readonly port: number;
  readonly #folder: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #logs: string | undefined;
  /** In words, each process that ended without being stopped: with what, when, and what it had said last. */
  readonly deaths: string[] = [];
  /** The build that its next life is of. */
  build: string;
  #process: ChildProcess | undefined;
  #said = '';

  /** `logs` is a folder for all that it says, over all its lives. */
  constructor(id: string, port: number, { folder, env, logs, build = dist }: Surroundings) {
    this.id = id;
    this.port = port;
    this.#folder = folder;
    this.#env = env;
    this.#logs = logs;
    this.build = build;
  }

  /** Resolves when it takes work. */
  async start(): Promise<void> {
    const own = { REPLICA_ID: this.id, PORT: `${this.port}`, DATA_DIR: join(this.#folder, this.id) };
    const env = { PATH: process.env.PATH, HOME: this.#folder, ...this.#env, ...own };
    const running = spawn(process.execPath, [join(this.build, 'src/main.js'), 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#process = running;
    this.#listen(running);
    await until(`${this.id} takes work`, () => this.#hasStarted(running), START_MS).catch((error) => {
      throw new Error(`${error.message}; ${this.id} said: ${this.#said}`, { cause: error });
    });
  }

  /** What it says, and whether it ends while nobody has stopped it. */
  #listen(running: ChildProcess): void {
    this.#said = '';
    for (const stream of [running.stdout, running.stderr]) {
      stream?.on('data', (chunk) => {
        this.#said = (this.#said + chunk).slice(-SAID_CHARS);
      });
      if (this.#logs !== undefined) stream?.pipe(createWriteStream(join(this.#logs, `${this.id}.log`), { flags: 'a' }));
    }
    // When it is closed, all that it said has come.
    running.once('close', (code, signal) => {
      if (this.#process !== running) return;
      this.deaths.push(`${new Date().toISOString()} ${this.id} ended by itself with ${code ?? signal}; it said last: ${this.#said}`);
    });
  }

  async #hasStarted(running: ChildProcess): Promise<boolean> {
    if (running.exitCode !== null) throw new Error(`it ended with ${running.exitCode}`);
    return this.isReady();
  }

  async isReady(): Promise<boolean> {
    return fetch(`http://127.0.0.1:${this.port}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  }

  /** Another process with its id, which has not begun. */
  async twin(): Promise<Replica> {
    return new Replica(this.id, await freePort(), {
      folder: join(this.#folder, 'twin'),
      env: this.#env,
      logs: this.#logs,
      build: this.build,
    });
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal);
  }

  /** Resolves with its exit status; null if a signal ended it. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const running = this.#process;
    this.#process = undefined;
    if (!running || running.exitCode !== null || running.signalCode !== null) return running?.exitCode ?? null;
    const gone = once(running, 'exit');
    running.kill(signal);
    const [code] = await gone;
    return code;
  }
}

export interface GatewaysOptions {
  readonly count?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Of each replica alone, the first being 0. */
  readonly envOf?: (index: number) => Readonly<Record<string, string>>;
  /** Of each replica: the folder of its build. */
  readonly buildOf?: (index: number) => string | undefined;
  /** Of the instance. */
  readonly pty?: Readonly<Record<string, number>>;
  readonly policy?: Readonly<Record<string, unknown>>;
  /** Whether each replica has a wire of its own to Redis. */
  readonly wired?: boolean;
  /** How far away Redis is; here if absent. */
  readonly lag?: Lag | undefined;
  /** A folder for what the replicas say; only the last of it is kept if absent. */
  readonly logs?: string | undefined;
}

export class Gateways {
  readonly redis: RedisServer;
  readonly replicas: readonly Replica[];
  /** From each replica to Redis, where they were asked for. */
  readonly wires: readonly CutProxy[];
  /** Where the programs begin; gone with the gateways. */
  readonly folder: string;
  readonly #slow: SlowWire | undefined;

  constructor(redis: RedisServer, replicas: readonly Replica[], wires: readonly CutProxy[], folder: string, slow?: SlowWire) {
    this.redis = redis;
    this.replicas = replicas;
    this.wires = wires;
    this.folder = folder;
    this.#slow = slow;
  }

  at(index: number): Replica {
    return this.replicas[index] as Replica;
  }

  /** A session of that replica's own, which runs this command; its id. */
  async begin(replica: Replica, ...argv: string[]): Promise<string> {
    const { session_id } = (await this.ask(replica, 'POST', '', argv.length > 0 ? { argv } : {})).body;
    return session_id as string;
  }

  /** About the sessions of the instance. */
  async ask(
    to: { readonly port: number },
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; body: Answer }> {
    const answer = await fetch(`http://127.0.0.1:${to.port}/agents/${INSTANCE}/sessions${path}`, {
      method,
      headers: {
        ...headers,
        authorization: `Bearer ${tokenFor('operator', 'pty:admin')}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    return { status: answer.status, body: (await answer.json()) as Answer };
  }

  /** Where a session is attached to, through a replica or a balancer. */
  urlOf(sessionId: string, { port }: { readonly port: number }): string {
    return `ws://127.0.0.1:${port}/agents/${INSTANCE}/sessions/${sessionId}/attach`;
  }

  async dispose(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.stop('SIGKILL')));
    await Promise.all(this.wires.map((wire) => wire.close()));
    await this.#slow?.close();
    await this.redis.dispose();
    await rm(this.folder, { recursive: true, force: true });
  }
}

type Answer = Readonly<Record<string, unknown>>;

/** On a Redis of their own that loses nothing which it took; dead replicas are noticed after two seconds. */
export async function startGateways({
  count = 2,
  env = {},
  envOf = () => ({}),
  buildOf = () => undefined,
  pty = {},
  policy = {},
  wired = false,
  lag,
  logs,
}: GatewaysOptions = {}): Promise<Gateways> {
  const redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'always');
  const folder = await mkdtemp(join(tmpdir(), 'gateways-'));
  const shared = {
    AGENTS_FILE: await agentsFile(folder, { pty, policy }),
    AUTH_JWT_SECRET: SECRET,
    REPLICA_LEASE_SECONDS: `${LEASE_SECONDS}`,
    LOG_LEVEL: 'warn',
    // A test that asks until something is so asks more often than anybody may.
    RATE_LIMIT_MAX: '100000',
    ATTACH_RATE_LIMIT_MAX: '100000',
    ...env,
  };
  const ports = await Promise.all(Array.from({ length: count }, freePort));
  const slow = lag && (await slowWire(redis.port, lag));
  const { port } = slow ?? redis;
  const wires = wired ? await Promise.all(ports.map(() => cutProxy(port))) : [];
  const replicas = ports.map((own, i) => {
    const REDIS_URL = `redis://127.0.0.1:${wires[i]?.port ?? port}`;
    return new Replica(`replica-${i}`, own, { folder, env: { ...shared, ...envOf(i), REDIS_URL }, logs, build: buildOf(i) });
  });
  const gateways = new Gateways(redis, replicas, wires, folder, slow);
  try {
    await Promise.all(replicas.map((replica) => replica.start()));
    return gateways;
  } catch (error) {
    await gateways.dispose();
    throw error;
  }
}

async function agentsFile(folder: string, settings: Pick<GatewaysOptions, 'pty' | 'policy'>): Promise<string> {
  const file = join(folder, 'agents.json');
  const shell = {
    name: 'Shell',
    command: ['/bin/bash', '--noprofile', '--norc'],
    cwd: folder,
    env: { PS1: '$ ' },
    allow_command_override: true,
    ...settings,
  };
  await writeFile(file, JSON.stringify({ agents: { [INSTANCE]: shell } }));
  return file;
}
