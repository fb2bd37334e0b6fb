// Redis logs for the suite that every log runs. Knows no particular server.
import { v7 } from 'uuid';
import { openRedisLog, type RedisLogOptions } from '../../src/log/redis/redis-log.js';
import type { Bench, Over } from './contract.js';

/** A log under a prefix of its own, so that what others left behind is not there; `over` puts another one on top of it. */
export async function redisBench(options: Omit<RedisLogOptions, 'prefix' | 'now'>, over: Over = (log) => log): Promise<Bench> {
  let time = 1_700_000_000_000;
  const own = { ...options, prefix: `test-${v7()}`, now: () => time };
  let log = over(await openRedisLog(own), own.now);
  return {
    log,
    now: own.now,
    advance: (ms) => {
      time += ms;
    },
    reopen: async () => {
      await log.close();
      log = over(await openRedisLog(own), own.now);
      return log;
    },
    dispose: () => log.close(),
  };
}
