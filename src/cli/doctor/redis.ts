// Whether the Redis that the settings name will do: its version, what it evicts and writes down, its clock. Knows no key of ours.
import { setTimeout as pause } from 'node:timers/promises';
import { Cluster, type Redis } from 'ioredis';
import type { Config } from '../../config.js';
import type { NamedKey } from '../../keyring.js';
import { whyNotDurable } from '../../log/redis/durability.js';
import { type Client, ready } from '../../redis/client.js';
import { connect, readAddress } from '../../redis/connect.js';
import { attempt, type Finding, fail, ok, warn } from './finding.js';
import { redisKeyFindings } from './redis-keys.js';
import { redisSealFindings } from './seals.js';

/** How long Redis may take to be reached, and to answer, in milliseconds. */
const PATIENCE_MS = 5000;
/** What a clock may be off before it is told, in milliseconds: leases and tokens are judged by it. */
const CLOCK_MS = 1000;
const OLDEST = 7;
/** How often Redis is asked one after the other, the pause between, and what an answer may take before it is told, in milliseconds. */
const ASKED_TIMES = 10;
const PAUSE_MS = 100;
const SLOW_MS = 250;

/** `keys` are those with which this environment would seal. */
export async function redisFindings(redis: NonNullable<Config['redis']>, keys: readonly NamedKey[]): Promise<Finding[]> {
  const address = await attempt('REDIS_URL', 'write redis://host:port, or rediss:// for TLS', () => readAddress(redis).name);
  if (address.level !== 'ok') return [address];
  const client = connect(redis, { socketTimeout: PATIENCE_MS });
  try {
    const reached = await attempt('Redis', 'see that it runs, and that this machine, the password and TLS are right', () => reach(client));
    return reached.level === 'ok'
      ? [address, reached, ...(await judge(client, redis)), ...(await redisSealFindings(client, redis.prefix, keys))]
      : [address, reached];
  } finally {
    client.disconnect();
  }
}

/** Why there is no connection is told by the last attempt to connect. */
async function reach(client: Client): Promise<string> {
  let last: Error | undefined;
  client.on('error', (error: Error) => {
    last = error;
  });
  await ready(client, PATIENCE_MS).catch((error) => {
    throw last ?? error;
  });
  const before = performance.now();
  await client.ping();
  return `answers in ${(performance.now() - before).toFixed(1)} ms`;
}

async function judge(client: Client, redis: NonNullable<Config['redis']>): Promise<Finding[]> {
  const nodes: Redis[] = client instanceof Cluster ? client.nodes('master') : [client];
  const perNode = await Promise.all(
    nodes.map((node) => judgeNode(node, nodes.length > 1 ? ` at ${node.options.host}:${node.options.port}` : '')),
  );
  const promised = redis.durable
    ? [await attempt('REDIS_DURABLE', 'set REDIS_DURABLE=false, or change Redis', () => durability(client))]
    : [];
  return [...perNode.flat(), ...promised, ...(await redisKeyFindings(client, redis))];
}

async function durability(client: Client): Promise<string> {
  const why = await whyNotDurable(client);
  if (why) throw new Error(why);
  return 'as promised';
}

async function judgeNode(node: Redis, where: string): Promise<Finding[]> {
  const info = fields(await node.info());
  return [
    version(info, where),
    await shardedPubSub(node, where),
    eviction(info, where),
    persistence(info, where),
    await clock(node, where),
    await latency(node, where),
  ];
}

function fields(info: string): ReadonlyMap<string, string> {
  return new Map(info.split(/\r?\n/).map((line) => line.split(/:(.*)/s, 2) as [string, string]));
}

function version(info: ReadonlyMap<string, string>, where: string): Finding {
  const check = `version${where}`;
  const valkey = info.get('valkey_version');
  const redis = info.get('redis_version') ?? '';
  const found = valkey ? `Valkey ${valkey}` : `Redis ${redis}`;
  return Number.parseInt(redis, 10) >= OLDEST ? ok(check, found) : fail(check, found, `Redis ${OLDEST} or later is needed, or Valkey`);
}

async function shardedPubSub(node: Redis, where: string): Promise<Finding> {
  const check = `sharded pub/sub${where}`;
  const [command] = (await node.call('COMMAND', 'INFO', 'ssubscribe').catch(() => [])) as unknown[];
  if (command) return ok(check, 'there');
  return fail(
    check,
    'SSUBSCRIBE is unknown, or this user may not ask',
    'use Redis 7 or later, or Valkey, with a user that may do all with our keys',
  );
}

function eviction(info: ReadonlyMap<string, string>, where: string): Finding {
  const check = `eviction${where}`;
  const policy = info.get('maxmemory_policy') ?? 'unknown';
  const limit = info.get('maxmemory_human') ?? '0B';
  if (policy === 'noeviction') return ok(check, limit === '0B' ? 'noeviction, no maxmemory' : `noeviction, maxmemory ${limit}`);
  const level = limit === '0B' ? warn : fail;
  return level(check, `maxmemory-policy is ${policy}, maxmemory ${limit}: history may vanish`, 'set maxmemory-policy noeviction');
}

function persistence(info: ReadonlyMap<string, string>, where: string): Finding {
  const check = `persistence${where}`;
  if (info.get('aof_last_write_status') === 'err' || info.get('rdb_last_bgsave_status') === 'err')
    return fail(check, 'Redis could not write to its disk', "see Redis' log and its disk");
  if (info.get('aof_enabled') === '1') return ok(check, 'appendonly yes');
  return warn(check, 'appendonly no: a restart of Redis loses sessions and history', 'set appendonly yes');
}

async function clock(node: Redis, where: string): Promise<Finding> {
  const check = `clock${where}`;
  const before = Date.now();
  const [seconds, micros] = (await node.time()) as unknown as [string, string];
  const middle = (before + Date.now()) / 2;
  const off = Math.round(Number(seconds) * 1000 + Number(micros) / 1000 - middle);
  const found = `${Math.abs(off)} ms ${off < 0 ? 'behind' : 'before'} this machine's`;
  return Math.abs(off) < CLOCK_MS ? ok(check, found) : warn(check, found, 'keep the clocks of all machines right (NTP)');
}

/** One answer says little of a Redis that stands still now and then. */
async function latency(node: Redis, where: string): Promise<Finding> {
  const check = `latency${where}`;
  let slowest = 0;
  for (let i = 0; i < ASKED_TIMES; i++) {
    const before = performance.now();
    await node.ping();
    slowest = Math.max(slowest, performance.now() - before);
    await pause(PAUSE_MS);
  }
  const found = `the slowest of ${ASKED_TIMES} answers took ${slowest.toFixed(1)} ms`;
  if (slowest < SLOW_MS) return ok(check, found);
  return warn(check, found, 'see what else keeps Redis, this machine or the way between them busy: docs/runbook.md, PtyGatewayLogSlow');
}
