// Somebody with a link who wants more of it: every address, every verb, other sessions, after its end; and what could give the link away.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/protocol/ids.js';
import type { Share } from '../../src/shares/share.js';
import { Person } from '../audit/stage.js';
import { type Gateway, startGateway } from '../routes/gateway.js';
import { needs } from '../support/needs.js';
import { type RedisServer, startRedis } from '../support/redis.js';

const A2A = { 'a2a-version': '1.0' };
type Session = { readonly session_id: string; readonly pty_ws_url: string };

let gateway: Gateway;
let session: Session;
let other: Session;
let token: string;
let shareId: string;
beforeAll(async () => {
  gateway = await startGateway({
    LOG_LEVEL: 'trace',
    AUTH_EXPIRY_GRACE_SECONDS: '0',
    AUTH_CLOCK_SKEW_SECONDS: '0',
    RATE_LIMIT_MAX: '10000',
  });
  [session, other] = [await gateway.session({ argv: ['/bin/cat'] }), await gateway.session({ argv: ['/bin/cat'] })];
  [token, shareId] = await linkTo(gateway, session);
});
afterAll(() => gateway.close());

async function linkTo(at: Gateway, { session_id }: Session): Promise<[token: string, shareId: string]> {
  const { json } = await at.call('POST', `/agents/free/sessions/${session_id}/shares`, { body: {} });
  return [tokenIn(json.url), json.share_id];
}
const tokenIn = (url: string) => new URLSearchParams(new URL(url).hash.slice(1)).get('token') as string;

const says = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'true' }] };
/** What an address wants in its body, so that nothing but the right to it is missing. */
const bodies: Record<string, (id: string) => unknown> = {
  'POST /agents/{inst}/sessions': () => ({}),
  'POST /agents/{inst}/sessions/{id}/controller': () => ({ client_id: null }),
  'POST /agents/{inst}/sessions/{id}/shares': () => ({}),
  'POST /agents/{inst}/a2a/v1/message:send': (taskId) => ({ message: { ...says, taskId } }),
  'POST /agents/{inst}/a2a/v1/message:stream': (taskId) => ({ message: { ...says, taskId } }),
  'POST /agents/{inst}/a2a/v1/tasks/{taskId}/pushNotificationConfigs': () => ({ id: 'c', url: 'https://receiver.example/' }),
  'POST /agents/{inst}/a2a/jsonrpc': (taskId) => ({
    jsonrpc: '2.0',
    id: 1,
    method: 'SendMessage',
    params: { message: { ...says, taskId } },
  }),
  'PUT /admin/replicas/{replica}/log-level': () => ({ level: 'info' }),
};
/** Streams until the session ends. */
const endless = /:subscribe$/;

/** Each address of openapi.json that a token is asked for, with how it answers the link. */
async function opened(inst: string, { session_id }: Session): Promise<string[]> {
  const { paths } = (await gateway.call('GET', '/openapi.json')).json as { paths: Record<string, Record<string, { security?: unknown }>> };
  const rows = Object.entries(paths).flatMap(([at, methods]) =>
    Object.entries(methods).flatMap(([method, { security }]) => (security ? [`${method.toUpperCase()} ${at}`] : [])),
  );
  expect(rows.length).toBeGreaterThan(25);
  const open: string[] = [];
  for (const row of rows.filter((one) => !endless.test(one))) {
    const [method = '', at = ''] = row.split(' ');
    const where = at
      .replace('{inst}', inst)
      .replace(/\{id\}|\{taskId\}/, session_id)
      .replace('{replica}', 'r1')
      .replace(/\{\w+\}/, newId());
    const body = bodies[row]?.(session_id);
    const { status, text } = await gateway.call(method, where, { token, headers: A2A, ...(body !== undefined && { body }) });
    if (status < 400) open.push(row);
    else expect([row, text]).toEqual([row, expect.stringMatching(/PERMISSION_DENIED|TASK_NOT_FOUND/)]);
  }
  return open;
}

