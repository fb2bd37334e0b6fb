// What more replicas on one Redis cost: the same sessions, all at the first of them, beside others that only are there. Knows no picture.
import { setTimeout as later } from 'node:timers/promises';
import { type RedisServer, startRedis } from '../../test/support/redis.js';
import { watching } from '../load/jobs.js';
import { LoadClient } from '../load/load-client.js';
import { compile } from '../peers/c-programs.js';
import { Gateway } from '../peers/gateway.js';
import { cpuMs } from '../support/cpu.js';
import { starter } from '../support/crowd.js';
import type { Curve } from '../support/curve.js';
import { herd, inTurn } from '../support/herd.js';
import { openWorkshop } from '../support/workshop.js';

const REPLICAS = [1, 2, 4, 8];
const SESSIONS = 20;
/** What each session prints: 20 KB/s. */
const [BURST_BYTES, PAUSE_MS] = [2000, 100];
const WHILE_MS = 6000;
/** A key that all believe tokens of. */
const AUTH_JWT_SECRET = 'a secret of the bench, long enough for HS256';

interface Used {
  readonly owner: number;
  readonly others: number;
  readonly redis: number;
}

export async function replicas(): Promise<Curve[]> {
  const workshop = openWorkshop();
  const argv = [compile(workshop.folder).printer, `${BURST_BYTES}`, `${PAUSE_MS * 1000}`, '0'];
  const used: Array<readonly [number, Used]> = [];
  for (const count of REPLICAS) used.push([count, await withReplicas(count, argv)]);
  workshop.close();
  const curve = (name: string, of: keyof Used): Curve => ({
    name,
    of: 'replicas',
    unit: '% of a core',
    points: used.map(([count, value]) => [count, value[of]]),
  });
  return [
    curve('CPU of the owner of 20 sessions', 'owner'),
    curve('CPU of its Redis', 'redis'),
    curve('CPU of all replicas beside it', 'others'),
  ];
}

async function withReplicas(count: number, argv: readonly string[]): Promise<Used> {
  const redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'everysec');
  const gateways: Gateway[] = [];
  while (gateways.length < count) gateways.push(await Gateway.start({ REDIS_URL: redis.url, AUTH_JWT_SECRET }));
  const [owner, ...others] = gateways as [Gateway, ...Gateway[]];
  const load = new LoadClient();
  const lines = await herd(owner, argv, SESSIONS);
  const typists = await inTurn(lines, starter);
  await load.ask('watch', { lines: lines.map(watching) });
  for (const typist of typists) typist.key();
  await later(PAUSE_MS * 10);
  const used = await during(redis, owner, others);
  for (const typist of typists) typist.close();
  await Promise.all([load.close(), ...gateways.map((gateway) => gateway.close())]);
  await redis.dispose();
  return used;
}

async function during(redis: RedisServer, owner: Gateway, others: readonly Gateway[]): Promise<Used> {
  const now = () => ({ owner: cpuMs(owner.pid), others: others.reduce((sum, { pid }) => sum + cpuMs(pid), 0), redis: cpuMs(redis.pid) });
  const before = now();
  await later(WHILE_MS);
  const after = now();
  const share = (of: keyof Used) => ((after[of] - before[of]) / WHILE_MS) * 100;
  return { owner: share('owner'), others: share('others'), redis: share('redis') };
}
