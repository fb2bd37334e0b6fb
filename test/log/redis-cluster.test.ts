// The Redis log on a cluster: the contract, and slots that move while sessions are written and followed.
import { afterAll, beforeAll } from 'vitest';
import { needs } from '../support/needs.js';
import { type RedisCluster, startCluster } from '../support/redis.js';
import { logContract } from './contract.js';
import { redisBench } from './redis-bench.js';

needs('redis-server', 'redis-cli')('a Redis cluster', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster.dispose());

  logContract('the Redis log on a cluster', () => redisBench({ url: cluster.url }));
});
