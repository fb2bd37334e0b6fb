// How long a key waits for its echo in one session while another prints what programs printed, or fuzzers found: `npx tsx bench/screen-neighbour.ts [folder] [part of an id]`
// Measured by a client on a socket, in a process of its own: this one; the gateway is the built one, in another.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { connect, type TerminalClient } from '../src/client/node.js';
import { startGateway } from '../test/support/running-gateway.js';
import { isHostile, type Recording, recordingsOf } from './support/recordings.js';

/** Keys typed while one recording is printed over and over. */
const KEYS = 12;
/** Bytes of a recording, or of many times it, that are printed by one `cat`. */
const FLOOD_BYTES = 512 * 1024;
/** What no stall may exceed, in milliseconds. */
const LIMIT_MS = 50;
/** A recording that exceeded it is tried again so often: what stalls by itself does so each time, what the machine did otherwise does not. */
const TRIES = 4;
/** Milliseconds for a flood to begin. */
const BEGIN_MS = 50;

const folder = mkdtempSync(path.join(tmpdir(), 'neighbour-'));
const agents = path.join(folder, 'agents.json');
const pty = { default_cols: 80, default_rows: 24 };
writeFileSync(agents, JSON.stringify({ agents: { bench: { name: 'Bench', command: ['/bin/sh'], allow_command_override: true, pty } } }));
const gateway = await startGateway({ AGENTS_FILE: agents, RATE_LIMIT_MAX: '1000000', ATTACH_RATE_LIMIT_MAX: '1000000' });
const token = new URLSearchParams(new URL(gateway.invitation).hash.slice(1)).get('token') ?? '';

async function ask(method: string, of = '', body?: object): Promise<Record<string, string>> {
  const headers = { authorization: `Bearer ${token}`, ...(body && { 'content-type': 'application/json' }) };
  const url = `http://127.0.0.1:${gateway.port}/agents/bench/sessions${of}`;
  const answer = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Record<string, string>;
}

/** A session that runs a script; `end` ends it. */
async function run(...argv: string[]): Promise<{ url: string; end(): Promise<unknown> }> {
  const { session_id, pty_ws_url = '' } = await ask('POST', '', { argv: ['/bin/bash', '--noprofile', '--norc', '-c', ...argv] });
  return { url: pty_ws_url, end: () => ask('DELETE', `/${session_id}`) };
}

/** All that a session prints from now on, as a client on its socket hears it. */
class Listener {
  readonly client: TerminalClient;
  /** The newest of it. */
  heard = '';
  #told = () => {};

  constructor(url: string) {
    this.client = connect({ url, token, role: 'controller', replayFrom: 0 });
    this.client.on('output', (bytes) => {
      this.heard = (this.heard + Buffer.from(bytes).toString('latin1')).slice(-4096);
      this.#told();
    });
  }

