// What one replica on Redis needs for what it carries: memory and CPU of its process, and of Redis, for a session, an attachment, a frame, a megabyte.
// The coefficients of docs/capacity.md. Run after a build: npx tsx bench/capacity.ts [--sessions 80] [--attachments 800] [--seconds 10]
import { readFileSync } from 'node:fs';
import { setTimeout as later } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type RedisServer, startRedis } from '../test/support/redis.js';
import { Connection } from './load/connection.js';
import type { Line } from './load/jobs.js';
import { Gateway } from './peers/gateway.js';
import { cpuMs } from './support/cpu.js';
import { printTable, short } from './support/figures.js';
import { machine } from './support/machine.js';

/** Milliseconds until what was begun has settled. */
const SETTLE_MS = 3000;
/** Sessions that print, and the seconds between two of their lines. */
const BUSY_SESSIONS = 20;
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

type Row = readonly [what: string, value: string, unit: string];

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
const per = (value: number, count: number): string => short(value / count);

async function idle(gateway: Gateway, scales: Scales, { sessions, attachments, seconds }: Sizes): Promise<Row[]> {
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
  return [
    ['an idle session: memory', per(begun.residentKiB, sessions), 'KiB'],
    ['… in Redis', per(begun.redisKiB, sessions), 'KiB'],
    ['… beginning it: CPU', per(begun.cpuMs, sessions), 'ms'],
    [`${sessions} idle sessions: CPU`, short((quiet.cpuMs / quiet.at) * 100), '% of a core'],
    ['an idle attachment: memory', per(joined.residentKiB, attachments), 'KiB'],
    ['… joining: CPU', per(joined.cpuMs, attachments), 'ms'],
    [`… and ${attachments} idle attachments: CPU`, short((watched.cpuMs / watched.at) * 100), '% of a core'],
  ];
}

async function busy(gateway: Gateway, scales: Scales, watchers: number, seconds: number): Promise<Row[]> {
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
  const deliveries = heard() - before;
  const frames = deliveries / watchers;
  for (const connection of connections) connection.close();
  for (const line of lines) await gateway.end(line);
  const what = `a frame of ${LINE_BYTES} bytes to ${watchers === 1 ? 'one attachment' : `${watchers} attachments`}`;
  return [
    [`${what}: CPU`, per(used.cpuMs * 1000, frames), 'µs'],
    ['… of Redis', per(used.redisCpuMs * 1000, frames), 'µs'],
    ['… commands of Redis', per(used.redisCommands, frames), ''],
    ['… kept in Redis', per(used.redisKiB * 1024, frames), 'bytes'],
    ['… frames a second meanwhile', per(frames * 1000, used.at), ''],
  ];
}

async function flood(gateway: Gateway, scales: Scales): Promise<Row[]> {
  const program = `read -n 1; yes ${'x'.repeat(LINE_BYTES - 2)} | head -c ${FLOOD_BYTES}`;
  const line = await gateway.begin(['/bin/bash', '-c', program]);
  const typist = await open(line);
  await later(SETTLE_MS);
  const used = await scales.during(() => {
    typist.key();
    return typist.ended;
  });
  const megabytes = typist.bytes / 1e6;
  return [
    ['a megabyte of output: CPU', per(used.cpuMs, megabytes), 'ms'],
    ['… of Redis', per(used.redisCpuMs, megabytes), 'ms'],
    ['… MB a second meanwhile', per(megabytes * 1000, used.at), ''],
  ];
}

type Sizes = Readonly<Record<'sessions' | 'attachments' | 'seconds', number>>;

function readSizes(): Sizes {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const { values } = parseArgs({ options: { sessions: text('80'), attachments: text('800'), seconds: text('10') } });
  const sizes = { sessions: Number(values.sessions), attachments: Number(values.attachments), seconds: Number(values.seconds) };
  for (const [name, value] of Object.entries(sizes)) if (!(value > 0)) throw new Error(`--${name} is ${value}; expected a number above 0`);
  return sizes;
}

async function main(): Promise<void> {
  const sizes = readSizes();
  const redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'everysec');
  const gateway = await Gateway.start({ REDIS_URL: redis.url });
  const scales = new Scales(gateway, redis);
  try {
    await later(SETTLE_MS);
    const { residentKiB } = await scales.read();
    const rows: Row[] = [['the gateway alone: memory', short(residentKiB / 1024), 'MiB']];
    rows.push(...(await idle(gateway, scales, sizes)));
    for (const watchers of [1, 5]) rows.push(...(await busy(gateway, scales, watchers, sizes.seconds)));
    rows.push(...(await flood(gateway, scales)));
    const most = await scales.read();
    rows.push(['the gateway after all that: memory', short(most.residentKiB / 1024), 'MiB']);
    console.log(`${machine()}\n`);
    printTable(['what', 'measured', 'unit'], rows);
  } finally {
    await gateway.close();
    await redis.dispose();
  }
}

await main();
process.exit(0);