describe('A link', () => {
  it('opens of its session what is for looking, at every address that there is, and nothing that acts', async () => {
    expect((await opened('free', session)).sort()).toEqual([
      'GET /agents/{inst}/a2a/v1/extendedAgentCard',
      'GET /agents/{inst}/a2a/v1/tasks',
      'GET /agents/{inst}/a2a/v1/tasks/{id}',
      'GET /agents/{inst}/extendedAgentCard',
      'GET /agents/{inst}/sessions',
      'GET /agents/{inst}/sessions/{id}',
      'GET /agents/{inst}/sessions/{id}/screen',
      'GET /agents/{inst}/sessions/{id}/transcript',
    ]);
  });

  it('opens nothing of another session or instance, and lists its own alone', async () => {
    const about = (rows: string[]) => rows.filter((row) => /\{id\}|\{taskId\}/.test(row));
    expect(about(await opened('free', other))).toEqual([]);
    expect(await opened('fixed', session)).toEqual([]);
    for (const at of ['/agents/free/sessions', '/agents/free/a2a/v1/tasks']) {
      const { text } = await gateway.call('GET', at, { token, headers: A2A });
      expect([text.includes(session.session_id), text.includes(other.session_id)]).toEqual([true, false]);
    }
    await expect(new Person(gateway).attach(other, { token })).rejects.toMatchObject({ status: 403 });
  });

  it('types, resizes, sends and cancels nothing on a connection, and is given no control: by itself or by an admin', async () => {
    const client = await new Person(gateway).join(session, 'controller', { token });
    const { session_id: task_id } = session;
    const { controllers, observers } = (await gateway.call('GET', `/agents/free/sessions/${task_id}`)).json;
    expect([controllers, observers.length]).toEqual([[], 1]);
    const [{ client_id }] = observers;
    const denied = [
      ['pty.request_role', { role: 'controller' }],
      ['pty.session_input', { data: Buffer.from('x').toString('base64') }],
      ['pty.session_resize', { cols: 10, rows: 10 }],
      ['SendMessage', { message: says }],
      ['CancelTask', { task_id }],
    ] as const;
    for (const [verb, payload] of denied)
      expect([verb, await client.answer(client.say(verb, payload))]).toMatchObject([verb, { payload: { code: 'PERMISSION_DENIED' } }]);
    const moved = await gateway.call('POST', `/agents/free/sessions/${task_id}/controller`, { body: { client_id } });
    expect(moved.status).toBe(403);
    client.ws.close();
  });

  it('is over when its time is: who watches is sent away, and nobody is let in', async () => {
    const seconds = Math.floor(Date.now() / 1000);
    const at = (s: number) => new Date(s * 1000).toISOString();
    const ids = { share_id: newId(), instance_id: 'free', session_id: session.session_id };
    const brief: Share = { ...ids, created_by: 'alice', created_at: at(seconds), expires_at: at(seconds + 3) };
    await gateway.app.shares.add(brief);
    const short = tokenIn(gateway.app.shareUrl(brief));
    const client = await new Person(gateway).join(session, 'observer', { token: short });
    expect(await client.closeCode()).toBe(4401);
    await expect(new Person(gateway).attach(session, { token: short })).rejects.toMatchObject({ status: 401 });
    expect((await gateway.call('GET', `/agents/free/sessions/${session.session_id}/screen`, { token: short })).status).toBe(401);
  });

  it('stands nowhere: not in the audit, the log, the numbers, or what is kept of it; and no address that a browser leaves has it', async () => {
    const kept = readFileSync(path.join(gateway.dataDir, 'shares.json'), 'utf8');
    expect(kept).toContain(shareId);
    const metrics = (await gateway.call('GET', '/metrics')).text;
    const page = await gateway.call('GET', '/', { token: '' });
    const places = { audit: JSON.stringify(gateway.audit()), log: gateway.logged(), metrics, kept, page: page.text };
    const parts = token.split('.').slice(1);
    for (const [place, text] of Object.entries(places)) expect([place, parts.filter((part) => text.includes(part))]).toEqual([place, []]);
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  });
});

needs('redis-server')('A link of several replicas', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.dispose());

  it('that is revoked at one is over at all, for who watches there too', async () => {
    const [owner, elsewhere] = (await Promise.all(
      ['owner', 'elsewhere'].map((id) => startGateway({ REPLICA_ID: id, REDIS_URL: redis.url })),
    )) as [Gateway, Gateway];
    const made: Session = await owner.session({ argv: ['/bin/cat'] });
    const [link, id] = await linkTo(owner, made);
    const there = { pty_ws_url: made.pty_ws_url.replace(owner.base.slice(4), elsewhere.base.slice(4)) };
    const watching = await new Person(elsewhere).join(there, 'observer', { token: link });
    expect((await owner.call('DELETE', `/agents/free/sessions/${made.session_id}/shares/${id}`)).status).toBe(204);
    expect(await watching.closeCode()).toBe(4401);
    await expect(new Person(elsewhere).attach(there, { token: link })).rejects.toMatchObject({ status: 401 });
    await elsewhere.close();
    await owner.close();
  });
});
