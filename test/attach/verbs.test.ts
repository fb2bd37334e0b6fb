// What a client may ask, who may ask it, and what it is told when it may not.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXTENSION_URI } from '../../src/protocol/names.js';
import { type AttachServer, nameOf, startAttachServer, type Told } from '../support/attach-server.js';

let server: AttachServer;
beforeAll(async () => {
  server = await startAttachServer();
});
afterAll(() => server.close());

const activated = { extensions: [EXTENSION_URI] };

describe('a connection', () => {
  it('is greeted first, once, with the number 0', async () => {
    const session = server.newSession();
    session.print('before');
    const client = await server.connect(session);
    const hello = (await client.frame()) as Told;
    expect(hello).toMatchObject({
      op: 'binding_hello',
      sequence: 0,
      payload: { activated_extensions: [], session: { session_id: session.id, current_sequence: 1 } },
    });
  });

  it('is told what was wrong with a frame, and lives on', async () => {
    const client = await server.greet(server.newSession());
    for (const bad of [
      '{',
      '[]',
      'null',
      '{"op":"GetTask"}',
      '{"op":"ListTasks","id":"x","payload":{},"sequence":3}',
      `${'['.repeat(10_000)}`,
    ]) {
      client.ws.send(bad);
      expect(await client.next()).toBe('INVALID_REQUEST');
    }
    client.ws.send('{"op":"ListTasks","id":"x","payload":{},"sequence":3}');
    expect(((await client.frame()) as Told).id).toBe('x');
    const pong = await client.answer(client.say('ping', { client_ts: 'then' }));
    expect(pong).toMatchObject({ op: 'pong', payload: { client_ts: 'then' } });
  });

  it('is told of operations that are not there', async () => {
    const client = await server.greet(server.newSession());
    for (const op of [
      'Frobnicate',
      'constructor',
      'CreateTaskPushNotificationConfig',
      'SetTaskPushNotificationConfig',
      'tasks/pushNotificationConfig/set',
    ]) {
      expect((await client.answer(client.say(op))).payload.code).toBe('UNSUPPORTED_OPERATION');
    }
  });

  it('belongs to one session: another session_id in a payload is INVALID_REQUEST', async () => {
    const session = server.newSession();
    const client = await server.greet(session);
    expect((await client.answer(client.say('ListTasks', { session_id: 'another' }))).payload.code).toBe('INVALID_REQUEST');
    expect((await client.answer(client.say('ListTasks', { session_id: session.id }))).op).toBe('ListTasks.Response');
  });

  it('that speaks JSON is told that a binary frame is not for it', async () => {
    const client = await server.greet(server.newSession());
    client.ws.send(Buffer.from('PW1Ix'));
    expect(await client.next()).toBe('INVALID_REQUEST');
  });

  it('may not use pty verbs without the extension, and only the first frame activates it', async () => {
    const client = await server.greet(server.newSession());
    expect((await client.answer(client.say('pty.join_session', { role: 'controller' }))).payload.code).toBe('UNSUPPORTED_OPERATION');
    expect((await client.answer(client.join())).payload.code).toBe('UNSUPPORTED_OPERATION');
  });

  it('joins before it types', async () => {
    const session = server.newSession();
    const client = await server.greet(session);
    const id = client.say('pty.session_input', { data: 'eA==' }, activated);
    expect((await client.answer(id)).payload.code).toBe('PERMISSION_DENIED');
    expect(session.typed).toEqual([]);
  });

  it('has its requests done in the order in which they came', async () => {
    const session = server.newSession();
    const client = await server.greet(session);
    client.join();
    for (let i = 0; i < 200; i += 1) client.type(`${i} `);
    client.say('pty.session_resize', { cols: 90, rows: 30 });
    await client.until('Resize');
    expect(session.typed.join('')).toBe(Array.from({ length: 200 }, (_, i) => `${i} `).join(''));
  });
});

describe('an observer', () => {
  it('may neither type nor resize, by text or by bytes, and each attempt is in the audit', async () => {
    const session = server.newSession();
    await (await server.greet(session)).attach();
    const observer = await server.greet(session, { protocols: ['pty-ws.v1.binary'], scope: 'pty:observe' });
    await observer.attach({ role: 'controller' });
    const from = server.audit.length;
    expect((await observer.answer(observer.type('no'))).payload.code).toBe('PERMISSION_DENIED');
    observer.ws.send(Buffer.from('PW1Ino'));
    expect(await observer.next()).toBe('PERMISSION_DENIED');
    expect((await observer.answer(observer.say('pty.session_resize', { cols: 9, rows: 9 }))).payload.code).toBe('PERMISSION_DENIED');
    expect(session.typed).toEqual([]);
    expect(server.audit.slice(from).map((line) => [line.event, line.outcome, line.role])).toEqual([
      ['input_denied', 'denied', 'observer'],
      ['input_denied', 'denied', 'observer'],
      ['resize_denied', 'denied', 'observer'],
    ]);
  });

  it('that asks for control is answered with its role, and the audit knows it', async () => {
    const session = server.newSession();
    const controller = await server.greet(session);
    await controller.attach();
    controller.say('pty.request_role', { role: 'observer' });
    expect((await controller.until('RoleAssigned')).payload.role).toBe('observer');
    expect((await controller.answer(controller.type('no'))).payload.code).toBe('PERMISSION_DENIED');
    expect(server.audit.at(-2)).toMatchObject({ event: 'role', outcome: 'granted', role: 'observer' });
  });
});

describe('a binary connection', () => {
  it('gets live Output as PW1O, and a replay as JSON', async () => {
    const session = server.newSession();
    const client = await server.greet(session, { protocols: ['pty-ws.v1.binary'] });
    await client.attach();
    client.ws.send(Buffer.concat([Buffer.from('PW1I'), Buffer.from([0xff, 0, 0xfe])]));
    const frame = (await client.frame()) as Buffer;
    expect([frame.subarray(0, 4).toString(), Number(frame.readBigUInt64BE(4)), frame[12]]).toEqual(['PW1O', 4, 1]);
    expect(frame.subarray(13)).toEqual(Buffer.from([0xff, 0, 0xfe]));
    const other = await server.greet(session, { protocols: ['pty-ws.v1.binary'] });
    expect((await other.attach({}, { replay_from: 0 })).map(nameOf)).toEqual([
      'RoleAssigned',
      'MembershipChanged',
      'MembershipChanged',
      'Output',
      'Keyframe',
    ]);
  });

  it('is told of a frame that is too short, or begins otherwise', async () => {
    const client = await server.greet(server.newSession(), { protocols: ['pty-ws.v1.binary'] });
    await client.attach();
    for (const bad of ['PW', 'XXXXjunk']) {
      client.ws.send(Buffer.from(bad));
      expect(await client.next()).toBe('INVALID_REQUEST');
    }
  });
});

describe('a private frame', () => {
  it('goes to one connection, in the order of the numbers', async () => {
    const session = server.newSession();
    const [a, b] = [await server.greet(session), await server.greet(session)];
    await a.attach();
    await b.attach();
    await a.until('MembershipChanged');
    for (let i = 0; i < 20; i += 1) {
      session.print(`${i}`);
      b.say('pty.request_keyframe');
      await b.until('Keyframe');
    }
    session.print('end');
    for (let seen = 0; seen <= 20; seen += 1) expect(await a.next()).toBe('Output');
    const numbers = b.frames.map((frame) => (frame as Told).sequence ?? 0);
    expect(numbers).toEqual([...numbers].sort((x, y) => x - y));
  });
});
