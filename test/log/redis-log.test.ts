// The Redis log on one server: the contract, and what is of a shared store only.
import { afterAll, beforeAll } from 'vitest';
import { needs } from '../support/needs.js';
import { type RedisServer, startRedis } from '../support/redis.js';
import { logContract } from './contract.js';
import { redisBench } from './redis-bench.js';
import { sharedLog } from './redis-shared.js';

needs('redis-server')('one Redis server', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.dispose());

  logContract('the Redis log', () => redisBench({ url: server.url }));
  sharedLog('the Redis log', () => ({ url: server.url }));
});
