// The Redis log on a master that Sentinels watch: the contract.
import { afterAll, beforeAll } from 'vitest';
import { needs } from '../support/needs.js';
import { type RedisWithSentinel, startWithSentinel } from '../support/redis.js';
import { logContract } from './contract.js';
import { redisBench } from './redis-bench.js';
import { sharedLog } from './redis-shared.js';

needs('redis-server', 'redis-cli')('Redis with Sentinel', () => {
  let redis: RedisWithSentinel;
  beforeAll(async () => {
    redis = await startWithSentinel();
  });
  afterAll(() => redis.dispose());

  logContract('the Redis log behind a Sentinel', () => redisBench(redis));
  sharedLog('the Redis log behind a Sentinel', () => redis);
});
