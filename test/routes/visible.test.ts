// Whoever may not see a session cannot tell it from one that does not exist: every address and every A2A operation, for each way not to be allowed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { operations } from '../../src/a2a/operations.js';
import { newId } from '../../src/protocol/ids.js';
import { type Gateway, startGateway } from './gateway.js';

let gateway: Gateway;
let running: string;
let closed: string;
beforeAll(async () => {
  gateway = await startGateway({ RATE_LIMIT_MAX: '100000', ATTACH_RATE_LIMIT_MAX: '100000' });
  running = (await gateway.session()).session_id;
  closed = (await gateway.session({ argv: ['/bin/true'] })).session_id;
  const state = async () => (await gateway.call('GET', `/agents/free/sessions/${closed}`)).json.state;
  while ((await state()) !== 'closed') await new Promise(setImmediate);
});
afterAll(() => gateway.close());

/** Everybody who may not see what alice created. */
const strangers: Record<string, () => string> = {
  'another instance': () => gateway.token('pty:admin', { instances: ['fixed'] }),
  'another session': () => gateway.token('pty:admin', { sessions: [newId()] }),
  'its own sessions alone': () => gateway.token('pty:admin', { sub: 'bob', sessions: ['own'] }),
  'its own sessions and another': () => gateway.token('pty:admin', { sub: 'bob', sessions: [newId(), 'own'] }),
};

interface Told {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** What differs from one request to the next, whatever is asked. */
const fleeting = ['date', 'x-request-id', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'keep-alive'];

function told(status: number, headers: Iterable<readonly [string, string]>, body: string, id: string): Told {
  const kept = [...headers].filter(([name]) => !fleeting.includes(name));
  return { status, headers: Object.fromEntries(kept), body: body.replaceAll(id, '<id>') };
}

type Ask = (id: string, token: string) => Promise<Told>;

function over(method: string, path: (id: string) => string, body?: (id: string) => unknown): Ask {
  return async (id, token) => {
    const headers = { 'a2a-version': '1.0' };
    const answer = await gateway.call(method, path(id), { token, headers, ...(body && { body: body(id) }) });
    return told(answer.status, answer.headers, answer.text, id);
  };
}

const attach: Ask = (id, token) =>
  new Promise((resolve, reject) => {
    const url = `${gateway.base.replace('http', 'ws')}/agents/free/sessions/${id}/attach`;
    const ws = new WebSocket(url, ['pty-ws.v1'], { headers: { authorization: `Bearer ${token}` } });
    ws.once('open', () => reject(new Error('a stranger was let in')));
    ws.once('error', reject);
    ws.once('unexpected-response', async (_, response) => {
      const body = Buffer.concat(await response.toArray()).toString();
      const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)] as const);
      resolve(told(response.statusCode ?? 0, headers, body, id));
    });
  });

const message = (taskId: string) => ({ message: { messageId: newId(), taskId, role: 'ROLE_USER', parts: [{ text: 'true' }] } });
const receiver = { id: 'c', url: 'https://receiver.example/' };

/** A body for each address that needs one. */
const bodies: Record<string, (id: string) => unknown> = {
  'POST /agents/{inst}/sessions/{id}/controller': () => ({ client_id: null }),
  'POST /agents/{inst}/sessions/{id}/shares': () => ({}),
  'POST /agents/{inst}/a2a/v1/message:send': message,
  'POST /agents/{inst}/a2a/v1/message:stream': message,
  'POST /agents/{inst}/a2a/v1/tasks/{taskId}/pushNotificationConfigs': () => receiver,
};

/** Params of each operation that is about a task. */
const params: Record<string, (id: string) => object> = {
  SendMessage: message,
  SendStreamingMessage: message,
  GetTask: (id) => ({ id }),
  CancelTask: (id) => ({ id }),
  SubscribeToTask: (id) => ({ id }),
  CreateTaskPushNotificationConfig: (taskId) => ({ taskId, ...receiver }),
  GetTaskPushNotificationConfig: (taskId) => ({ taskId, id: 'c' }),
  ListTaskPushNotificationConfigs: (taskId) => ({ taskId }),
  DeleteTaskPushNotificationConfig: (taskId) => ({ taskId, id: 'c' }),
};

