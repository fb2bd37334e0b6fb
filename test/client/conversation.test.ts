// The client in conversation with a gateway, over real sockets: what it says, what it makes of what it hears, and when it comes back.
import { afterEach, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { type ClientEvents, connect as connectInBrowser, type Fault, type State, type WebSocketClass } from '../../src/client/index.js';
import { type ClientOptions, connect, type TerminalClient } from '../../src/client/node.js';
import { decodeInput } from '../../src/protocol/binary-codec.js';
import { EXTENSION_URI, PRESENCE_URI } from '../../src/protocol/names.js';
import { type Refusal, type ScriptedGateway, scriptedGateway } from './scripted-gateway.js';

const opened: Array<{ close(): unknown }> = [];
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function gateway(refuse?: (nth: number) => Refusal | undefined): Promise<ScriptedGateway> {
  const made = await scriptedGateway(refuse);
  opened.push(made);
  return made;
}

const quick = { firstMs: 1, maxMs: 5 };

function attach(url: string, options: Partial<ClientOptions> = {}): TerminalClient {
  const client = connect({ url, token: 'the-token', reconnect: quick, ...options });
  opened.push(client);
  return client;
}

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** The next event of that name, as its arguments. */
function next<Name extends keyof ClientEvents>(
  client: TerminalClient,
  name: Name,
  wanted: (...args: Parameters<ClientEvents[Name]>) => boolean = () => true,
): Promise<Parameters<ClientEvents[Name]>> {
  return new Promise((resolve) => {
    const listener = (...args: Parameters<ClientEvents[Name]>) => {
      if (!wanted(...args)) return;
      stop();
      resolve(args);
    };
    const stop = client.on(name, listener as unknown as ClientEvents[Name]);
  });
}

const becomes = async <Name extends State['name']>(client: TerminalClient, name: Name): Promise<Extract<State, { name: Name }>> => {
  const [state] = await next(client, 'state', (each) => each.name === name);
  return state as Extract<State, { name: Name }>;
};

describe('joining', () => {
  it('carries the token in a header, and asks for role, label and size', async () => {
    const { url, connection } = await gateway();
    attach(url, { role: 'controller', label: 'alice', size: { cols: 100, rows: 40 }, serviceParameters: { trace: 't' } });
    const peer = await connection();
    expect(peer.request.headers.authorization).toBe('Bearer the-token');
    expect(peer.request.headers['sec-websocket-protocol']).toBe('pty-ws.v1.binary');
    const join = await peer.welcome(1);
    expect(join).toMatchObject({ op: 'pty.join_session', extensions: [EXTENSION_URI], service_parameters: { trace: 't' } });
    expect(join.payload).toEqual({ role: 'controller', client_label: 'alice', cols: 100, rows: 40 });
    expect(join).not.toHaveProperty('replay_from');
  });

  it('tells who asks for control and who types, to who wants to know, and asks', async () => {
    const { url, connection } = await gateway();
    const client = attach(url, { presence: true });
    const peer = await connection();
    expect((await peer.welcome(1, { role: 'observer' })).extensions).toEqual([EXTENSION_URI, PRESENCE_URI]);
    const told = next(client, 'presence');
    peer.say('presence.state', { asking: ['c-1'], typing: 'c-9' });
    expect(await told).toEqual([{ asking: ['c-1'], typing: 'c-9' }]);
    const asked = client.act('ask');
    const heard = await peer.hear();
    expect(heard).toMatchObject({ op: 'presence.act', payload: { act: 'ask' } });
    peer.answer(heard, 'presence.act.Response', {});
    await asked;
    const forgotten = next(client, 'presence');
    peer.cut();
    expect(await forgotten).toEqual([{ asking: [] }]);
  });

  it('in a browser offers the token as a subprotocol and nowhere else', async () => {
    const { url, connection } = await gateway();
    opened.push(connectInBrowser({ url, token: 'a.b-c~ü', WebSocket: WebSocket as unknown as WebSocketClass }));
    const { request } = await connection();
    const offered = `bearer.${Buffer.from('a.b-c~ü').toString('base64url')}`;
    expect(request.headers['sec-websocket-protocol']).toBe(`pty-ws.v1.binary,${offered}`);
    expect(request.headers.authorization).toBeUndefined();
    expect(request.url).not.toContain('?');
  });

  it('asks for a fresh token before each attempt', async () => {
    const { url, connection } = await gateway();
    let asked = 0;
    attach(url, { token: async () => `token-${++asked}` });
    const first = await connection();
    first.cut();
    expect((await connection()).request.headers.authorization).toBe('Bearer token-2');
  });

  it('is live when the Keyframe has come, with size, role and members known', async () => {
    const { url, connection } = await gateway();
    const client = attach(url);
    const events: unknown[] = [];
    client.on('resize', (size) => events.push(size));
    client.on('keyframe', ({ snapshot, afterReplay }) => events.push([text(snapshot), afterReplay]));
    client.on('state', ({ name }) => events.push(name));
    const live = becomes(client, 'live');
    const peer = await connection();
    await peer.welcome(5, { role: 'observer', clientId: 'me' });
    peer.keyframe(7, 'the screen', { cols: 90, rows: 20 });
    await live;
    expect(events).toEqual(['connecting', { cols: 90, rows: 20 }, ['the screen', false], 'live']);
    expect(client).toMatchObject({ role: 'observer', clientId: 'me', size: { cols: 90, rows: 20 }, position: 7 });
    expect(client.members.controllers).toEqual([{ client_id: 'me' }]);
  });

  it('ends when the join is refused for good, with the reason', async () => {
    const { url, connection } = await gateway();
    const client = attach(url, { label: 'x'.repeat(200) });
    const peer = await connection();
    peer.hello();
    peer.refuse(await peer.hear(), 'INVALID_REQUEST', 'payload.client_label: too long');
    expect(await client.ended).toMatchObject({ reason: 'refused', message: 'payload.client_label: too long' });
  });
});

describe.each(['pty-ws.v1', 'pty-ws.v1.binary'] as const)('typing and reading on %s', (subprotocol) => {
  async function live() {
    const { url, connection } = await gateway();
    const client = attach(url, { subprotocol, role: 'controller' });
    const isLive = becomes(client, 'live');
    const peer = await connection();
    await peer.welcome(1);
    peer.keyframe(3, '');
    await isLive;
    return { client, peer };
  }

  it('gives output with its number', async () => {
    const { client, peer } = await live();
    const output = next(client, 'output');
    peer.output(9, 'héllo\x00\x1b');
    const [bytes, sequence, replayed] = await output;
    expect([text(bytes), sequence, replayed]).toEqual(['héllo\x00\x1b', 9, false]);
  });

  it('types bytes as they are, long ones in pieces that add up', async () => {
    const { client, peer } = await live();
    const typed = new Uint8Array(40_000).map((_, at) => at);
    expect(client.input(typed)).toBe(true);
    const heard: number[] = [];
    while (heard.length < typed.length) {
      const message = await peer.hear();
      const piece = subprotocol === 'pty-ws.v1' ? Buffer.from(String(message.payload.data), 'base64') : decodeInput(message as never);
      heard.push(...piece);
    }
    expect(new Uint8Array(heard)).toEqual(typed);
  });

  it('discards what a Keyframe has folded in, and what comes twice', async () => {
    const { client, peer } = await live();
    const seen: string[] = [];
    client.on('output', (bytes) => seen.push(text(bytes)));
    peer.output(2, 'before the Keyframe');
    peer.output(5, 'once');
    peer.output(5, 'twice');
    const last = next(client, 'output', (bytes) => text(bytes) === 'end');
    peer.output(6, 'end');
    await last;
    expect(seen).toEqual(['once', 'end']);
  });
});

describe('requests', () => {
  async function live(role: 'controller' | 'observer' = 'controller') {
    const { url, connection } = await gateway();
    const client = attach(url, { role });
    const isLive = becomes(client, 'live');
    const peer = await connection();
    await peer.welcome(1, { role, clientId: 'me' });
    peer.keyframe(3, '');
    await isLive;
    return { client, peer, connection };
  }

  it('resolve with the answer and reject with the Fault that is named', async () => {
    const { client, peer } = await live();
    const task = { id: 'the-session', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } };
    const got = client.tasks.get();
    const asked = await peer.hear();
    expect(asked).toMatchObject({ op: 'GetTask', payload: { task_id: 'the-session' } });
    peer.answer(asked, 'GetTask.Response', { task });
    expect(await got).toEqual(task);
    const refused = client.send('ls').catch((fault: Fault) => fault);
    const message = await peer.hear();
    expect(message.payload.message).toMatchObject({ role: 'ROLE_USER', parts: [{ text: 'ls' }] });
    peer.refuse(message, 'PERMISSION_DENIED', 'another has control');
    expect(await refused).toMatchObject({ code: 'PERMISSION_DENIED', message: 'another has control', retryable: false });
  });

  it('are rejected as retryable when the connection ends before the answer', async () => {
    const { client, peer } = await live();
    const lost = client.tasks.get().catch((fault: Fault) => fault);
    await peer.hear();
    peer.cut();
    expect(await lost).toMatchObject({ code: 'INTERNAL', retryable: true });
  });

  it('are given up when their signal says so, with its reason, and a late answer harms nobody', async () => {
    const { client, peer } = await live();
    const reason = new Error('enough');
    const controller = new AbortController();
    const { signal } = controller;
    const asked = [
      client.tasks.get({ signal }),
      client.tasks.list({ signal }),
      client.tasks.cancel('t', { signal }),
      client.tasks.send('hello', { signal }),
      client.tasks.stream('hello', { signal }),
      client.tasks.subscribe({ signal }),
      client.tasks.unsubscribe('t', { signal }),
      client.requestRole('observer', { signal }),
      client.typed({ signal }),
      client.updateServiceParameters({}, { signal }),
    ];
    const outcomes = Promise.allSettled(asked);
    const first = await peer.hear();
    controller.abort(reason);
    expect(await outcomes).toEqual(asked.map(() => ({ status: 'rejected', reason })));
    peer.answer(first, 'GetTask.Response', { task: {} });
    await expect(client.leave({ signal })).rejects.toBe(reason);
    expect(client.state.name).toBe('live');
  });

  it('for a role resolve with the role that is assigned', async () => {
    const { client, peer } = await live('observer');
    const asked = client.requestRole('controller');
    expect(await peer.hear()).toMatchObject({ op: 'pty.request_role', payload: { role: 'controller' } });
    peer.frame(4, { kind: 'RoleAssigned', role: 'controller', client_id: 'me' });
    expect(await asked).toMatchObject({ role: 'controller', downgraded: false });
    expect(client.role).toBe('controller');
  });

  it('for a Keyframe make the next one count', async () => {
    const { client, peer } = await live();
    const pictures: string[] = [];
    client.on('keyframe', ({ snapshot }) => pictures.push(text(snapshot)));
    const passed = next(client, 'output');
    peer.keyframe(4, 'a periodic one');
    peer.output(5, 'x');
    await passed;
    client.requestKeyframe();
    expect(await peer.hear()).toMatchObject({ op: 'pty.request_keyframe' });
    const asked = next(client, 'keyframe');
    peer.keyframe(6, 'asked for');
    await asked;
    expect(pictures).toEqual(['asked for']);
  });

  it('send no input as an observer, and say so', async () => {
    const { client } = await live('observer');
    expect(client.input('x')).toBe(false);
  });

  it('that no promise waits for are told of as errors', async () => {
    const { client, peer } = await live();
    const error = next(client, 'error');
    client.resize({ cols: 1, rows: 1 });
    peer.refuse(await peer.hear(), 'PERMISSION_DENIED', 'observers cannot resize');
    expect((await error)[0]).toMatchObject({ code: 'PERMISSION_DENIED' });
  });

  it('survive a message that cannot be read', async () => {
    const { client, peer } = await live();
    const error = next(client, 'error');
    peer.raw('{"op":');
    expect((await error)[0].message).toMatch(/cannot be read: it is no JSON/);
    const output = next(client, 'output');
    peer.output(4, 'still here');
    await output;
  });

  it('for updates go on after a cut from the last that was seen, each once', async () => {
    const { client, peer, connection } = await live();
    const seen: number[] = [];
    client.on('task', (_update, sequence) => seen.push(sequence));
    const update = { task: { id: 'the-session', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } }, delta: {} };
    const subscribed = client.tasks.subscribe();
    peer.answer(await peer.hear(), 'SubscribeToTask.Accepted', { current_sequence: 3 });
    await subscribed;
    const first = next(client, 'task');
    peer.say('TaskStatusUpdate', update, { sequence: 4 });
    await first;
    peer.cut();
    const again = await connection();
    await again.welcome(10);
    again.say('TaskStatusUpdate', update, { sequence: 6 });
    again.keyframe(12, '');
    const resumed = await again.hear();
    expect(resumed).toMatchObject({ op: 'SubscribeToTask', payload: { task_id: 'the-session' }, replay_from: 4 });
    again.answer(resumed, 'SubscribeToTask.Accepted', { current_sequence: 12 });
    const last = next(client, 'task', (_update, sequence) => sequence === 13);
    again.say('TaskStatusUpdate', update, { sequence: 6 });
    again.say('TaskStatusUpdate', update, { sequence: 13 });
    await last;
    expect(seen).toEqual([4, 6, 13]);
  });
});

