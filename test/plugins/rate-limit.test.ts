import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { needs } from '../support/needs.js';
import { type RedisServer, startRedis, until } from '../support/redis.js';
import { SECRET, type SmallApp, smallApp } from './small-app.js';
import { token } from './tokens.js';

const by = (sub: string) => token({ sub }, 'HS256', SECRET);

describe('the rate limits', () => {
  it('count the requests of a principal on an instance, and say when to come again', async () => {
    const app = await smallApp({ RATE_LIMIT_MAX: '2' });
    const status = async (path: string, sub: string) => (await app.get(path, by(sub))).status;
    expect(await status('/agents/a/sessions/1', 'alice')).toBe(200);
    expect(await status('/agents/a/sessions/2', 'alice')).toBe(200);
    const refused = await app.get('/agents/a/sessions/1', by('alice'));
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await refused.json()).toMatchObject({ error: { code: 'RATE_LIMITED', message: expect.stringMatching(/try again in \d+ s/) } });
    expect(await status('/agents/b/sessions/1', 'alice')).toBe(200);
    expect(await status('/agents/a/sessions/1', 'bob')).toBe(200);
    await app.close();
  });

  it('count upgrades apart from requests', async () => {
    const app = await smallApp({ RATE_LIMIT_MAX: '1', ATTACH_RATE_LIMIT_MAX: '1' });
    // An upgrade that nobody takes is answered as a request.
    const upgrade = () =>
      app.app.inject({ url: '/agents/a/sessions/1', headers: { authorization: `Bearer ${by('alice')}`, upgrade: 'websocket' } });
    expect((await app.get('/agents/a/sessions/1', by('alice'))).status).toBe(200);
    expect((await upgrade()).statusCode).toBe(200);
    const refused = await upgrade();
    expect(refused.statusCode).toBe(429);
    expect(refused.headers['retry-after']).toBeDefined();
    await app.close();
  });

  it('count who has no valid token by address, at addresses that do not exist too', async () => {
    const app = await smallApp({ RATE_LIMIT_MAX: '2' });
    expect((await app.get('/nothing')).status).toBe(404);
    expect((await app.get('/nothing', 'garbage')).status).toBe(404);
    expect((await app.get('/nothing')).status).toBe(429);
    await app.close();
  });

  it('count who has no valid token together, whichever instances are asked for; and a principal at all instances that do not exist', async () => {
    const app = await smallApp({ RATE_LIMIT_MAX: '2' });
    const status = async (inst: string, given?: string) => (await app.get(`/agents/${inst}/sessions/1`, given)).status;
    expect([await status('a'), await status('b', 'garbage'), await status('x')]).toEqual([401, 401, 429]);
    expect([await status('x', by('alice')), await status('y', by('alice')), await status('z', by('alice'))]).toEqual([200, 200, 429]);
    expect(await status('a', by('alice'))).toBe(200);
    await app.close();
  });

  it('leave probes alone', async () => {
    const app = await smallApp({ RATE_LIMIT_MAX: '1' });
    for (let i = 0; i < 3; i++) expect((await app.get('/probe')).status).toBe(200);
    await app.close();
  });
});

needs('redis-server', 'redis-cli')('the rate limits of replicas on one Redis', () => {
  let redis: RedisServer;
  let apps: readonly SmallApp[];
  const [path, alice] = ['/agents/a/sessions/1', by('alice')];
  const ask = (replica: 0 | 1) => apps[replica]?.get(path, alice) as Promise<Response>;
  const counted = () => redis.tell('--raw', 'KEYS', '*');

  beforeEach(async () => {
    redis = await startRedis();
    const env = { RATE_LIMIT_MAX: '2', REDIS_URL: redis.url, REDIS_KEY_PREFIX: 'mine' };
    apps = await Promise.all([smallApp(env), smallApp(env)]);
    // Before they are connected nothing is counted.
    for (const replica of [0, 1] as const) {
      await until(`replica ${replica} counts`, async () => {
        await ask(replica);
        return (await counted()) !== '';
      });
      await redis.tell('FLUSHALL');
    }
  });
  afterEach(async () => {
    for (const app of apps) await app.close();
    await redis.dispose();
  });

  it('count together, under the prefix, and say when the minute of all is over', async () => {
    expect((await ask(0)).status).toBe(200);
    expect((await ask(1)).status).toBe(200);
    for (const replica of [0, 1] as const) {
      const refused = await ask(replica);
      expect(refused.status).toBe(429);
      const left = Number(await redis.tell('PTTL', await counted())) / 1000;
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(left);
      expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    }
    expect(await counted()).toBe('mine:limits:http principal alice a');
  });

  it.each(['SIGKILL', 'SIGSTOP'] as const)('refuse nobody while Redis does not answer (%s)', async (signal) => {
    if (signal === 'SIGKILL') await redis.stop(signal);
    else redis.signal(signal);
    for (let i = 0; i < 3; i++) expect((await ask(0)).status).toBe(200);
  });
});
