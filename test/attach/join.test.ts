// Joining a session: the flush, the replay, and what comes live after it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXTENSION_URI } from '../../src/protocol/names.js';
import { type AttachServer, nameOf, startAttachServer, type Told } from '../support/attach-server.js';

let server: AttachServer;
beforeAll(async () => {
  server = await startAttachServer();
});
afterAll(() => server.close());

const textOf = (frame: Told) => Buffer.from(String(frame.payload.data), 'base64').toString();
const sequences = (frames: Told[]) => frames.map((frame) => frame.sequence);

describe('a join', () => {
  it('is answered with RoleAssigned, MembershipChanged and a Keyframe, and echoes the activation', async () => {
    const client = await server.greet(server.newSession());
    const flush = await client.attach({ client_label: 'alice' });
    expect(flush.map(nameOf)).toEqual(['RoleAssigned', 'MembershipChanged', 'Keyframe']);
    expect(flush[0]?.extensions).toEqual([EXTENSION_URI]);
    expect(flush[1]?.payload.controllers).toEqual([{ client_id: flush[0]?.payload.client_id, label: 'alice' }]);
    expect(sequences(flush)).toEqual([1, 2, 3]);
  });

  it('of one who comes with a link has the name of the link, whatever name is given, and nothing in it that is not seen', async () => {
    const session = server.newSession();
    const labelOf = async (shared_for?: string) => {
      const claims = { sub: 'share:1', shared_by: 'alice', ...(shared_for !== undefined && { shared_for }) };
      const client = await server.greet(session, { token: server.token('pty:observe', claims) });
      const [, members] = await client.attach({ role: 'observer', client_label: 'alice' });
      return (members?.payload.observers as Array<{ label: string }> | undefined)?.at(-1)?.label;
    };
    expect(await labelOf('Bob\u202e\n of  the night\u0007')).toBe('guest Bob of the night');
    expect(await labelOf('Bob\nAlice')).toBe('guest Bob Alice');
    expect(await labelOf('\u3164\u115f\u2800')).toBe('guest');
    expect(await labelOf(`${'x'.repeat(121)}🚀`)).toBe(`guest ${'x'.repeat(121)}`);
    expect(await labelOf()).toBe('guest');
  });

  it('does not echo an activation that the upgrade request made', async () => {
    const client = await server.connect(server.newSession(), { headers: { 'a2a-extensions': EXTENSION_URI } });
    expect(((await client.frame()) as Told).payload.activated_extensions).toEqual([EXTENSION_URI]);
    const flush = await client.attach({}, { extensions: undefined });
    expect(flush[0]?.extensions).toBeUndefined();
  });

  it('goes on live behind its Keyframe, and sends no frame twice', async () => {
    const session = server.newSession();
    const client = await server.greet(session);
    await client.attach();
    session.print('one');
    session.print('two');
    expect(textOf(await client.until('Output'))).toBe('one');
    expect(textOf(await client.until('Output'))).toBe('two');
    expect(client.frames.map(nameOf)).toEqual(['binding_hello', 'RoleAssigned', 'MembershipChanged', 'Keyframe', 'Output', 'Output']);
  });

  it('loses nothing that is typed right behind it, without waiting for its answer', async () => {
    const session = server.newSession();
    let open = () => {};
    session.doors = new Promise<void>((resolve) => {
      open = resolve;
    });
    const client = await server.greet(session);
    client.join();
    client.type('early');
    client.say('ping');
    open();
    await client.until('Keyframe');
    await client.until('Output');
    expect(session.typed).toEqual(['early']);
  });

  it('holds live frames back until its Keyframe is ready, for this connection alone', async () => {
    const session = server.newSession();
    const first = await server.greet(session);
    await first.attach();
    let ready = () => {};
    session.pictures = new Promise<void>((resolve) => {
      ready = resolve;
    });
    const second = await server.greet(session);
    second.join();
    await second.until('MembershipChanged');
    await first.until('MembershipChanged');
    session.print('meanwhile');
    expect(textOf(await first.until('Output'))).toBe('meanwhile');
    expect(second.frames.map(nameOf)).not.toContain('Output');
    ready();
    expect(await second.names(2)).toEqual(['Keyframe', 'Output']);
  });

  it('happens once a connection', async () => {
    const client = await server.greet(server.newSession());
    await client.attach();
    expect((await client.answer(client.join())).payload).toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('is refused where observers are full: RATE_LIMITED, retryable, goodbye, 4429', async () => {
    const session = server.newSession({ maxObservers: 0 });
    const first = await server.greet(session);
    await first.attach();
    const second = await server.greet(session);
    const id = second.join({ role: 'observer' });
    expect(await second.answer(id)).toMatchObject({ op: 'Error', payload: { code: 'RATE_LIMITED', retryable: true } });
    expect(((await second.frame()) as Told).payload.reason).toBe('rate_limited');
    expect(await second.closeCode()).toBe(4429);
  });

  it('whose connection is cut before it is taken leaves again', async () => {
    const session = server.newSession();
    let open = () => {};
    session.doors = new Promise<void>((resolve) => {
      open = resolve;
    });
    const others = server.app.connections.count;
    const client = await server.greet(session);
    client.join();
    await expect.poll(() => session.knocks).toBe(1);
    client.ws.terminate();
    await expect.poll(() => server.app.connections.count).toBe(others);
    open();
    await expect.poll(() => session.left.length).toBe(1);
    expect(session.describe().controllers).toEqual([]);
  });

  it("whose connection is cut before it is taken, and whose session then cannot be told, is nobody's failure", async () => {
    const session = server.newSession();
    let open = () => {};
    session.doors = new Promise<void>((resolve) => {
      open = resolve;
    });
    session.leave = async (clientId) => {
      session.left.push(clientId);
      throw new Error('the replica that runs this session has died');
    };
    const uncaught: unknown[] = [];
    const listener = (error: unknown) => void uncaught.push(error);
    process.on('unhandledRejection', listener);
    const others = server.app.connections.count;
    const client = await server.greet(session);
    client.join();
    await expect.poll(() => session.knocks).toBe(1);
    client.ws.terminate();
    await expect.poll(() => server.app.connections.count).toBe(others);
    open();
    await expect.poll(() => session.left.length).toBe(1);
    // What nobody caught is told of at the end of the turn.
    await new Promise(setImmediate);
    process.off('unhandledRejection', listener);
    expect(uncaught).toEqual([]);
  });
});

describe('a replay', () => {
  it('brings the frames after the cursor as they were, then the Keyframe, then live', async () => {
    const session = server.newSession();
    const first = await server.greet(session);
    await first.attach();
    const [one, two] = [session.print('one'), session.print('two')];
    await first.until('Output');
    await first.until('Output');
    const second = await server.greet(session);
    const flush = await second.attach({ role: 'observer' }, { replay_from: 0 });
    expect(flush.map(nameOf)).toEqual(['RoleAssigned', 'MembershipChanged', 'MembershipChanged', 'Output', 'Output', 'Keyframe']);
    expect(flush.slice(2, -1)).toEqual(first.frames.filter((f) => ['MembershipChanged', 'Output'].includes(nameOf(f))).slice(0, 3));
    const third = await server.greet(session);
    expect(sequences((await third.attach({ role: 'observer' }, { replay_from: one })).slice(2, 3))).toEqual([two]);
    session.print('live');
    expect(textOf(await second.until('Output'))).toBe('live');
  });

  it('has no private frame in it, and every TaskStatusUpdate', async () => {
    const session = server.newSession();
    const first = await server.greet(session);
    await first.attach();
    first.say('pty.request_keyframe');
    await first.until('Keyframe');
    first.say('SendMessage', {
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] },
      configuration: { returnImmediately: true },
    });
    await first.until('SendMessage.Response');
    const late = await server.greet(session);
    const flush = await late.attach({ role: 'observer' }, { replay_from: 0 });
    expect(flush.map(nameOf)).toEqual(['RoleAssigned', 'MembershipChanged', 'MembershipChanged', 'TaskStatusUpdate', 'Output', 'Keyframe']);
  });

  it.each([
    ['the future', 1_000_000],
    ['what is gone', 1],
  ])('from %s is told to be out of range, and then there is a Keyframe', async (_, replay_from) => {
    const session = server.newSession();
    for (let i = 0; i < 5; i += 1) session.print(`line ${i}`);
    session.frames.trim(4);
    const client = await server.greet(session);
    const id = client.join({}, { replay_from });
    expect(await client.names(4)).toEqual(['RoleAssigned', 'MembershipChanged', 'REPLAY_OUT_OF_RANGE', 'Keyframe']);
    expect(client.frames.find((f) => nameOf(f) === 'REPLAY_OUT_OF_RANGE')).toMatchObject({ id });
    session.print('live');
    expect(await client.next()).toBe('Output');
  });

  it('of more than a piece comes whole and in order', async () => {
    const session = server.newSession();
    for (let i = 0; i < 1000; i += 1) session.print(`${i} `);
    const client = await server.greet(session);
    const flush = await client.attach({}, { replay_from: 0 });
    expect(flush.slice(2, -1).map(textOf).join('')).toBe(Array.from({ length: 1000 }, (_, i) => `${i} `).join(''));
    expect(session.frames.reads).toBeGreaterThan(3);
  });

  it('that the log trims while it is read says so, and ends with the Keyframe', async () => {
    const session = server.newSession();
    const line = 'x'.repeat(200_000);
    for (let i = 0; i < 200; i += 1) session.print(line);
    const client = await server.greet(session);
    client.ws.pause();
    client.join({}, { replay_from: 0 });
    await expect.poll(() => session.frames.reads).toBeGreaterThan(0);
    await quiet(() => session.frames.reads);
    session.frames.trim(190);
    client.ws.resume();
    expect((await client.until('REPLAY_OUT_OF_RANGE')).payload.a2a_error).toEqual({ type: 'ReplayOutOfRange' });
    expect(await client.next()).toBe('Keyframe');
    expect(client.frames.filter((f) => nameOf(f) === 'Output').length).toBeLessThan(189);
  });
});

describe('an ended session', () => {
  it('is replayed without its Closed, then the Keyframe, the stored Closed and the goodbye', async () => {
    const session = server.newSession();
    session.print('the end');
    session.close();
    const client = await server.greet(session);
    const flush = await client.attach({}, { replay_from: 0 });
    expect(flush.map(nameOf)).toEqual(['RoleAssigned', 'MembershipChanged', 'Output', 'TaskStatusUpdate', 'Keyframe']);
    expect(await client.names(2)).toEqual(['Closed', 'binding_goodbye']);
    expect(await client.closeCode()).toBe(1000);
  });

  it('still answers who does not join', async () => {
    const session = server.newSession();
    session.close();
    const client = await server.greet(session);
    const answer = await client.answer(client.say('GetTask', { task_id: session.id }));
    expect(answer.payload.task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
    expect(client.closed).toBeUndefined();
  });
});

/** Resolves when a number has stopped changing. */
async function quiet(read: () => number): Promise<void> {
  let before = -1;
  await expect
    .poll(
      () => {
        const same = read() === before;
        before = read();
        return same;
      },
      { interval: 100 },
    )
    .toBe(true);
}