describe('after a cut', () => {
  async function cutWhileControlling() {
    const { url, connection } = await gateway();
    const client = attach(url, { role: 'controller', size: { cols: 90, rows: 30 } });
    const isLive = becomes(client, 'live');
    const peer = await connection();
    await peer.welcome(1, { clientId: 'me' });
    peer.keyframe(3, '');
    await isLive;
    const output = next(client, 'output');
    peer.output(8, 'seen');
    await output;
    peer.cut();
    return { client, peer: await connection() };
  }

  it('joins from the last number that was applied and asks for its role again', async () => {
    const { client, peer } = await cutWhileControlling();
    const seen: unknown[] = [];
    client.on('output', (bytes, sequence, replayed) => seen.push([text(bytes), sequence, replayed]));
    client.on('keyframe', ({ afterReplay }) => seen.push(afterReplay));
    const isLive = becomes(client, 'live');
    const join = await peer.welcome(20);
    expect(join).toMatchObject({ payload: { role: 'controller' }, replay_from: 8 });
    peer.replayed(9, 'missed');
    peer.keyframe(22, '');
    await isLive;
    expect(seen).toEqual([['missed', 9, true], true]);
    expect(client.position).toBe(22);
  });

  it('tells of the role it lost, and takes it back when the gateway has noticed the cut', async () => {
    const { client, peer } = await cutWhileControlling();
    const lost = next(client, 'role');
    await peer.welcome(20, { role: 'observer', clientId: 'again', controllers: ['me'], downgraded: true });
    peer.keyframe(22, '');
    expect((await lost)[0]).toMatchObject({ role: 'observer', downgraded: true, reason: 'another has control' });
    peer.members(23, []);
    expect(await peer.hear()).toMatchObject({ op: 'pty.request_role', payload: { role: 'controller' } });
  });

  it('does not claim control that another has taken', async () => {
    const { client, peer } = await cutWhileControlling();
    await peer.welcome(20, { role: 'observer', clientId: 'again', controllers: ['bob'], downgraded: true });
    peer.keyframe(22, '');
    peer.members(23, []);
    await next(client, 'members', ({ controllers }) => controllers.length === 0);
    void client.tasks.get().catch(() => {});
    expect((await peer.hear()).op).toBe('GetTask');
  });

  it('says what was lost when its place is not kept any more, and the Keyframe counts', async () => {
    const { client, peer } = await cutWhileControlling();
    const notice = next(client, 'notice');
    const picture = next(client, 'keyframe');
    const join = await peer.welcome(2000);
    peer.refuse(join, 'REPLAY_OUT_OF_RANGE', 'kept from 1000 on');
    peer.keyframe(2002, 'now');
    expect((await notice)[0]).toEqual({ kind: 'out_of_range', after: 8, message: 'kept from 1000 on' });
    expect((await picture)[0]).toMatchObject({ afterReplay: false });
  });

  it('gives the Closed of a session that ended meanwhile, once, and stays away', async () => {
    const { client, peer } = await cutWhileControlling();
    const closed = next(client, 'closed');
    await peer.welcome(20, { role: 'observer' });
    peer.keyframe(22, '');
    peer.frame(15, { kind: 'Closed', exit_code: 3, reason: 'command_result', detail: 'error' });
    peer.goodbye('session_closed');
    expect((await closed)[0]).toMatchObject({ exit_code: 3 });
    expect(await client.ended).toMatchObject({ reason: 'session_closed' });
  });

  it('shows nothing of a hole until the Keyframe that fills it', async () => {
    const { client, peer } = await cutWhileControlling();
    const isLive = becomes(client, 'live');
    await peer.welcome(20);
    peer.keyframe(22, '');
    await isLive;
    const notice = next(client, 'notice');
    const seen: string[] = [];
    client.on('output', (bytes) => seen.push(text(bytes)));
    client.on('keyframe', ({ snapshot }) => seen.push(text(snapshot)));
    peer.frame(23, { kind: 'Error', code: 'PTY_OUTPUT_LAGGED', message: 'too slow' });
    peer.output(30, 'after the hole');
    peer.keyframe(31, 'whole');
    const last = next(client, 'output', (bytes) => text(bytes) === 'on');
    peer.output(32, 'on');
    await last;
    expect((await notice)[0]).toEqual({ kind: 'lagged', after: 22, message: 'too slow' });
    expect(seen).toEqual(['whole', 'on']);
  });
});

