// Every event of the contract, brought about through a real gateway: what the audit tells of it, and what stands nowhere.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TOLD_EACH } from '../../src/audit/repeats.js';
import { Redactor } from '../../src/redaction/redactor.js';
import { message } from '../a2a/speaker.js';
import { type Gateway, startGateway } from '../routes/gateway.js';
import { LegacyClient } from '../support/legacy-client.js';
import { needs } from '../support/needs.js';
import { type RedisServer, startRedis } from '../support/redis.js';
import { type Going, leave, Person } from './stage.js';

/** What somebody types, prints, seeks, conceals and sends: none of it is for the audit, the log or the numbers. */
const planted = {
  typed: 'typed-ZQ81',
  printed: 'printed-ZQ82',
  sought: 'sought-ZQ83',
  secret: 'secret-ZQ84-long',
  message: 'message-ZQ85',
  push: 'push-ZQ86-token',
};
const bytes = (text: string) => ({ data: Buffer.from(text).toString('base64') });
const A2A = { 'a2a-version': '1.0' };
const LATER = Number.MAX_SAFE_INTEGER;

type Session = { readonly pty_ws_url: string; readonly session_id: string };
interface Row {
  readonly name: string;
  readonly act: (person: Person, session: Session, at: string) => Promise<unknown>;
  /** In order; an expression where a line tells of times or ids. */
  readonly told: ReadonlyArray<string | RegExp>;
  /** Lines of which nobody has named the trace. */
  readonly untraced?: number;
}

let gateway: Gateway;
let session: Session;
let elsewhere: Session;
const people: Person[] = [];
beforeAll(async () => {
  gateway = await startGateway({ LOG_LEVEL: 'trace', PUSH_ALLOWED_HOSTS: 'localhost' });
  const body = { argv: ['/bin/sh', '-c', `echo ${planted.printed}; exec cat`], default_role: 'observer', secrets: [planted.secret] };
  [session, elsewhere] = [await gateway.session(body), await gateway.session(body)];
});
afterAll(() => gateway.close());

const somebody = () => {
  const person = new Person(gateway);
  people.push(person);
  return person;
};

const CONNECTED = 'attach done: connected as pty-ws.v1';
const BINARY = 'attach done: connected as pty-ws.v1.binary';
const JOINED = 'attach granted controller';
const WATCHES = 'attach granted observer';
const LEFT = 'leave done controller';
const GONE = 'leave done: without having joined';

