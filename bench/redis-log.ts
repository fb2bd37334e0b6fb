// How fast the Redis log takes entries, as ratios to a pipelined XADD loop on the same server, from the same process. Run: npx tsx bench/redis-log.ts
import { Redis } from 'ioredis';
import { v7 } from 'uuid';
import type { Entry, LogWriter } from '../src/log/log.js';
import { openRedisLog } from '../src/log/redis/redis-log.js';
import { startRedis } from '../test/support/redis.js';

const sizes = [
  { bytes: 64, frames: 60_000 },
  { bytes: 4 * 1024, frames: 20_000 },
  { bytes: 64 * 1024, frames: 2_000 },
];
/** Appends that wait for their answer at once: a session that is pushed hard. */
const IN_FLIGHT = 64;
/** Appends one after the other, for the time of one. */
const ALONE = 2_000;

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}

async function lanes(frames: number, one: () => Promise<unknown>): Promise<void> {
  let left = frames;
  const lane = async () => {
    while (left-- > 0) await one();
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane));
}

const server = await startRedis();
const log = await openRedisLog({ url: server.url, prefix: 'bench' });
const elsewhere = await openRedisLog({ url: server.url, prefix: 'bench' });
const raw = new Redis(server.url);

/** Until a follower in another process was told of the last. */
async function followed(writer: LogWriter, id: string, frames: number, one: Entry): Promise<void> {
  const reader = await elsewhere.reader(id);
  const last = reader.extent().current + frames;
  const told = new Promise<void>((done) => {
    reader.follow((_, { current }) => current >= last && done());
  });
  await lanes(frames, () => writer.append([one]));
  await told;
}

console.log(
  '| body | XADD/s | appends/s | MB/s | × XADD | followed elsewhere, MB/s | × XADD | one at a time, µs | × one XADD |\n|---|---|---|---|---|---|---|---|---|',
);
for (const { bytes, frames } of sizes) {
  const retention = { frames: 1_000, seconds: 0 };
  const id = v7();
  const writer = await log.create(id, {}, retention);
  const one: Entry = { kind: 'Output', id: v7(), ts: Date.now(), body: Buffer.alloc(bytes, 'x') };
  const add = () =>
    raw.xadd(`raw ${bytes}`, 'MAXLEN', '~', 1_000, '*', 'kind', one.kind, 'id', one.id, 'ts', one.ts, 'body', one.body as Buffer);
  const added = await seconds(() => lanes(frames, add));
  const taken = await seconds(() => lanes(frames, () => writer.append([one])));
  const addedAlone = await seconds(async () => {
    for (let n = 0; n < ALONE; n++) await add();
  });
  const alone = await seconds(async () => {
    for (let n = 0; n < ALONE; n++) await writer.append([one]);
  });
  const shared = await seconds(() => followed(writer, id, frames, one));
  const megabytes = (bytes * frames) / 1e6;
  const row = [
    bytes,
    Math.round(frames / added),
    Math.round(frames / taken),
    (megabytes / taken).toFixed(1),
    (added / taken).toFixed(2),
    (megabytes / shared).toFixed(1),
    (added / shared).toFixed(2),
    Math.round((alone / ALONE) * 1e6),
    (alone / addedAlone).toFixed(2),
  ];
  console.log(`| ${row.join(' | ')} |`);
}
await Promise.all([log.close(), elsewhere.close()]);
raw.disconnect();
await server.dispose();