describe('the end', () => {
  it.each([
    [4400, 'refused'],
    [4401, 'unauthenticated'],
    [4403, 'forbidden'],
    [4404, 'gone'],
  ])('comes with close code %i: %s', async (code, reason) => {
    const { url, connection } = await gateway();
    const client = attach(url);
    (await connection()).close(code);
    expect(await client.ended).toMatchObject({ reason, message: expect.stringMatching(/any more$|does not understand/) });
  });

  it.each([
    [400, 'refused'],
    [401, 'unauthenticated'],
    [403, 'forbidden'],
    [404, 'gone'],
  ])('comes with a refused upgrade, %i: %s, in the words of the gateway', async (status, reason) => {
    const { url } = await gateway(() => ({ status, body: { error: { code: 'X', message: 'what to do about it' } } }));
    expect(await attach(url).ended).toEqual({ name: 'ended', reason, message: 'what to do about it' });
    const inBrowser = connectInBrowser({ url, WebSocket: WebSocket as unknown as WebSocketClass });
    expect(await inBrowser.ended).toEqual({ name: 'ended', reason, message: 'what to do about it' });
  });

  it('comes with leaving, which the gateway confirms', async () => {
    const { url, connection } = await gateway();
    const client = attach(url);
    const isLive = becomes(client, 'live');
    const peer = await connection();
    await peer.welcome(1);
    peer.keyframe(3, '');
    await isLive;
    const left = client.leave();
    expect(await peer.hear()).toMatchObject({ op: 'pty.leave_session' });
    peer.goodbye('session_closed', 1000, 'left');
    expect(await left).toMatchObject({ reason: 'left' });
  });

  it('is an error with its reason for who waits for the client to be live', async () => {
    const { url } = await gateway((nth) => (nth > 0 ? { status: 404, body: { error: { message: 'no such session' } } } : undefined));
    await expect(attach(url).live()).rejects.toMatchObject({ name: 'ClientEnded', reason: 'gone', message: 'no such session' });
  });

  it('comes with close and with an AbortSignal, and the gateway sees an orderly close', async () => {
    const { url, connection } = await gateway();
    const abort = new AbortController();
    const client = attach(url, { signal: abort.signal });
    const peer = await connection();
    peer.hello();
    await peer.hear();
    abort.abort();
    expect(await client.ended).toMatchObject({ reason: 'stopped' });
    expect(await peer.closed).toBe(1000);
  });

  it('comes after a bounded number of attempts, naming the host that cannot be reached', async () => {
    const gone = await scriptedGateway();
    await gone.close();
    const ended = await attach(gone.url, { reconnect: { ...quick, attemptsBeforeLive: 3 } }).ended;
    expect(ended.reason).toBe('unreachable');
    expect(ended.message).toContain(new URL(gone.url).host);
  });
});

