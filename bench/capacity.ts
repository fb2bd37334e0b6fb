// What one replica on Redis needs for what it carries: memory and CPU of its process, and of Redis, for a session, an attachment, a frame, a megabyte.
// The tables of docs/capacity.md, which --write puts there. Run after a build: npx tsx bench/capacity.ts [--sessions 300] [--attachments 900] [--seconds 20] [--write]
import { readFileSync } from 'node:fs';
import { setTimeout as later } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type RedisServer, startRedis } from '../test/support/redis.js';
import { Connection } from './load/connection.js';
import type { Line } from './load/jobs.js';
import { Gateway } from './peers/gateway.js';
import { blocksOf, type Capacity, writePage } from './support/capacity-page.js';
import { cpuMs } from './support/cpu.js';
import { short } from './support/figures.js';
import { machineWith } from './support/machine.js';

/** Milliseconds until what was begun has settled. */
const SETTLE_MS = 3000;
/** Sessions that print, about as many as a core carries half of, since what a frame costs falls as they become more; and the seconds between two of their lines. */
const BUSY_SESSIONS = 80;
const INTERVAL_SECONDS = 0.1;
/** Bytes of a line, and of a flood. */
const LINE_BYTES = 80;
const FLOOD_BYTES = 20_000_000;

/** What has been used until now. */
interface Used {
  readonly at: number;
  readonly cpuMs: number;
  readonly residentKiB: number;
  readonly redisCpuMs: number;
  readonly redisKiB: number;
  readonly redisCommands: number;
}

class Scales {
  readonly #gateway: Gateway;
  readonly #redis: RedisServer;

  constructor(gateway: Gateway, redis: RedisServer) {
    this.#gateway = gateway;
    this.#redis = redis;
  }

  async read(): Promise<Used> {
    const { pid } = this.#gateway;
    const info = await this.#redis.tell('INFO', 'everything');
    const told = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1]);
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return {
      at: performance.now(),
      cpuMs: cpuMs(pid),
      residentKiB: Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1]),
      redisCpuMs: (told('used_cpu_sys') + told('used_cpu_user')) * 1000,
      redisKiB: told('used_memory') / 1024,
      redisCommands: told('total_commands_processed'),
    };
  }

  /** What is used while `work` goes on, or for so many seconds. */
  async during(work: number | (() => Promise<unknown>)): Promise<Used> {
    const before = await this.read();
    await (typeof work === 'number' ? later(work * 1000) : work());
    const after = await this.read();
    const names = Object.keys(before) as Array<keyof Used>;
    return Object.fromEntries(names.map((name) => [name, after[name] - before[name]])) as unknown as Used;
  }
}

const watcher = (line: Line): Line => ({ ...line, join: { role: 'observer', replayFrom: null } });
const open = async (line: Line): Promise<Connection> => {
  const connection = await Connection.open(line);
  connection.join();
  return connection;
};

const watchedBy = (count: number) => (count === 1 ? 'one attachment' : `${count} attachments`);

type Part<K extends keyof Capacity> = Promise<Pick<Capacity, K>>;

async function idle(
  gateway: Gateway,
  scales: Scales,
  { sessions, attachments, seconds }: Sizes,
): Part<'sessionKiB' | 'redisSessionKiB' | 'beginMs' | 'quietPercent' | 'attachmentKiB' | 'joinMs' | 'watchedPercent'> {
  const lines: Line[] = [];
  const begun = await scales.during(async () => {
    for (let n = 0; n < sessions; n++) lines.push(await gateway.begin(['/bin/cat']));
    await later(SETTLE_MS);
  });
  const quiet = await scales.during(seconds);
  const connections: Connection[] = [];
  const joined = await scales.during(async () => {
    for (let n = 0; n < attachments; n++) connections.push(await open(watcher(lines[n % sessions] as Line)));
    await later(SETTLE_MS);
  });
  const watched = await scales.during(seconds);
  for (const connection of connections) connection.close();
  for (const line of lines) await gateway.end(line);
  return {
    sessionKiB: begun.residentKiB / sessions,
    redisSessionKiB: begun.redisKiB / sessions,
    beginMs: begun.cpuMs / sessions,
    quietPercent: (quiet.cpuMs / quiet.at) * 100,
    attachmentKiB: joined.residentKiB / attachments,
    joinMs: joined.cpuMs / attachments,
    watchedPercent: (watched.cpuMs / watched.at) * 100,
  };
}