  /** Resolves when `what` was heard. */
  async hears(what: string | RegExp): Promise<void> {
    const isThere = () => (typeof what === 'string' ? this.heard.includes(what) : what.test(this.heard));
    while (!isThere()) await new Promise<void>((resolve) => (this.#told = resolve));
  }

  /** Milliseconds from what is typed until `what` is heard. */
  async after(typed: string, what: string): Promise<number> {
    this.heard = '';
    const begun = performance.now();
    this.client.input(typed);
    await this.hears(what);
    return performance.now() - begun;
  }
}

/** A session that prints what is typed. */
async function open(): Promise<Listener> {
  const { url } = await run('stty raw -echo; printf ready; exec cat');
  const listener = new Listener(url);
  await listener.hears('ready');
  while (listener.client.role !== 'controller') await later(10);
  return listener;
}

const echo = (quiet: Listener): Promise<number> => quiet.after('x', 'x');
/** Of a query, through the screen that shares a worker with the flood. */
const answer = (quiet: Listener): Promise<number> => quiet.after('\x1b[5n', '\x1b[0n');

async function measure(quiet: Listener, bytes: Buffer): Promise<{ echoes: number[]; answers: number[] }> {
  const file = path.join(folder, 'flood');
  writeFileSync(file, Buffer.concat(Array.from({ length: Math.ceil(FLOOD_BYTES / Math.max(1, bytes.length)) }, () => bytes)));
  const loud = await run('stty raw; while :; do cat "$0"; done', file);
  await later(BEGIN_MS);
  const [echoes, answers]: [number[], number[]] = [[], []];
  for (let i = 0; i < KEYS; i++) {
    echoes.push(await echo(quiet));
    answers.push(await answer(quiet));
    await later(3);
  }
  await loud.end();
  return { echoes, answers };
}

/** Milliseconds that a program itself waits for the answer to CPR, right after it has printed so many bytes. */
async function behindOwnFlood(mebibytes: number): Promise<number> {
  const script = `stty raw -echo; yes 0123456789abcdef | head -c ${mebibytes}M; begun=$EPOCHREALTIME; printf '\\e[6n'; IFS= read -rs -d R; echo "took:$begun:$EPOCHREALTIME:"; read`;
  const session = await run(script);
  const listener = new Listener(session.url);
  await listener.hears(/took:[\d.]+:[\d.]+:/);
  const [, begun, ended] = /took:([\d.]+):([\d.]+):/.exec(listener.heard) ?? [];
  listener.client.close();
  await session.end();
  return (Number(ended) - Number(begun)) * 1000;
}

const at = (sorted: readonly number[], share: number): string =>
  (sorted[Math.floor(sorted.length * share)] ?? sorted.at(-1) ?? 0).toFixed(1);

function tell(name: string, times: readonly number[]): void {
  const sorted = [...times].sort((a, b) => a - b);
  const over = sorted.filter((ms) => ms > LIMIT_MS).length;
  console.log(
    `${name}: p50 ${at(sorted, 0.5)} ms, p99 ${at(sorted, 0.99)} ms, worst ${at(sorted, 1)} ms, ${over} of ${sorted.length} over ${LIMIT_MS} ms`,
  );
}

async function main(corpus: string, only = ''): Promise<void> {
  const quiet = await open();
  const idle: number[] = [];
  for (let i = 0; i < 200; i++) idle.push(await echo(quiet));
  tell('echo, nothing beside', idle);
  for (const mebibytes of [0, 1, 16, 64]) {
    console.log(
      `CPR answered right after ${mebibytes} MiB of the program's own output: ${(await behindOwnFlood(mebibytes)).toFixed(0)} ms`,
    );
  }
  const stalling: string[] = [];
  const all: Array<{ recording: Recording; echoes: number[]; answers: number[] }> = [];
  for (const recording of recordingsOf(corpus).filter(({ id }) => id.includes(only))) {
    const bytes = readFileSync(path.join(corpus, recording.file));
    let measured = await measure(quiet, bytes);
    all.push({ recording, ...measured });
    for (let tries = 1; Math.max(...measured.echoes) > LIMIT_MS && tries < TRIES; tries++) measured = await measure(quiet, bytes);
    if (Math.max(...measured.echoes) > LIMIT_MS) stalling.push(recording.id);
  }
  for (const kind of ['real', 'hostile']) {
    const some = all.filter(({ recording }) => isHostile(recording) === (kind === 'hostile'));
    tell(
      `echo beside ${kind} output`,
      some.flatMap(({ echoes }) => echoes),
    );
    tell(
      'answer to a query beside it',
      some.flatMap(({ answers }) => answers),
    );
  }
  console.log(`over ${LIMIT_MS} ms in each of ${TRIES} tries: ${stalling.length === 0 ? 'none' : stalling.join(', ')}`);
  const worst = [...all].sort((a, b) => Math.max(...b.echoes) - Math.max(...a.echoes)).slice(0, 5);
  for (const { recording, echoes } of worst) console.log(`  ${recording.id}: worst echo ${Math.max(...echoes).toFixed(1)} ms`);
}

try {
  await main(process.argv[2] ?? '../shared/corpora', process.argv[3]);
} finally {
  await gateway.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit();