const connections: Row[] = [
  { name: 'a join', act: async (p, s) => leave(await p.join(s)), told: [CONNECTED, JOINED, LEFT] },
  { name: 'a connection that never joins', act: async (p, s) => leave(await p.attach(s)), told: [CONNECTED, GONE] },
  {
    name: 'an observer that asked for control',
    act: async (p, s) => leave(await p.join(s, 'controller', { scope: 'pty:observe' })),
    told: [CONNECTED, /^attach granted observer: not controller: \w+/, 'leave done observer'],
  },
  {
    name: 'a join that cannot be read, and one that is the second',
    act: async (p, s) => {
      const client = await p.attach(s);
      await client.answer(client.join({ role: 'king' }));
      await client.attach();
      await client.answer(client.join());
      await leave(client);
    },
    told: [
      CONNECTED,
      'attach failed: pty.join_session: INVALID_REQUEST',
      JOINED,
      'attach failed controller: pty.join_session: INVALID_REQUEST',
      LEFT,
    ],
  },
  {
    name: 'what was typed as text, in numbers',
    act: async (p, s) => {
      const client = await p.join(s);
      client.type(planted.typed);
      client.type('\n');
      await client.until('Output');
      await leave(client);
    },
    told: [CONNECTED, JOINED, /^leave done controller: typed 11 bytes in 2 frames from \d{4}-\S+Z to \d{4}-\S+Z$/],
  },
  {
    name: 'what was typed as bytes, until the role moved',
    act: async (p, s) => {
      const client = await p.join(s, 'controller', { protocols: ['pty-ws.v1.binary'] });
      client.ws.send(Buffer.from(`PW1I${planted.typed}\n`));
      client.say('pty.request_role', { role: 'observer' });
      await client.until('RoleAssigned');
      await leave(client);
    },
    told: [BINARY, JOINED, /^role granted observer: typed 11 bytes in 1 frames from /, 'leave done observer'],
  },
  {
    name: 'input and sizes of an observer, as text and as bytes, and not what its terminal answers',
    act: async (p, s) => {
      const client = await p.join(s, 'observer', { protocols: ['pty-ws.v1.binary'], scope: 'pty:observe' });
      client.type(planted.typed);
      client.ws.send(Buffer.from(`PW1I${planted.typed}`));
      client.type('\x1b[?1;2c\x1b[24;80R');
      await client.answer(client.say('pty.session_resize', { cols: 90, rows: 30 }));
      await leave(client);
    },
    told: [
      BINARY,
      WATCHES,
      'input_denied denied observer: pty.session_input: PERMISSION_DENIED',
      'input_denied denied observer: pty.session_input: PERMISSION_DENIED',
      'resize_denied denied observer: pty.session_resize: PERMISSION_DENIED',
      'leave done observer: 1 answers of its terminal dropped',
    ],
  },
  {
    name: 'input before a join, and without the extension',
    act: async (p, s) => {
      const client = await p.attach(s);
      await client.answer(client.say('pty.session_input', bytes(planted.typed)));
      await client.answer(client.say('pty.session_input', bytes(planted.typed), { extensions: [] }));
      await leave(client);
    },
    told: [
      CONNECTED,
      'input_denied failed: pty.session_input: UNSUPPORTED_OPERATION',
      'input_denied failed: pty.session_input: UNSUPPORTED_OPERATION',
      GONE,
    ],
  },
  {
    name: 'roles that are asked for, granted and denied',
    act: async (p, s) => {
      const client = await p.join(s, 'observer');
      client.say('pty.request_role', { role: 'controller' });
      await client.until('RoleAssigned');
      await leave(client);
      const watcher = await p.join(s, 'observer', { scope: 'pty:observe' });
      await watcher.answer(watcher.say('pty.request_role', { role: 'controller' }));
      await leave(watcher);
    },
    told: [
      CONNECTED,
      WATCHES,
      'role granted controller',
      LEFT,
      CONNECTED,
      WATCHES,
      'role denied observer: pty.request_role: PERMISSION_DENIED',
      'leave done observer',
    ],
  },
  {
    name: 'Keyframes that are asked for',
    act: async (p, s) => {
      const client = await p.join(s, 'observer');
      client.say('pty.request_keyframe');
      await client.until('Keyframe');
      await leave(client);
    },
    told: [CONNECTED, WATCHES, 'keyframe_request done observer: pty.request_keyframe', 'leave done observer'],
  },
  {
    name: 'replays: of a join, out of range, and of a subscription',
    act: async (p, s) => {
      await leave(await p.join(s, 'observer', {}, { replay_from: 0 }));
      await leave(await p.join(s, 'observer', {}, { replay_from: LATER }));
      const client = await p.attach(s);
      await client.answer(client.say('SubscribeToTask', { task_id: s.session_id }, { replay_from: 0 }));
      await expect.poll(() => p.told().at(-1)).toBe('replay granted: from 0');
      await client.answer(client.say('Unsubscribe', { task_id: s.session_id }));
      await client.answer(client.say('SubscribeToTask', { task_id: s.session_id }, { replay_from: LATER }));
      await leave(client);
    },
    told: [
      ...[CONNECTED, WATCHES, 'replay granted observer: from 0', 'leave done observer'],
      ...[CONNECTED, WATCHES, `replay failed observer: from ${LATER}: REPLAY_OUT_OF_RANGE`, 'leave done observer'],
      ...[CONNECTED, 'task_read done: SubscribeToTask', 'replay granted: from 0', 'task_read done: Unsubscribe'],
      ...['task_read done: SubscribeToTask', `replay failed: from ${LATER}: REPLAY_OUT_OF_RANGE`],
      ...['task_read failed: SubscribeToTask: REPLAY_OUT_OF_RANGE', GONE],
    ],
  },
  {
    name: 'tasks and messages on the WebSocket',
    act: async (p, s) => {
      const client = await p.attach(s, { scope: 'pty:observe' });
      await client.answer(client.say('GetTask', { task_id: s.session_id }));
      await client.answer(client.say('ListTasks', {}));
      await client.answer(client.say('GetTask', { task_id: 'another' }));
      await client.answer(client.say('SendMessage', { message: message(planted.message) }));
      await leave(client);
      const writer = await p.attach(s);
      const request = { message: message(planted.message), configuration: { returnImmediately: true } };
      await writer.answer(writer.say('SendMessage', request));
      await leave(writer);
    },
    told: [
      ...[CONNECTED, 'task_read done: GetTask', 'task_read done: ListTasks', 'task_read failed: GetTask: TASK_NOT_FOUND'],
      ...['message denied: SendMessage: PERMISSION_DENIED', GONE, CONNECTED, 'message done: SendMessage', GONE],
    ],
  },
  {
    name: 'a trace that the first frame names',
    act: async (p, s) => {
      const trace_id = `00-${p.trace}-1122334455667788-01`;
      const going = { headers: { traceparent: '' } };
      await leave(await p.join(s, 'observer', going, { service_parameters: { trace_id } }));
    },
    told: [CONNECTED, WATCHES, 'leave done observer'],
    untraced: 1,
  },
  {
    name: 'a legacy client that comes back',
    act: async (p, s) => {
      const client = await LegacyClient.attach(s.pty_ws_url, { token: gateway.token('pty:control', { sub: p.name }), replayFrom: 0 });
      client.say('pty.join_session', { role: 'observer' });
      await client.until('role_assigned');
      client.type(planted.typed);
      await client.until('error');
      client.cut();
    },
    told: [
      ...[CONNECTED, 'replay granted: from 0', WATCHES],
      ...['input_denied denied observer: pty.session_input: PERMISSION_DENIED', 'leave done observer'],
    ],
    untraced: 5,
  },
];

