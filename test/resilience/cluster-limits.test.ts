// Limits hold for all replicas together. Knows a session from outside alone.
import { afterEach, expect, it, vi } from 'vitest';
import { type Gateways, type Replica, startGateways, tokenFor } from '../support/gateways.js';
import { needs } from '../support/needs.js';
import { framesOf, plainClient } from '../support/plain-client.js';
import { until } from '../support/redis.js';

// Several processes start and die in each test, and the machine may be busy with others.
vi.setConfig({ testTimeout: 90_000 });

needs('redis-server', 'redis-cli')('two replicas together', () => {
  let gateways: Gateways;
  const attach = (id: string, replica: Replica, sub: string) => plainClient(gateways.urlOf(id, replica), tokenFor(sub, 'pty:observe'));
  afterEach(() => gateways.dispose());

  it('let a principal attach so often in a minute, and then say when to come again', async () => {
    gateways = await startGateways({ env: { ATTACH_RATE_LIMIT_MAX: '3' } });
    const [one, two] = [gateways.at(0), gateways.at(1)];
    const id = await gateways.begin(one);
    for (const replica of [one, two, two]) await attach(id, replica, 'alice');
    for (const replica of [one, two]) {
      const refused = await attach(id, replica, 'alice').catch((error) => error);
      expect(refused).toMatchObject({ status: 429, retryAfter: expect.any(Number) });
      expect(refused.retryAfter).toBeGreaterThan(0);
      expect(refused.retryAfter).toBeLessThanOrEqual(60);
    }
    await attach(id, one, 'bob');
  });

  it('send away whoever is revoked, wherever they are, and let nobody else go', async () => {
    gateways = await startGateways();
    const [one, two] = [gateways.at(0), gateways.at(1)];
    const id = await gateways.begin(one);
    const clients = await Promise.all([attach(id, one, 'alice'), attach(id, two, 'alice'), attach(id, two, 'bob')]);
    await gateways.redis.tell('SADD', 'pty:revoked', 'sub:alice');
    await until('alice is sent away', () => clients.filter(({ closed }) => closed !== undefined).length >= 2);
    expect(clients.map(({ closed }) => closed?.code)).toEqual([4401, 4401, undefined]);
    for (const replica of [one, two]) await expect(attach(id, replica, 'alice')).rejects.toMatchObject({ status: 401 });
  });

  it('run so many sessions of an agent, and those of a replica that died count no more', async () => {
    gateways = await startGateways({ policy: { max_sessions: 3 } });
    const [one, two] = [gateways.at(0), gateways.at(1)];
    const create = async (replica: Replica) => (await gateways.ask(replica, 'POST', '', {})).status;
    const answers = await Promise.all([one, two, one, two, one, two].map(create));
    expect(answers.sort()).toEqual([201, 201, 201, 503, 503, 503]);
    const { sessions } = (await gateways.ask(one, 'GET', '?state=running')).body as {
      sessions: Array<Record<'session_id' | 'replica_id', string>>;
    };
    const [first] = sessions;
    expect((await gateways.ask(one, 'DELETE', `/${first?.session_id}`)).status).toBe(202);
    await until('its place is free', async () => (await create(two)) === 201);
    expect(await create(one)).toBe(503);
    await two.stop('SIGKILL');
    // With its end, not when its place would have lapsed.
    await until('the place of a session of the dead one is free', async () => (await create(one)) === 201, 10_000);
  });

  it('make one session of one Idempotency-Key', async () => {
    gateways = await startGateways();
    const [one, two] = [gateways.at(0), gateways.at(1)];
    const create = (replica: Replica, body: object) => gateways.ask(replica, 'POST', '', body, { 'idempotency-key': 'once' });
    const answers = await Promise.all([one, two, one, two].map((replica) => create(replica, { label: 'a' })));
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(new Set(answers.map(({ body }) => body.session_id)).size).toBe(1);
    expect((await gateways.ask(two, 'GET', '')).body.sessions).toHaveLength(1);
    expect((await create(two, { label: 'b' })).status).toBe(409);
    await one.stop('SIGKILL');
    const again = async () => (await create(two, { label: 'a' })).status;
    await until('it is that session still', async () => (await again()) === 201);
    expect((await gateways.ask(two, 'GET', '')).body.sessions).toHaveLength(1);
  });

  it('let so many watch a session, wherever they are', async () => {
    gateways = await startGateways({ pty: { max_observers: 2 } });
    const [one, two] = [gateways.at(0), gateways.at(1)];
    const id = await gateways.begin(one);
    const watch = async (replica: Replica) => {
      const client = await attach(id, replica, 'alice');
      client.join({ role: 'observer' });
      await until('it is answered', () => framesOf(client, 'Keyframe').length > 0 || client.closed !== undefined);
      return client;
    };
    const inside = [await watch(one), await watch(two)];
    expect(inside.map(({ closed }) => closed)).toEqual([undefined, undefined]);
    for (const replica of [one, two]) {
      const refused = await watch(replica);
      expect(framesOf(refused, 'RATE_LIMITED')).toMatchObject([{ payload: { code: 'RATE_LIMITED', retryable: true } }]);
      expect(refused.closed?.code).toBe(4429);
    }
    inside[1]?.ws.terminate();
    await until('there is room again', async () => (await watch(one)).closed === undefined);
  });
});
