// The upgrade: what is chosen, who is refused and in which order.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/protocol/ids.js';
import { type AttachServer, type ConnectOptions, type Refusal, startAttachServer } from '../support/attach-server.js';

let server: AttachServer;
beforeAll(async () => {
  server = await startAttachServer();
});
afterAll(() => server.close());

async function refusal(session: { readonly id: string }, options: ConnectOptions): Promise<Refusal> {
  const refused = await server.connect(session, options).then(
    (client) => {
      client.ws.terminate();
      throw new Error('the upgrade was accepted');
    },
    (error: Refusal) => error,
  );
  if (!('status' in refused)) throw refused;
  return refused;
}

describe('an upgrade', () => {
  it.each([
    [['pty-ws.v1'], 'pty-ws.v1'],
    [['other', 'pty-ws.v1.binary', 'pty-ws.v1'], 'pty-ws.v1.binary'],
  ])('that offers %j is echoed %s', async (protocols, chosen) => {
    const client = await server.connect(server.newSession(), { protocols });
    expect(client.ws.protocol).toBe(chosen);
  });

  it('takes a token from the subprotocols, first or last, and never echoes it', async () => {
    const bearer = `bearer.${Buffer.from(server.token()).toString('base64url')}`;
    for (const protocols of [
      [bearer, 'pty-ws.v1'],
      ['pty-ws.v1', bearer],
    ]) {
      const client = await server.connect(server.newSession(), { token: '', protocols });
      expect(client.ws.protocol).toBe('pty-ws.v1');
    }
  });

  it('is refused in this order: subprotocol, token, scope and ACL, origin, unknown session', async () => {
    const session = server.newSession();
    const unknown = { id: newId() };
    const steps: Array<[{ readonly id: string }, ConnectOptions, number]> = [
      [unknown, { token: '', protocols: ['graphql-ws'] }, 400],
      [unknown, { token: '', protocols: [] }, 400],
      [unknown, { token: '' }, 401],
      [unknown, { token: 'garbage' }, 401],
      [unknown, { scope: 'email' }, 403],
      [unknown, { token: server.token('pty:control', { instances: ['other'] }) }, 403],
      [session, { token: server.token('pty:control', { sessions: [newId()] }) }, 403],
      [session, { headers: { origin: 'https://elsewhere.example' } }, 403],
      [unknown, {}, 404],
      [{ id: randomUUID() }, {}, 404],
      [{ id: '..%2f..' }, {}, 404],
    ];
    for (const [whom, options, status] of steps) {
      const from = server.audit.length;
      const refused = await refusal(whom, options);
      expect([refused.status, JSON.stringify(options)]).toEqual([status, JSON.stringify(options)]);
      expect(refused.body.error.message).toMatch(/./);
      expect(server.audit.slice(from).map((line) => [line.event, line.outcome])).toEqual([['attach', 'denied']]);
      if (status === 401) expect(refused.headers['www-authenticate']).toMatch(/^Bearer/);
    }
  });

  it('is refused with 429 and Retry-After beyond the limit', async () => {
    const strict = await startAttachServer({ ATTACH_RATE_LIMIT_MAX: '2' });
    const session = strict.newSession();
    const [a, b] = [await strict.connect(session), await strict.connect(session)];
    const refused = await strict.connect(session).catch((error: Refusal) => error);
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMITED' } } });
    expect((refused as Refusal).headers['retry-after']).toBeDefined();
    for (const client of [a, b]) client.ws.terminate();
    await strict.close();
  });

  it.each([
    ['a principal', 'MAX_CONNECTIONS_PER_PRINCIPAL', /^this principal has 2 connections already/],
    ['an address', 'MAX_CONNECTIONS_PER_ADDRESS', /^this address has 2 connections already/],
  ])('is refused with 429 to %s that has too many connections, until one is closed; refusals take no place', async (_, name, message) => {
    const strict = await startAttachServer({ [name]: '2' });
    const session = strict.newSession();
    for (let i = 0; i < 3; i += 1) await strict.connect({ id: newId() }).catch((error: Refusal) => expect(error.status).toBe(404));
    const [a, b] = await Promise.all([strict.connect(session), strict.connect(session)]);
    const refused = await strict.connect(session).catch((error: Refusal) => error);
    expect(refused).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMITED', message: expect.stringMatching(message) } } });
    expect((refused as Refusal).headers['retry-after']).toBeDefined();
    a.ws.terminate();
    const again = () =>
      strict
        .connect(session)
        .then((client) => client.ws.terminate())
        .then(
          () => 101,
          (error: Refusal) => error.status,
        );
    await expect.poll(again).toBe(101);
    b.ws.terminate();
    await strict.close();
  });

  it('that is followed by no frame is closed with 4400 after a while; one frame is enough to stay', async () => {
    const strict = await startAttachServer({ FIRST_FRAME_SECONDS: '1' });
    const [silent, speaking] = [await strict.greet(strict.newSession()), await strict.greet(strict.newSession())];
    speaking.say('ping', { client_ts: '' });
    expect((await silent.until('binding_goodbye')).payload).toEqual({ reason: 'other', detail: 'nothing was asked for in time' });
    expect(await silent.closeCode()).toBe(4400);
    expect(speaking.closed).toBeUndefined();
    speaking.ws.terminate();
    await strict.close();
  });

  it('is what this address is for', async () => {
    const session = server.newSession();
    const url = `http://127.0.0.1:${server.port}/agents/inst-a/sessions/${session.id}/attach`;
    const headers = { authorization: `Bearer ${server.token()}` };
    expect((await fetch(url, { headers })).status).toBe(400);
    expect((await fetch(url, { headers: { ...headers, 'sec-websocket-protocol': 'pty-ws.v1' } })).status).toBe(426);
  });

  it('that is granted is in the audit with its role once it joins', async () => {
    const session = server.newSession();
    const client = await server.greet(session, { scope: 'pty:observe' });
    await client.attach({ role: 'observer' });
    expect(server.audit.at(-1)).toMatchObject({
      event: 'attach',
      outcome: 'granted',
      principal: 'alice',
      role: 'observer',
      session_id: session.id,
      instance_id: 'inst-a',
    });
  });
});