describe('waiting', () => {
  it('is short after a shutdown of the gateway, and the client comes back', async () => {
    const { url, connection } = await gateway();
    attach(url);
    (await connection()).goodbye('server_shutdown');
    await connection();
  });

  it('is long after a rate limit, and as long as Retry-After says', async () => {
    const { url, connection } = await gateway((nth) => (nth === 1 ? { status: 503, headers: { 'Retry-After': '77' } } : undefined));
    const client = attach(url);
    expect((await becomes(client, 'waiting')).retryInMs).toBeGreaterThanOrEqual(77_000);
    const waiting = becomes(client, 'waiting');
    client.retryNow();
    (await connection()).goodbye('rate_limited', 4429);
    expect((await waiting).retryInMs).toBeGreaterThanOrEqual(10_000);
  });
});

describe('what cannot be begun', () => {
  it('ends with the reason: no token, or an address that is none', async () => {
    const noToken = attach('ws://127.0.0.1:1/attach', { token: () => Promise.reject(new Error('signed out')) });
    expect(await noToken.ended).toMatchObject({ reason: 'unauthenticated', message: 'no token could be got: signed out' });
    expect(await attach('http//nothing').ended).toMatchObject({
      reason: 'refused',
      message: expect.stringMatching(/^http\/\/nothing cannot be connected to .*; expected ws/),
    });
  });
});
