// What a screen costs: parsing, a snapshot, a session that does nothing, and a neighbour of a flood. `npx tsx bench/screen.ts`
import { Fold } from '../src/terminal/fold.js';
import { createScreenHost } from '../src/terminal/screen-host.js';
import { line, streamOf, streams } from './support/streams.js';

const SIZE = { cols: 120, rows: 30 };
const MIB = 1024 * 1024;
function parsing(name: string, piece: () => string): Fold {
  const bytes = streamOf(piece, 16 * MIB);
  const fold = new Fold(SIZE);
  const begun = performance.now();
  for (let at = 0; at < bytes.length; at += 3000) fold.output(1, bytes.subarray(at, at + 3000));
  console.log(`parse, ${name}: ${(bytes.length / MIB / ((performance.now() - begun) / 1000)).toFixed(1)} MiB/s`);
  return fold;
}

function snapshots(name: string, fold: Fold): void {
  const times = Array.from({ length: 200 }, () => {
    const begun = performance.now();
    fold.snapshot();
    return performance.now() - begun;
  }).sort((a, b) => a - b);
  console.log(
    `snapshot, ${name}: p50 ${times[100]?.toFixed(2)} ms, p99 ${times[198]?.toFixed(2)} ms, ${fold.snapshot().bytes.length} bytes`,
  );
}

async function throughWorker(piece: () => string): Promise<void> {
  const host = createScreenHost({ workers: 1 });
  const screen = host.open(SIZE, async function* () {});
  await screen.view();
  const bytes = streamOf(piece, 12 * MIB);
  const begun = performance.now();
  for (let at = 0; at < bytes.length; at += 4096) screen.output(1, bytes.subarray(at, at + 4096));
  const given = performance.now() - begun;
  await screen.view();
  const rate = bytes.length / MIB / ((performance.now() - begun) / 1000);
  console.log(
    `through a worker: ${rate.toFixed(1)} MiB/s; handing it over takes ${((given * 1000) / (bytes.length / 4096)).toFixed(1)} µs for 4 KiB`,
  );
  await host.close();
}

async function idleSessions(count: number): Promise<void> {
  const host = createScreenHost({ workers: 1 });
  const past = async function* () {};
  await host.open(SIZE, past).view();
  const before = process.memoryUsage().rss;
  const screens = Array.from({ length: count }, () => host.open(SIZE, past));
  for (const screen of screens) screen.output(1, Buffer.from('$ '));
  await Promise.all(screens.map((screen) => screen.view()));
  console.log(`idle session: ${((process.memoryUsage().rss - before) / 1024 / count).toFixed(0)} KiB`);
  await host.close();
}

async function beside(name: string, sequence: string): Promise<void> {
  const host = createScreenHost({ workers: 1 });
  const past = async function* () {};
  const [flood, quiet] = [host.open(SIZE, past), host.open(SIZE, past)];
  await quiet.view();
  flood.output(1, Buffer.from(sequence.repeat(Math.ceil((2 * MIB) / sequence.length))));
  const times: number[] = [];
  for (let i = 0; i < 60 && flood.backlog > 0; i++) {
    const begun = performance.now();
    await quiet.snapshot();
    times.push(performance.now() - begun);
  }
  times.sort((a, b) => a - b);
  console.log(
    `a neighbour's snapshot beside ${name}: p50 ${times[times.length >> 1]?.toFixed(1)} ms, worst ${times.at(-1)?.toFixed(1)} ms`,
  );
  await host.close();
}

const keepAlive = setInterval(() => {}, 1000);
for (const [name, piece] of Object.entries(streams)) snapshots(name, parsing(name, piece));
await throughWorker(() => `${line()}\r\n`);
await idleSessions(200);
await beside('text', `${line()}\r\n`);
for (const sequence of ['\x1b[2J', '\x1b[99999S', 'x\x1b[99999b', 'e\u0301'.padEnd(60, '\u0301'), '\x1b[4h漢', '\x1b[3g\x1b[99Z'])
  await beside(JSON.stringify(sequence).slice(0, 20), sequence);
clearInterval(keepAlive);
