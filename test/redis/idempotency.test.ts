// One request, sent to several replicas: on a real Redis. Knows no route.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { digestUnder } from '../../src/idempotency.js';
import type { Client } from '../../src/redis/client.js';
import { ready } from '../../src/redis/client.js';
import { connect } from '../../src/redis/connect.js';
import { RedisIdempotency } from '../../src/redis/idempotency.js';
import { needs } from '../support/needs.js';
import { type RedisServer, startRedis } from '../support/redis.js';

const forever = () => new Promise<string>(() => {});

needs('redis-server')('what two replicas make of one key', () => {
  let server: RedisServer;
  let clients: [Client, Client];
  let made: number;
  const make = async () => `made-${++made}`;
  const pair = (prefix: string, limits?: ConstructorParameters<typeof RedisIdempotency>[3]) => {
    made = 0;
    return clients.map((client) => new RedisIdempotency(client, prefix, digestUnder(undefined), limits)) as [
      RedisIdempotency,
      RedisIdempotency,
    ];
  };

  beforeAll(async () => {
    server = await startRedis();
    clients = [connect(server), connect(server)];
    for (const client of clients) await ready(client, 5000);
  });
  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await server.dispose();
  });

  it('is one thing, though they are asked at the same time and again', async () => {
    const [a, b] = pair('one');
    const ids = await Promise.all([a, b, a, b].map((each) => each.once('key', { x: 1, y: 2 }, make)));
    expect(new Set(ids)).toEqual(new Set(['made-1']));
    expect(await b.once('key', { y: 2, x: 1 }, make)).toBe('made-1');
    await expect(b.once('key', { x: 2 }, make)).rejects.toMatchObject({ status: 409 });
    expect(await b.once('another', { x: 2 }, make)).toBe('made-2');
  });

  it('is made by the next who asks when it has failed', async () => {
    const [a, b] = pair('failed');
    await expect(a.once('key', {}, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await b.once('key', { other: 'body' }, make)).toBe('made-1');
  });

  it('is made by the other when the first has died over it', async () => {
    const [a, b] = pair('died', { keys: 10, makingMs: 300 });
    void a.once('key', {}, forever);
    expect(await b.once('key', {}, make)).toBe('made-1');
    expect(await a.once('key', {}, make)).toBe('made-1');
  });

  it('is forgotten when so many came after it', async () => {
    const [a, b] = pair('many', { keys: 2, makingMs: 300 });
    for (const key of ['first', 'second', 'third']) await a.once(key, {}, make);
    expect(await b.once('third', {}, make)).toBe('made-3');
    expect(await b.once('first', {}, make)).toBe('made-4');
    expect(await server.tell('ZCARD', 'many:{once}:ages')).toBe('2');
    expect(await server.tell('HLEN', 'many:{once}:known')).toBe('2');
  });
});
