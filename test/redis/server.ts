// A Redis of its own on a free port, which can be stopped, killed and started again on what it kept. Knows no key.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { freePort } from '../support/free-port.js';

export class RedisServer {
  readonly port: number;
  readonly #folder: string;
  readonly #args: readonly string[];
  #child: ChildProcess | undefined;

  private constructor(port: number, folder: string, args: readonly string[]) {
    this.port = port;
    this.#folder = folder;
    this.#args = args;
  }

  /** With `args` beside the usual ones, for example `--appendonly yes`. */
  static async start(...args: readonly string[]): Promise<RedisServer> {
    const server = new RedisServer(await freePort(), await mkdtemp(join(tmpdir(), 'redis-')), args);
    await server.up();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Starts it again on its port and what it kept. */
  async up(): Promise<void> {
    const usual = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.#folder, '--save', '', '--loglevel', 'warning'];
    this.#child = spawn('redis-server', [...usual, ...this.#args], { stdio: 'ignore' });
    const client = new Redis({ port: this.port, host: '127.0.0.1', retryStrategy: () => 20, maxRetriesPerRequest: null });
    client.on('error', () => {});
    await client.ping();
    client.disconnect();
  }

  async down(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }

  /** Holds it still, as if its machine hung, or lets it go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#child?.kill(signal);
  }

  /** Does something with a connection of its own. */
  async ask<T>(question: (client: Redis) => Promise<T>): Promise<T> {
    const client = new Redis(this.port, '127.0.0.1');
    try {
      return await question(client);
    } finally {
      client.disconnect();
    }
  }

  async stop(): Promise<void> {
    await this.down('SIGKILL');
    await rm(this.#folder, { recursive: true, force: true });
  }
}
