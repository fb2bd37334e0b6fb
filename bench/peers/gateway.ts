// The gateway as a user starts it, by default in everything that is measured, and its sessions. Knows no question.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningGateway, startGateway } from '../../test/support/running-gateway.js';
import type { Line } from '../load/jobs.js';

/** Nobody is refused because a bench connects often: the limits are no part of the hot path. */
const LIMITS = {
  RATE_LIMIT_MAX: '1000000',
  ATTACH_RATE_LIMIT_MAX: '1000000',
  MAX_CONNECTIONS_PER_PRINCIPAL: '10000',
  MAX_CONNECTIONS_PER_ADDRESS: '10000',
  MAX_SESSIONS_PER_REPLICA: '10000',
  LOG_LEVEL: 'info',
};
/** Watchers of one session, at most. */
const MAX_OBSERVERS = 1024;
/** Sessions at the same time, at most. */
const MAX_SESSIONS = 10_000;
/** Milliseconds that an answer may take. */
const ANSWER_MS = 20_000;

export class Gateway {
  readonly #running: RunningGateway;
  readonly #folder: string;
  readonly #token: string;

  private constructor(running: RunningGateway, folder: string) {
    this.#running = running;
    this.#folder = folder;
    this.#token = new URLSearchParams(new URL(running.invitation).hash.slice(1)).get('token') ?? '';
  }

  /** On the embedded log. Where PROFILE names a folder, it leaves a profile of its CPU there. */
  static async start(env: Readonly<Record<string, string>> = {}): Promise<Gateway> {
    const folder = mkdtempSync(join(tmpdir(), 'bench-gateway-'));
    const shell = { name: 'Shell', command: ['/bin/bash'], cwd: folder, allow_command_override: true };
    const bench = { ...shell, pty: { max_observers: MAX_OBSERVERS }, policy: { max_sessions: MAX_SESSIONS } };
    const AGENTS_FILE = join(folder, 'agents.json');
    writeFileSync(AGENTS_FILE, JSON.stringify({ agents: { bench } }));
    const { PROFILE } = process.env;
    const profiled = PROFILE === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${PROFILE}`];
    return new Gateway(await startGateway({ ...LIMITS, AGENTS_FILE, ...env }, '', profiled), folder);
  }

  get pid(): number {
    return this.#running.pid;
  }

  /** Of its event loop since this was asked last, as Node measures it, in milliseconds. */
  async loopDelay(): Promise<{ readonly p50: number; readonly p99: number }> {
    const text = await (await fetch(`http://127.0.0.1:${this.#running.port}/metrics`)).text();
    const of = (quantile: string) => Number(new RegExp(`^nodejs_eventloop_lag_${quantile}_seconds (\\S+)`, 'm').exec(text)?.[1]) * 1000;
    return { p50: of('p50'), p99: of('p99') };
  }

  /** Begins a session that runs this; how one connects to it. */
  async begin(argv: readonly string[], dialect: Line['dialect'] = 'pty-ws.v1.binary', settings: object = {}): Promise<Line> {
    const sessions = `agents/bench/sessions`;
    const answer = await fetch(`http://127.0.0.1:${this.#running.port}/${sessions}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ argv, ...settings }),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const { session_id, error } = (await answer.json()) as { session_id?: string; error?: unknown };
    if (session_id === undefined) throw new Error(`the gateway began no session: ${JSON.stringify(error)}`);
    return { dialect, url: `ws://127.0.0.1:${this.#running.port}/${sessions}/${session_id}/attach`, token: this.#token };
  }

  /** The address of a session of another replica, at this one. */
  through(url: string): string {
    return Object.assign(new URL(url), { port: this.#running.port }).href;
  }

  /** Ends one that would go on for ever. */
  async end({ url }: Line): Promise<void> {
    const address = url.replace('ws:', 'http:').replace(/\/attach$/, '');
    await fetch(address, { method: 'DELETE', headers: { authorization: `Bearer ${this.#token}` }, signal: AbortSignal.timeout(ANSWER_MS) });
  }

  async close(): Promise<void> {
    await this.#running.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