interface Frame {
  readonly ms: number;
  readonly redisMs: number;
  readonly commands: number;
  readonly bytes: number;
}

/** Of a frame that comes alone; says how many came, since a machine that cannot keep up makes fewer and larger ones. */
async function busy(gateway: Gateway, scales: Scales, watchers: number, seconds: number): Promise<Frame> {
  const argv = [
    '/bin/bash',
    '-c',
    `exec 3<> <(:); while :; do printf '%0${LINE_BYTES - 2}d\\n' 1; read -rt ${INTERVAL_SECONDS} -u 3; done`,
  ];
  const lines = await Promise.all(Array.from({ length: BUSY_SESSIONS }, () => gateway.begin(argv)));
  const connections = await Promise.all(lines.flatMap((line) => Array.from({ length: watchers }, () => open(watcher(line)))));
  const heard = () => connections.reduce((sum, { messages }) => sum + messages, 0);
  await later(SETTLE_MS);
  const before = heard();
  const used = await scales.during(seconds);
  const frames = (heard() - before) / watchers;
  for (const connection of connections) connection.close();
  for (const line of lines) await gateway.end(line);
  console.log(`${BUSY_SESSIONS} sessions, ${watchedBy(watchers)} each: ${short((frames * 1000) / used.at)} frames/s`);
  return {
    ms: used.cpuMs / frames,
    redisMs: used.redisCpuMs / frames,
    commands: used.redisCommands / frames,
    bytes: (used.redisKiB * 1024) / frames,
  };
}

async function flood(gateway: Gateway, scales: Scales): Part<'megabyteMs' | 'redisMegabyteMs'> {
  const program = `read -n 1; yes ${'x'.repeat(LINE_BYTES - 2)} | head -c ${FLOOD_BYTES}`;
  const line = await gateway.begin(['/bin/bash', '-c', program]);
  const typist = await open(line);
  await later(SETTLE_MS);
  const used = await scales.during(() => {
    typist.key();
    return typist.ended;
  });
  const megabytes = typist.bytes / 1e6;
  console.log(`a flood: ${short((megabytes * 1000) / used.at)} MB/s`);
  return { megabyteMs: used.cpuMs / megabytes, redisMegabyteMs: used.redisCpuMs / megabytes };
}

interface Sizes {
  readonly sessions: number;
  readonly attachments: number;
  readonly seconds: number;
}

function readOptions(): { sizes: Sizes; isToBeWritten: boolean } {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const { values } = parseArgs({
    options: { sessions: text('300'), attachments: text('900'), seconds: text('20'), write: { type: 'boolean', default: false } },
  });
  const sizes = { sessions: Number(values.sessions), attachments: Number(values.attachments), seconds: Number(values.seconds) };
  for (const [name, value] of Object.entries(sizes)) if (!(value > 0)) throw new Error(`--${name} is ${value}; expected a number above 0`);
  return { sizes, isToBeWritten: values.write };
}

async function measure(gateway: Gateway, scales: Scales, sizes: Sizes): Promise<Capacity> {
  await later(SETTLE_MS);
  const { residentKiB } = await scales.read();
  const quiet = await idle(gateway, scales, sizes);
  const one = await busy(gateway, scales, 1, sizes.seconds);
  const five = await busy(gateway, scales, 5, sizes.seconds);
  const flooded = await flood(gateway, scales);
  const after = await scales.read();
  return {
    ...sizes,
    ...quiet,
    ...flooded,
    aloneMiB: residentKiB / 1024,
    afterMiB: after.residentKiB / 1024,
    frameMs: one.ms,
    frameToFiveMs: five.ms,
    redisFrameMs: one.redisMs,
    redisCommands: one.commands,
    redisFrameBytes: one.bytes,
  };
}

async function main(): Promise<void> {
  const { sizes, isToBeWritten } = readOptions();
  const redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'everysec');
  const redisVersion = /redis_version:(\d+)/.exec(await redis.tell('INFO', 'server'))?.[1];
  const gateway = await Gateway.start({ REDIS_URL: redis.url });
  try {
    const capacity = await measure(gateway, new Scales(gateway, redis), sizes);
    const where = machineWith(`Redis ${redisVersion}`);
    for (const block of Object.values(blocksOf(capacity, where))) console.log(`\n${block}`);
    if (isToBeWritten) writePage(capacity, where);
  } finally {
    await gateway.close();
    await redis.dispose();
  }
}

await main();
process.exit(0);