const refused = (status: number) => (promise: Promise<unknown>) => expect(promise).rejects.toMatchObject({ status });
const upgrades: Row[] = [
  {
    name: 'an upgrade without a token, with a bad one, and one for another session',
    act: async (p, s) => {
      await refused(401)(p.attach(s, { token: '' }));
      await refused(401)(p.attach(s, { token: 'token-ZQ87' }));
      await refused(403)(p.attach(s, { sessions: [elsewhere.session_id] }));
    },
    told: [
      'attach denied: this needs a token, sent as "Authorization: Bearer …"',
      'attach denied: the token is not valid',
      'attach denied: this token is not good for that',
    ],
  },
  {
    name: 'an upgrade from a foreign page, without a protocol, and to a session that is none',
    act: async (p, s) => {
      await refused(403)(p.attach(s, { headers: { origin: 'https://elsewhere.example' } }));
      await refused(400)(p.attach(s, { protocols: ['other'] }));
      const none = s.pty_ws_url.replace(s.session_id, '00000000-0000-7000-8000-000000000000');
      await refused(404)(p.attach({ pty_ws_url: none }));
    },
    told: [
      'attach denied: pages of this origin may not attach; ALLOWED_ORIGINS names those that may',
      'attach denied: Sec-WebSocket-Protocol: offer pty-ws.v1 or pty-ws.v1.binary',
      'attach denied: there is no such session',
    ],
  },
];

