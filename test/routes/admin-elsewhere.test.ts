// What an administrator does through a replica that does not run the session: everybody is told as the extension demands (pty-ext §6, §7), wherever they are connected.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { needs } from '../support/needs.js';
import { type RedisServer, startRedis } from '../support/redis.js';
import { type Client, type Gateway, type Seen, startGateway } from './gateway.js';

needs('redis-server', 'redis-cli')('an administrator at another replica', () => {
  let redis: RedisServer;
  let owner: Gateway;
  let other: Gateway;
  beforeAll(async () => {
    redis = await startRedis();
    [owner, other] = [await startGateway({ REDIS_URL: redis.url }), await startGateway({ REDIS_URL: redis.url, REPLICA_ID: 'r2' })];
  });
  afterAll(async () => {
    await Promise.all([owner.close(), other.close()]);
    await redis.dispose();
  });

  const elsewhere = async (path: string) => (await other.call('GET', path)).json;
  const roleAssigned = (role: string) => (frame: Seen) => frame.payload.kind === 'RoleAssigned' && frame.payload.role === role;
  const ids = (members: Array<{ client_id: string }>) => members.map(({ client_id }) => client_id);
  const controlledBy = (client?: Client) => (frame: Seen) =>
    frame.payload.kind === 'MembershipChanged' && ids(frame.payload.controllers).join() === (client?.clientId ?? '');

  it('moves control, frees it, sends a member away and ends the session', async () => {
    const session = await owner.session();
    const path = `/agents/free/sessions/${session.session_id}`;
    const here = await owner.join(session);
    const there = await other.join(await elsewhere(path), 'observer');
    const move = (client_id: string | null) => other.call('POST', `${path}/controller`, { body: { client_id } });

    expect((await move(there.clientId)).status).toBe(200);
    await Promise.all([here.until(roleAssigned('observer')), there.until(roleAssigned('controller'))]);
    for (const each of [here, there]) await each.until(controlledBy(there));

    expect((await move(null)).status).toBe(200);
    await there.until(roleAssigned('observer'));
    for (const each of [here, there]) await each.until(controlledBy());

    expect((await move(here.clientId)).status).toBe(200);
    await here.until(roleAssigned('controller'));
    expect((await other.call('DELETE', `${path}/members/${here.clientId}`)).status).toBe(202);
    expect((await here.until(({ op }) => op === 'binding_goodbye')).payload.reason).toBe('principal_revoked');
    expect(await here.closed).toBe(4403);
    await there.until(controlledBy());

    expect((await other.call('DELETE', path)).status).toBe(202);
    expect((await there.until(({ payload }) => payload.kind === 'Closed')).payload).toMatchObject({ reason: 'killed' });
    expect(await there.closed).toBe(1000);
    expect((await other.call('DELETE', path)).status).toBe(409);
  });

  it("has a link's label without the session's secrets, wherever it is made", async () => {
    const leased = 'k9-the-leased-one';
    const token = `ghp_${'aB3dE5gH7jK9mN1pQ3sT5vX7zA9cE1gH3jK5'}`;
    const session = await owner.session({ secrets: [leased] });
    const path = `/agents/free/sessions/${session.session_id}/shares`;
    for (const gateway of [owner, other]) {
      const { status, text } = await gateway.call('POST', path, { body: { label: `for ${leased} and ${token}` } });
      expect([status, JSON.parse(text).label]).toEqual([201, `for ${'*'.repeat(leased.length)} and ghp_${'*'.repeat(36)}`]);
    }
    const kept = [(await other.call('GET', path)).text, await redis.tell('hgetall', `pty:{${session.session_id}}:shares`)];
    expect(kept.join().includes('for ')).toBe(true);
    expect([leased, token.slice(8)].filter((word) => kept.join().includes(word))).toEqual([]);
    const audited = JSON.stringify([...owner.audit(), ...other.audit()]);
    expect(audited.includes('for *')).toBe(false);
  });

  it('is told what is not there, and who may not is refused', async () => {
    const session = await owner.session();
    const path = `/agents/free/sessions/${session.session_id}`;
    await owner.join(session);
    const statuses = [
      (await other.call('POST', `${path}/controller`, { body: { client_id: 'nobody' } })).status,
      (await other.call('DELETE', `${path}/members/nobody`)).status,
      (await other.call('POST', `${path}/controller`, { token: other.token('pty:control'), body: { client_id: null } })).status,
      (await other.call('DELETE', path, { token: other.token('pty:control', { sub: 'bob' }) })).status,
    ];
    expect(statuses).toEqual([404, 404, 403, 403]);
  });
});
