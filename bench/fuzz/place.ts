// The gateway that is attacked: a process of its own, somebody innocent on it, and a look whether it lives and answers. Knows no attack.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mintToken } from '../../src/access/token.js';
import { type RunningGateway, startGateway } from '../../test/support/running-gateway.js';

const SECRET = 'a secret of the fuzzers, long enough for HS256';
/** Milliseconds without an answer to a probe that count as a hang. */
export const HANG_MS = 1000;
/** Milliseconds between two probes. */
const PROBE_MS = 100;
/** Milliseconds after which a probe is given up. */
const PATIENCE_MS = 30_000;
const DYING_MS = 5000;
/** Characters that are told of what a dead gateway said. */
const LAST_CHARS = 300;
const TTL_SECONDS = 24 * 3600;
/** What each session prints that was there before the first input: some 100 KiB. */
const PRINTS = ['/usr/bin/seq', '20000'];

export interface Hangs {
  /** Probes that took longer than HANG_MS, while an idle server beside it answered in time. */
  count: number;
  worstMs: number;
  /** The same of the idle server: what the machine alone has cost. */
  idleWorstMs: number;
}

export class Place {
  readonly gateway: RunningGateway;
  readonly hangs: Hangs = { count: 0, worstMs: 0, idleWorstMs: 0 };
  readonly #folder: string;
  readonly #idle = createServer((_request, response) => response.end());
  #isOver = false;
  #probing: Promise<void> | undefined;

  private constructor(gateway: RunningGateway, folder: string) {
    this.gateway = gateway;
    this.#folder = folder;
  }

  /** With so many sessions that have ended, as after a long run. */
  static async open(sessions = 0): Promise<Place> {
    const folder = mkdtempSync(join(tmpdir(), 'fuzz-'));
    const agentsFile = join(folder, 'agents.json');
    const shell = { name: 'Shell', command: ['/bin/cat'], allow_command_override: true, policy: { max_sessions: 1000 } };
    writeFileSync(agentsFile, JSON.stringify({ agents: { shell: { ...shell, pty: { replay_buffer_frames: 100 } } } }));
    const limits = { RATE_LIMIT_MAX: '1000000000', ATTACH_RATE_LIMIT_MAX: '1000000000' };
    const gateway = await startGateway({ AUTH_JWT_SECRET: SECRET, AGENTS_FILE: agentsFile, LOG_LEVEL: 'error', ...limits });
    const place = new Place(gateway, folder);
    await new Promise<void>((listening) => place.#idle.listen(0, '127.0.0.1', listening));
    for (let made = 0; made < sessions; made++) await place.session(PRINTS);
    place.#probing = place.#probe();
    return place;
  }

  get port(): number {
    return this.gateway.port;
  }

  get folder(): string {
    return this.#folder;
  }

  token(scope = 'pty:control', more: object = {}): string {
    return mintToken(SECRET, { sub: 'fuzzer', scope: scope as 'pty:control', ttlSeconds: TTL_SECONDS, ...more });
  }

  async ask(method: string, path: string, body?: object): Promise<{ readonly status: number; readonly text: string }> {
    const headers = { authorization: `Bearer ${this.token('pty:admin')}`, ...(body && { 'content-type': 'application/json' }) };
    const answer = await fetch(`http://127.0.0.1:${this.port}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: answer.status, text: await answer.text() };
  }

  /** A session that runs this, or `cat`; the path it has. */
  async session(argv?: readonly string[]): Promise<string> {
    const { status, text } = await this.ask('POST', '/agents/shell/sessions', argv ? { argv } : {});
    if (status !== 201) throw new Error(`no session: ${status} ${text}`);
    return `/agents/shell/sessions/${JSON.parse(text).session_id}`;
  }

  /** Whether the process is the one that was started. */
  get isAlive(): boolean {
    try {
      return process.kill(this.gateway.pid, 0);
    } catch {
      return false;
    }
  }

  /** Whether it is dead, or so within DYING_MS: a process whose sockets are closed already lives for a moment more. */
  async hasDied(): Promise<boolean> {
    const deadline = performance.now() + DYING_MS;
    while (this.isAlive && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, PROBE_MS));
    return !this.isAlive;
  }

  /** The end of all that it has said. */
  lastWords(): string {
    return this.gateway.said().trim().slice(-LAST_CHARS);
  }

  /** What it has logged as errors. */
  errors(): string[] {
    return this.gateway
      .said()
      .split('\n')
      .filter((line) => /"level":[56]0/.test(line) || /^\w*Error|^\s+at /.test(line));
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#probing;
    this.#idle.close();
    await this.gateway.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Both are asked at the same time: what is slow for both is slow because of the machine. */
  async #probe(): Promise<void> {
    const idlePort = (this.#idle.address() as AddressInfo).port;
    while (!this.#isOver && this.isAlive) {
      const [took, idle] = await Promise.all([timeOf(`http://127.0.0.1:${this.port}/healthz`), timeOf(`http://127.0.0.1:${idlePort}/`)]);
      this.hangs.worstMs = Math.max(this.hangs.worstMs, took);
      this.hangs.idleWorstMs = Math.max(this.hangs.idleWorstMs, idle);
      if (took > HANG_MS && idle < HANG_MS / 2) this.hangs.count++;
      await new Promise((resolve) => setTimeout(resolve, PROBE_MS));
    }
  }
}

async function timeOf(url: string): Promise<number> {
  const begun = performance.now();
  await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) }).then(
    (answer) => answer.text(),
    () => {},
  );
  return performance.now() - begun;
}