const NOWHERE = '/agents/free/sessions/00000000-0000-7000-8000-000000000000';
const NO_SESSION = 'there is no such session';
const OBSERVE = { scope: 'pty:observe' };
const reads: Row[] = [
  {
    name: 'screens and transcripts: read, denied, and of no session',
    act: async (p, _, at) => {
      await p.call('GET', `${at}/screen?format=text`, OBSERVE);
      await p.call('GET', `${at}/transcript?format=ndjson&q=${planted.sought}`, OBSERVE);
      await p.call('GET', `${at}/screen`, { sessions: [elsewhere.session_id] });
      await p.call('GET', `${at}/transcript?q=${planted.sought}`, { sessions: [elsewhere.session_id] });
      await p.call('GET', `${NOWHERE}/screen`, OBSERVE);
      await p.call('GET', `${NOWHERE}/transcript`, OBSERVE);
    },
    told: [
      ...['screen_read granted: text', 'transcript_read granted: ndjson'],
      ...['screen_read denied: this token is not good for that', 'transcript_read denied: this token is not good for that'],
      ...[`screen_read failed: ${NO_SESSION}`, `transcript_read failed: ${NO_SESSION}`],
    ],
  },
  {
    name: 'tasks and messages over HTTP+JSON',
    act: async (p, s) => {
      const v1 = '/agents/free/a2a/v1';
      const body = { message: message(planted.message, { taskId: s.session_id }), configuration: { returnImmediately: true } };
      await p.call('GET', `${v1}/tasks/${s.session_id}`, { headers: A2A, ...OBSERVE });
      await p.call('GET', `${v1}/tasks`, { headers: A2A, ...OBSERVE });
      await p.call('POST', `${v1}/message:send`, { headers: A2A, body });
      await p.call('POST', `${v1}/message:send`, { headers: A2A, body, ...OBSERVE });
      await p.call('POST', `${v1}/message:send`, { headers: A2A, body, scope: 'none' });
      const config = { id: 'c', url: 'https://receiver.example/hook', token: planted.push };
      await p.call('POST', `${v1}/tasks/${s.session_id}/pushNotificationConfigs`, { headers: A2A, body: config });
    },
    told: [
      ...['task_read done: GetTask', 'task_read done: ListTasks', 'message done: SendMessage'],
      ...['message denied: SendMessage: PERMISSION_DENIED', 'message denied: this needs the scope pty:observe'],
      'message done: CreateTaskPushNotificationConfig',
    ],
  },
  {
    name: 'tasks and messages over JSON-RPC',
    act: async (p, s) => {
      const ask = (method: string, params: object, going = {}) =>
        p.call('POST', '/agents/free/a2a/jsonrpc', { headers: A2A, body: { jsonrpc: '2.0', id: 1, method, params }, ...going });
      await ask('GetTask', { id: s.session_id }, OBSERVE);
      await ask('CancelTask', { id: s.session_id }, OBSERVE);
      const sent = { message: message(planted.message, { taskId: s.session_id }), configuration: { returnImmediately: true } };
      await ask('SendMessage', sent);
    },
    told: ['task_read done: GetTask', 'message denied: CancelTask: PERMISSION_DENIED', 'message done: SendMessage'],
  },
  {
    name: 'what was asked for over JSON-RPC with a token that is not good for it',
    act: async (p, s) => {
      const ask = (method: string, going: Going = {}, at = 'free') =>
        p.call('POST', `/agents/${at}/a2a/jsonrpc`, {
          headers: A2A,
          body: { jsonrpc: '2.0', id: 1, method, params: { id: s.session_id } },
          ...going,
        });
      await ask('CancelTask', { instances: ['fixed'] });
      await ask('GetTask', { instances: ['fixed'] });
      await ask('CancelTask', { token: '' });
      await ask('CancelTask', {}, 'no-such-agent');
    },
    told: [
      ...['message denied: this token is not good for that', 'task_read denied: this token is not good for that'],
      ...['task_read denied: this needs a token, sent as "Authorization: Bearer …"', 'message failed: CancelTask: there is no such agent'],
    ],
  },
  {
    name: 'an agent that is not there, over HTTP+JSON',
    act: async (p) => {
      const v1 = '/agents/no-such-agent/a2a/v1';
      await p.call('GET', `${v1}/tasks`, { headers: A2A });
      await p.call('POST', `${v1}/message:send`, { headers: A2A, body: { message: message(planted.message) } });
    },
    told: ['task_read failed: ListTasks: there is no such agent', 'message failed: SendMessage: there is no such agent'],
  },
  {
    name: 'sessions and tasks of others, asked for with a token that is good for its own, as denials',
    act: async (p, s, at) => {
      const own = { sessions: ['own'], headers: A2A };
      await refused(404)(p.attach(s, own));
      await p.call('GET', at, own);
      await p.call('GET', `${at}/screen`, own);
      await p.call('DELETE', at, own);
      await p.call('GET', `/agents/free/a2a/v1/tasks/${s.session_id}`, own);
      const body = { jsonrpc: '2.0', id: 1, method: 'CancelTask', params: { id: s.session_id } };
      await p.call('POST', '/agents/free/a2a/jsonrpc', { ...own, body });
      await p.call('GET', `${NOWHERE}/screen`, own);
    },
    told: [
      ...[`attach denied: ${NO_SESSION}`, `task_read denied: ${NO_SESSION}`, `screen_read denied: ${NO_SESSION}`],
      ...[`session_close denied: ${NO_SESSION}`, 'task_read denied: GetTask: TASK_NOT_FOUND'],
      ...['message denied: CancelTask: TASK_NOT_FOUND', `screen_read failed: ${NO_SESSION}`],
    ],
  },
  {
    name: 'what is told of sessions and agents, where it is denied',
    act: async (p, _, at) => {
      const none = { scope: 'none' };
      for (const path of [at, '/agents/free/sessions', '/agents/free/extendedAgentCard']) await p.call('GET', path, none);
    },
    told: Array.from({ length: 3 }, () => 'task_read denied: this needs the scope pty:observe'),
  },
  {
    name: 'links of sessions that are not there, or of others',
    act: async (p, _, at) => {
      for (const [where, sessions] of [
        [NOWHERE, undefined],
        [at, ['own']],
      ] as const) {
        const going = sessions ? { sessions: [...sessions] } : {};
        await p.call('POST', `${where}/shares`, { body: {}, ...going });
        await p.call('GET', `${where}/shares`, going);
        await p.call('DELETE', `${where}/shares/00000000-0000-7000-8000-000000000000`, going);
      }
    },
    told: [
      ...Array.from({ length: 3 }, () => `admin failed: ${NO_SESSION}`),
      ...Array.from({ length: 3 }, () => `admin denied: ${NO_SESSION}`),
    ],
  },
  {
    name: 'the life of a session, and the acts of an admin',
    act: async (p) => {
      const admin = { scope: 'pty:admin' };
      const { json: made } = await p.call('POST', '/agents/free/sessions', { body: { argv: ['/bin/cat'], secrets: [planted.secret] } });
      const at = `/agents/free/sessions/${made.session_id}`;
      const client = await p.join(made);
      await p.call('POST', `${at}/controller`, { body: { client_id: null }, ...admin });
      await client.until('RoleAssigned');
      await p.call('POST', `${at}/controller`, { body: { client_id: null } });
      await p.call('POST', `${NOWHERE}/controller`, { body: { client_id: null }, ...admin });
      const { client_id } = gateway.audit().findLast(({ event }) => event === 'role') as { client_id: string };
      await p.call('DELETE', `${at}/members/${client_id}`, admin);
      await client.closeCode();
      await p.call('DELETE', at, { sessions: [elsewhere.session_id] });
      await p.call('DELETE', at);
    },
    told: [
      ...['session_create done: with secrets', CONNECTED, JOINED, 'role granted observer', 'admin done: the lease is freed'],
      ...['admin denied: this needs the scope pty:admin', `admin failed: ${NO_SESSION}`],
      ...[/^admin done: \S+ is sent away$/, 'leave done observer'],
      ...['session_close denied: this token is not good for that', 'session_close done: asked for'],
    ],
  },
  {
    name: 'sessions that are not made',
    act: async (p) => {
      await p.call('POST', '/agents/free/sessions', { body: {}, ...OBSERVE });
      await p.call('POST', '/agents/free/sessions', { body: { argv: ['/none'] } });
      await p.call('POST', '/agents/fixed/sessions', { body: { argv: ['/bin/sh'] } });
    },
    told: [/^session_create denied: /, /^session_create failed: /, /^session_create denied: /],
  },
];

