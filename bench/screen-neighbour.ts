// How long a key waits for its echo in one session while another prints what programs printed, or fuzzers found: `npx tsx bench/screen-neighbour.ts [folder] [part of an id]`
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { agent, openHouse, Watcher } from '../test/support/house.js';
import { isHostile, type Recording, recordingsOf } from './support/recordings.js';

/** Keys typed while one recording is printed over and over. */
const KEYS = 12;
/** Bytes that the other session prints of it at least, without a pause. */
const FLOOD_BYTES = 512 * 1024;
/** What no stall may exceed, in milliseconds. */
const LIMIT_MS = 50;
/** A recording that exceeded it is tried again so often: what stalls by itself does so each time, what the machine did otherwise does not. */
const TRIES = 4;

const house = await openHouse();
const raw = ['/bin/sh', '-c', 'stty raw -echo; printf ready; exec cat'];

/** A session that prints what is typed. */
async function open(): Promise<Watcher & { readonly end: () => Promise<void>; readonly put: (bytes: Uint8Array) => Promise<void> }> {
  const session = await house.sessions.create(agent(), { argv: raw, cols: 80, rows: 24 }, 'bench');
  const watcher = await Watcher.join(session);
  await watcher.until(() => watcher.output().includes('ready'));
  await session.view(); // its worker has started
  return Object.assign(watcher, {
    end: () => session.end('killed'),
    put: (bytes: Uint8Array) => session.input({ clientId: watcher.id }, bytes),
  });
}

/** Milliseconds from a key to its echo. */
async function echo(quiet: Watcher): Promise<number> {
  const before = quiet.frames.length;
  const begun = performance.now();
  void quiet.type('x');
  await quiet.until(() => quiet.frames.slice(before).some(({ kind }) => kind === 'Output'));
  return performance.now() - begun;
}

/** Milliseconds from a query to its answer, through the screen that shares a worker with the flood. */
async function answer(quiet: Watcher): Promise<number> {
  const before = quiet.frames.length;
  const begun = performance.now();
  void quiet.type('\x1b[5n');
  await quiet.until(() => Buffer.concat(quiet.frames.slice(before).map(({ body }) => body)).includes('\x1b[0n'));
  return performance.now() - begun;
}

async function measure(quiet: Watcher, bytes: Buffer): Promise<{ echoes: number[]; answers: number[] }> {
  const loud = await open();
  const flood = Buffer.concat(Array.from({ length: Math.ceil(FLOOD_BYTES / Math.max(1, bytes.length)) }, () => bytes));
  void loud.put(flood).catch(() => {});
  const [echoes, answers]: [number[], number[]] = [[], []];
  for (let i = 0; i < KEYS; i++) {
    echoes.push(await echo(quiet));
    answers.push(await answer(quiet));
    quiet.frames.length = 0;
    await later(3);
  }
  await loud.end();
  return { echoes, answers };
}

/** Milliseconds that a program itself waits for the answer to CPR, right after it has printed so many bytes. */
async function behindOwnFlood(mebibytes: number): Promise<number> {
  const script = `stty raw -echo; yes 0123456789abcdef | head -c ${mebibytes}M; begun=$EPOCHREALTIME; printf '\\e[6n'; IFS= read -rs -d R; echo "took:$begun:$EPOCHREALTIME:"; read`;
  const session = await house.sessions.create(agent(), { argv: ['/bin/bash', '--noprofile', '--norc', '-c', script] }, 'bench');
  let tail = '';
  const took = await new Promise<number>((resolve) => {
    session.frames.follow((entries) => {
      tail = (
        tail + Buffer.concat(entries.filter(({ kind }) => kind === 'Output').map(({ body }) => body.subarray(-200))).toString()
      ).slice(-400);
      const [, begun, ended] = /took:([\d.]+):([\d.]+):/.exec(tail) ?? [];
      if (ended) resolve((Number(ended) - Number(begun)) * 1000);
    });
  });
  await session.end('killed');
  return took;
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

async function main(folder: string, only = ''): Promise<void> {
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
  for (const recording of recordingsOf(folder).filter(({ id }) => id.includes(only))) {
    const bytes = readFileSync(path.join(folder, recording.file));
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

const keepAlive = setInterval(() => {}, 1000);
await main(process.argv[2] ?? '../shared/corpora', process.argv[3]);
clearInterval(keepAlive);
await house.close();