/** All that openapi.json has about one session or task, so that an address that is added comes under this test. */
async function addresses(): Promise<Array<readonly [string, Ask]>> {
  const { paths } = (await gateway.call('GET', '/openapi.json')).json as { paths: Record<string, object> };
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => [method.toUpperCase(), path] as const),
  );
  return all
    .filter(([method, path]) => /\{id\}|\{taskId\}/.test(path) || `${method} ${path}` in bodies)
    .map(([method, path]) => {
      const at = (id: string) =>
        path
          .replace('{inst}', 'free')
          .replace(/\{id\}|\{taskId\}/, id)

          .replace(/\{client_id\}|\{share_id\}/, newId())
          .replace('{configId}', 'c');
      return [`${method} ${path}`, over(method, at, bodies[`${method} ${path}`])] as const;
    });
}

const calls = Object.entries(params).map(
  ([method, of]) =>
    [
      method,
      over(
        'POST',
        () => '/agents/free/a2a/jsonrpc',
        (id) => ({ jsonrpc: '2.0', id: 1, method, params: of(id) }),
      ),
    ] as const,
);

describe.each(Object.keys(strangers))('a token that is good for %s', (who) => {
  const token = () => (strangers[who] as () => string)();

  it('gets the same answer for a session that is there and for one that is not, wherever it asks', async () => {
    const rows = [...(await addresses()), ...calls, ['attach', attach] as const];
    expect(rows.length).toBeGreaterThan(20);
    for (const [name, ask] of rows) {
      const [unknown, foreign, over] = [await ask(newId(), token()), await ask(running, token()), await ask(closed, token())];
      expect([name, foreign], name).toEqual([name, unknown]);
      expect([name, over], name).toEqual([name, unknown]);
      expect(JSON.stringify(unknown), name).toMatch(/TASK_NOT_FOUND|PERMISSION_DENIED|-32001/);
    }
  });

  it('lists nothing of it', async () => {
    const lists = [`/agents/free/sessions`, '/agents/free/a2a/v1/tasks'];
    for (const path of lists) {
      const { text } = await gateway.call('GET', path, { token: token(), headers: { 'a2a-version': '1.0' } });
      expect(text).not.toContain(running);
      expect(text).not.toContain(closed);
    }
  });
});

it('the operations that are about a task are all asked', () => {
  const others = ['ListTasks', 'GetExtendedAgentCard'];
  expect(Object.keys(operations).sort()).toEqual([...Object.keys(params), ...others].sort());
});

describe('a token that is good for its own sessions', () => {
  it('creates some, lists them and no others, and may do with them what its scope says', async () => {
    const token = gateway.token('pty:control', { sub: 'carol', sessions: ['own'] });
    const made = await gateway.call('POST', '/agents/free/sessions', { token, body: {} });
    expect(made.status).toBe(201);
    const path = `/agents/free/sessions/${made.json.session_id}`;
    const listed = (await gateway.call('GET', '/agents/free/sessions', { token })).json.sessions;
    expect(listed.map((session: { session_id: string }) => session.session_id)).toEqual([made.json.session_id]);
    expect((await gateway.call('GET', `${path}/screen`, { token })).status).toBe(200);
    expect((await gateway.call('DELETE', path, { token })).status).toBe(202);
  });

  it('begins tasks by messages, and finds them again', async () => {
    const token = gateway.token('pty:control', { sub: 'dave', sessions: ['own'] });
    const headers = { 'a2a-version': '1.0' };
    const { message: begin } = message('');
    const body = { message: { ...begin, taskId: undefined }, configuration: { returnImmediately: true } };
    const { json } = await gateway.call('POST', '/agents/free/a2a/v1/message:send', { token, headers, body });
    expect((await gateway.call('GET', `/agents/free/a2a/v1/tasks/${json.task.id}`, { token, headers })).status).toBe(200);
  });
});