describe('The audit tells of', () => {
  it.each([...connections, ...upgrades, ...reads])('$name', async ({ act, told, untraced = 0 }) => {
    const person = somebody();
    await act(person, session, `/agents/free/sessions/${session.session_id}`);
    const wanted = told.map((line) => (typeof line === 'string' ? line : expect.stringMatching(line)));
    await expect.poll(() => person.told(), { timeout: 5_000 }).toEqual(wanted);
    for (const line of person.lines())
      expect(line).toMatchObject({ address: '127.0.0.1', instance_id: expect.any(String), replica_id: 'r1', ts: expect.any(String) });
    expect(person.lines().filter(({ trace_id }) => trace_id !== person.trace)).toHaveLength(untraced);
  });

  it('a redaction that fails, without what it was to conceal', async () => {
    const broken = await gateway.session({ argv: ['/bin/cat'], secrets: [planted.secret] });
    const person = somebody();
    const client = await person.join(broken);
    const failing = vi.spyOn(Redactor.prototype, 'push').mockImplementation(() => {
      throw new Error(`cannot conceal ${planted.secret}`);
    });
    client.type(`${planted.secret}\n`);
    await client.until('Closed');
    failing.mockRestore();
    const lines = () => gateway.audit().filter(({ session_id, principal }) => session_id === broken.session_id && principal === null);
    await expect
      .poll(() => lines().map(({ event, outcome }) => `${event} ${outcome}`))
      .toEqual(['redaction_failed failed', 'session_close done']);
  });

  it('no input, no output, no token, no secret and nothing that was looked for; neither do the log and the numbers', async () => {
    const metrics = await gateway.call('GET', '/metrics');
    const places = { audit: JSON.stringify(gateway.audit()), log: gateway.logged(), metrics: metrics.text };
    expect(gateway.logged()).toContain('session closed');
    const tokens = people.flatMap((person) => person.tokens);
    const forms = [...Object.values(planted), ...tokens].flatMap((text) => [text, Buffer.from(text).toString('base64').replace(/=+$/, '')]);
    for (const [place, text] of Object.entries(places)) expect([place, forms.filter((form) => text.includes(form))]).toEqual([place, []]);
  });
});

