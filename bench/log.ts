// How fast the embedded log takes and gives back, as ratios to a plain loop of fs.write and fs.read. Run: npx tsx bench/log.ts
import fs from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 } from 'uuid';
import { openEmbeddedLog } from '../src/log/embedded/embedded-log.js';
import type { Entry, LogReader, LogWriter } from '../src/log/log.js';

const sizes = [
  { bytes: 64, frames: 100_000 },
  { bytes: 4 * 1024, frames: 40_000 },
  { bytes: 64 * 1024, frames: 4_000 },
];
/** Appends that wait for their answer at once: a session that is pushed hard. */
const IN_FLIGHT = 64;
const PIECE = { frames: 10_000, bytes: 1024 * 1024 };

const draft = (bytes: number): Entry => ({ kind: 'Output', id: v7(), ts: Date.now(), body: Buffer.alloc(bytes, 'x') });

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}

async function appendAll(writer: LogWriter, bytes: number, frames: number): Promise<void> {
  const one = draft(bytes);
  let left = frames;
  const lane = async () => {
    while (left-- > 0) await writer.append([one]);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
}

async function readAll(reader: LogReader): Promise<void> {
  for (let after = 0; ; ) {
    const piece = await reader.read(after, PIECE);
    if (piece.length === 0) return;
    after = piece.at(-1)?.sequence ?? after;
  }
}

async function rawWrite(path: string, bytes: number, frames: number): Promise<void> {
  const file = await open(path, 'w');
  const body = Buffer.alloc(bytes, 'x');
  for (let frame = 0; frame < frames; frame++) await new Promise((done) => fs.write(file.fd, body, done));
  await file.close();
}

async function rawRead(path: string): Promise<void> {
  const file = await open(path, 'r');
  while ((await file.read(Buffer.allocUnsafe(PIECE.bytes))).bytesRead > 0);
  await file.close();
}

const dir = await mkdtemp(join(tmpdir(), 'bench-log-'));
const log = await openEmbeddedLog({ dir: join(dir, 'log') });
console.log('| body | appends/s | MB/s | × raw write | one at a time, µs | read MB/s | × raw read |\n|---|---|---|---|---|---|---|');
for (const { bytes, frames } of sizes) {
  const writer = await log.create(v7(), {}, { frames: 1000, seconds: 86_400 });
  const raw = join(dir, 'raw');
  const rawWritten = await seconds(() => rawWrite(raw, bytes, frames));
  const written = await seconds(() => appendAll(writer, bytes, frames));
  const read = await seconds(() => readAll(writer.reader));
  const rawGiven = await seconds(() => rawRead(raw));
  const one = draft(bytes);
  const alone = await seconds(async () => {
    for (let n = 0; n < 2_000; n++) await writer.append([one]);
  });
  const megabytes = (bytes * frames) / 1e6;
  const row = [
    bytes,
    Math.round(frames / written),
    Math.round(megabytes / written),
    (rawWritten / written).toFixed(2),
    Math.round((alone / 2_000) * 1e6),
    Math.round(megabytes / read),
    (rawGiven / read).toFixed(2),
  ];
  console.log(`| ${row.join(' | ')} |`);
}
await log.close();
await rm(dir, { recursive: true });
