// What redaction costs: by itself beside the fold of the same stream, and in a whole session beside one without it. Knows no network.
// Run with: npm run bench:redaction
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SessionRequest } from '../src/agents/agents.js';
import { compilePattern } from '../src/redaction/line-patterns.js';
import { Redactor } from '../src/redaction/redactor.js';
import { seek } from '../src/redaction/sought.js';
import { Fold } from '../src/terminal/fold.js';
import { agent, type House, openHouse, Watcher } from '../test/support/house.js';

const CHUNK_BYTES = 64 * 1024;
const STREAM_BYTES = 32 * 1024 * 1024;
const FOLDED_BYTES = 8 * 1024 * 1024;
const ROUNDS = 3;
const SIZE = { cols: 120, rows: 30 };

const words = 'the build of packages and their tests went through without any error in libpty or the gateway'.split(' ');
const word = (i: number) => words[(i * 7919) % words.length] as string;
const sentence = (i: number) => Array.from({ length: 12 }, (_, j) => word(i * 12 + j)).join(' ');

const makers: Readonly<Record<string, (i: number) => string>> = {
  text: (i) => `${sentence(i)}\r\n`,
  coloured: (i) =>
    `\x1b[32m[${i % 100}%]\x1b[0m \x1b[1mCompiling\x1b[0m src/${word(i)}/${word(i + 1)}.ts \x1b[33mwarning:\x1b[0m ${word(i + 2)}\r\n`,
  redraws: (i) => `\x1b[${(i % 30) + 1};${(i % 60) + 1}H\x1b[38;5;${i % 256}m${word(i)} ${i}\x1b[K`,
  base64: (i) => `${Buffer.from(sentence(i)).toString('base64')}\r\n`,
};

const secrets: string[] = Array.from({ length: 5 }, (_, i) => `${i}kP9vX2mQ7rT4wZ8bN3cL6hJ5gF1dS0aY${i}`);
const patterns = ['password: \\S+', 'employee-[0-9]{4}'].map(compilePattern);

function stream(make: (i: number) => string, length: number): Uint8Array[] {
  const parts: string[] = [];
  for (let i = 0, bytes = 0; bytes < length; i++) {
    const part = make(i);
    parts.push(part);
    bytes += part.length;
  }
  const whole = Buffer.from(parts.join(''));
  return Array.from({ length: Math.floor(length / CHUNK_BYTES) }, (_, i) => whole.subarray(i * CHUNK_BYTES, (i + 1) * CHUNK_BYTES));
}

/** Seconds of CPU that this process has had, in all its threads. */
function cpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** MB per second of CPU, the best of the rounds. */
function rate(chunks: readonly Uint8Array[], begin: () => (chunk: Uint8Array) => void): number {
  const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const times = Array.from({ length: ROUNDS }, () => {
    const take = begin();
    const begun = cpu();
    for (const chunk of chunks) take(chunk);
    return cpu() - begun;
  });
  return bytes / 1e6 / Math.min(...times);
}

function redacting(more: { secrets?: readonly string[]; patterns?: typeof patterns }, emit: (bytes: Uint8Array) => void = () => {}) {
  const sought = seek(more.secrets ?? []);
  return () => {
    const redactor = new Redactor(sought, more.patterns ?? [], SIZE.cols, emit);
    return (chunk: Uint8Array) => redactor.push(chunk);
  };
}

const folding = () => {
  const fold = new Fold(SIZE);
  return (chunk: Uint8Array) => fold.piece(chunk);
};

/** MB per second of CPU from a program to the log: a terminal, an embedded log, a screen in a thread of its own. */
async function whole(house: House, file: string, request: SessionRequest): Promise<number> {
  const session = await house.sessions.create(
    agent(),
    { argv: ['/bin/sh', '-c', `stty raw; read x; cat ${file}`], ...SIZE, ...request },
    'bench',
  );
  const watcher = await Watcher.join(session);
  let bytes = 0;
  session.frames.follow((entries) => {
    for (const { kind, body } of entries) if (kind === 'Output') bytes += body.length;
  });
  const begun = cpu();
  await watcher.type('\n');
  await watcher.until(() => watcher.frames.at(-1)?.kind === 'Closed');
  return bytes / 1e6 / (cpu() - begun);
}

async function wholes(): Promise<void> {
  const house = await openHouse();
  const file = join(house.dir, 'stream');
  const requests: readonly SessionRequest[] = [{ redaction: 'off' }, {}, { secrets }];
  console.log('\n| a whole session, MB per second of CPU | redaction off | tokens and keys | with 5 secrets |');
  console.log('| --- | --- | --- | --- |');
  for (const name of ['text', 'coloured']) {
    writeFileSync(file, Buffer.concat(stream(makers[name] as (i: number) => string, STREAM_BYTES)));
    const best = [0, 0, 0];
    for (let round = 0; round < ROUNDS; round++) {
      for (const [i, request] of requests.entries()) best[i] = Math.max(best[i] as number, await whole(house, file, request));
    }
    console.log(`| ${name} | ${best.map((one) => one.toFixed(1)).join(' | ')} |`);
  }
  await house.close();
}

const begun = performance.now();
seek(secrets);
console.log(`made ready for ${secrets.length} secrets in ${(performance.now() - begun).toFixed(1)} ms\n`);
console.log('| MB per second of CPU | tokens and keys | with 5 secrets | with 2 patterns, too | the fold of the same screen |');
console.log('| --- | --- | --- | --- | --- |');
for (const [name, make] of Object.entries(makers)) {
  const chunks = stream(make, STREAM_BYTES);
  const rates = [redacting({}), redacting({ secrets }), redacting({ secrets, patterns })].map((begin) => rate(chunks, begin));
  rates.push(rate(chunks.slice(0, FOLDED_BYTES / CHUNK_BYTES), folding));
  console.log(`| ${name} | ${rates.map((one) => one.toFixed(0)).join(' | ')} |`);
}
await wholes();