describe('The audit of who asks too often', () => {
  it('tells of upgrades and of requests that are refused, the first ones each and the others as a number', async () => {
    const busy = await startGateway({ RATE_LIMIT_MAX: '2', ATTACH_RATE_LIMIT_MAX: '1' });
    const person = new Person(busy);
    for (let i = 0; i < TOLD_EACH + 7; i++) await person.call('GET', `${NOWHERE}/screen`);
    await refused(404)(person.attach({ pty_ws_url: `ws${busy.base.slice(4)}${NOWHERE}/attach` }));
    await refused(429)(person.attach({ pty_ws_url: `ws${busy.base.slice(4)}${NOWHERE}/attach` }));
    const often = 'screen_read denied: too many requests';
    await busy.app.close();
    expect(person.told()).toEqual([
      ...[`screen_read failed: ${NO_SESSION}`, `screen_read failed: ${NO_SESSION}`, ...Array.from({ length: TOLD_EACH }, () => often)],
      ...[`attach denied: ${NO_SESSION}`, 'attach denied: too many upgrades', 'screen_read denied: 5 more within a minute'],
    ]);
    await busy.close();
  });
});

describe('The audit of keys that are missing', () => {
  it('tells of a key that a key set which answers does not have', async () => {
    const keySet = createServer((_, response) => void response.setHeader('content-type', 'application/json').end('{"keys":[]}'));
    await new Promise<void>((resolve) => keySet.listen(0, '127.0.0.1', resolve));
    const { port } = keySet.address() as AddressInfo;
    const asking = await startGateway({ AUTH_JWKS_URL: `http://127.0.0.1:${port}/keys` });
    const person = new Person(asking);
    const header = Buffer.from('{"alg":"RS256","kid":"lost"}').toString('base64url');
    const token = `${header}.${Buffer.from('{"exp":9999999999}').toString('base64url')}.AAAA`;
    expect((await person.call('GET', `${NOWHERE}/screen`, { token })).status).toBe(401);
    await refused(401)(person.attach({ pty_ws_url: `ws${asking.base.slice(4)}${NOWHERE}/attach` }, { token }));
    const why = 'the token is signed with a key that is not known here';
    const lost = 'key_error failed: no key "lost" for "RS256"';
    await expect.poll(() => person.told()).toEqual([lost, `screen_read denied: ${why}`, lost, `attach denied: ${why}`]);
    await asking.close();
    keySet.close();
  });

  it('tells of a key set that cannot be fetched, and of a key that it does not have', async () => {
    const unreachable = await startGateway({ AUTH_JWKS_URL: 'http://127.0.0.1:9/keys' });
    const header = Buffer.from('{"alg":"RS256","kid":"lost"}').toString('base64url');
    const person = new Person(unreachable);
    const token = `${header}.${Buffer.from('{"exp":9999999999}').toString('base64url')}.AAAA`;
    for (let i = 0; i < 2; i++) expect((await person.call('GET', `${NOWHERE}/screen`, { token })).status).toBe(503);
    await expect.poll(() => person.told()).toHaveLength(4);
    expect(person.told().filter((line) => line.startsWith('key_error failed: '))).toHaveLength(2);
    await unreachable.close();
  });

  it('tells of sessions whose key is not there any more', async () => {
    const key = Buffer.alloc(32, 7).toString('base64');
    const sealed = await startGateway({ REPLAY_ENCRYPTION_KEYS: `old:${key}` });
    const { session_id } = await sealed.session({ argv: ['/bin/true'] });
    await expect.poll(() => sealed.audit().some(({ event }) => event === 'session_close')).toBe(true);
    await sealed.app.close();
    const next = await startGateway({ DATA_DIR: sealed.dataDir, REPLAY_ENCRYPTION_KEYS: `new:${key}` });
    await next.call('GET', '/agents/free/sessions');
    const lines = () => sealed.audit().filter(({ event }) => event === 'key_error');
    await expect.poll(lines).toMatchObject([{ outcome: 'failed', session_id, detail: expect.stringContaining('the key "old"') }]);
    await next.close();
    await sealed.close();
  });
});

needs('redis-server')('The audit of a replica that does not run the session', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.dispose());

  it('tells of who attaches there, and of what they do', async () => {
    const [owner, other] = await Promise.all(['owner', 'other'].map((id) => startGateway({ REPLICA_ID: id, REDIS_URL: redis.url })));
    const { session_id, pty_ws_url } = await (owner as Gateway).session({ argv: ['/bin/cat'] });
    const there = { pty_ws_url: pty_ws_url.replace((owner as Gateway).base.slice(4), (other as Gateway).base.slice(4)) };
    const person = new Person(other as Gateway);
    const controller = await person.join(there);
    controller.type(`${planted.typed}\n`);
    await controller.until('Output');
    const observer = await person.join(there, 'observer', {}, { replay_from: 0 });
    await observer.answer(observer.type(planted.typed));
    await person.call('GET', `/agents/free/sessions/${session_id}/screen`);
    await leave(controller);
    await leave(observer);
    const told = [
      ...[CONNECTED, JOINED, CONNECTED, WATCHES, 'replay granted observer: from 0'],
      ...['input_denied denied observer: pty.session_input: PERMISSION_DENIED', 'screen_read granted: json'],
      ...[expect.stringMatching(/^leave done controller: typed 11 bytes in 1 frames/), 'leave done observer'],
    ];
    await expect.poll(() => person.told()).toEqual(told);
    expect(new Set(person.lines().map(({ replica_id }) => replica_id))).toEqual(new Set(['other']));
    await (other as Gateway).close();
    await (owner as Gateway).close();
  });
});
