// Clients of the reference implementation, attached unchanged: what they are told, in their own words; and whom the gateway takes for one.
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entry } from '../../src/protocol/make-frames.js';
import { EXTENSION_URI } from '../../src/protocol/names.js';
import { type AttachServer, startAttachServer } from '../support/attach-server.js';
import { LegacyClient, type LegacyFrame, outputOf } from '../support/legacy-client.js';
import type { MemorySession } from '../support/memory-session.js';

let server: AttachServer;
beforeAll(async () => {
  server = await startAttachServer();
});
afterAll(() => server.close());

const urlOf = ({ id }: MemorySession) => `ws://127.0.0.1:${server.port}/agents/inst-a/sessions/${id}/attach`;
const attach = (session: MemorySession, options: object = {}) => LegacyClient.attach(urlOf(session), { token: server.token(), ...options });
const join = (session: MemorySession, options: object = {}, payload?: object) =>
  LegacyClient.join(urlOf(session), { token: server.token(), ...options }, payload);
const opsOf = (frames: readonly LegacyFrame[]) => frames.map(({ op }) => op);

/** All that their clients rely on in every frame. */
function expectDialect(frames: readonly LegacyFrame[]): void {
  for (const frame of frames) {
    expect(frame.op).toMatch(/^[a-z_]+$/);
    expect(frame).not.toHaveProperty('id');
    expect('seq' in frame && 'sequence' in frame).toBe(false);
    if (frame.op === 'role_assigned' || frame.op === 'error') expect(frame).not.toHaveProperty('seq');
  }
}

describe('a legacy client that attaches', () => {
  it('joins without id and without naming the extension, and is shown its role, the members and the screen', async () => {
    const session = server.newSession();
    const client = await join(session, {}, { role: 'controller', client_label: 'old', cols: 80, rows: 24 });
    await client.until('keyframe');
    const [, role, members, keyframe] = client.frames;
    expect(opsOf(client.frames)).toEqual(['binding_hello', 'role_assigned', 'membership_changed', 'keyframe']);
    expect(role?.payload).toEqual({ role: 'controller', client_id: expect.any(String) });
    expect(members?.payload).toEqual({ members: [{ client_id: role?.payload.client_id, role: 'controller', label: 'old' }] });
    expect(keyframe?.payload.cursor).toBe(keyframe?.seq);
    expect(opsOf(keyframe?.payload.frames)).toEqual(['resize', 'output']);
    expectDialect(client.frames.slice(1));
    client.cut();
  });

  it('types, resizes, and sees both; what it leaves out is what the reference takes for granted', async () => {
    const session = server.newSession();
    const client = await join(session, {}, {});
    expect((await client.until('keyframe')).payload.frames.length).toBe(2);
    client.type('echo hi\r');
    expect(outputOf([await client.until('output')])).toBe('echo hi\r');
    client.say('pty.session_resize', { cols: 132, rows: 43 });
    expect((await client.until('resize')).payload).toEqual({ cols: 132, rows: 43 });
    client.say('pty.session_input', { data: 'eA==', terminal_size: { cols: 70, rows: 20 } });
    expect(outputOf([await client.read()])).toBe('x');
    expect((await client.read()).payload).toEqual({ cols: 70, rows: 20 });
    expect(session.typed).toEqual(['echo hi\r', 'x']);
    client.cut();
  });

  it('changes its role, in both ways, and asks for a keyframe', async () => {
    const session = server.newSession();
    const client = await join(session);
    await client.until('keyframe');
    client.say('pty.release_role');
    expect((await client.until('role_assigned')).payload.role).toBe('observer');
    expect((await client.until('membership_changed')).payload.members).toMatchObject([{ role: 'observer' }]);
    client.say('pty.request_role', { role: 'controller' });
    expect((await client.until('role_assigned')).payload.role).toBe('controller');
    client.say('pty.request_keyframe');
    expect((await client.until('keyframe')).payload.frames.length).toBe(2);
    client.cut();
  });

  it('observes beside others, and is told what it may not do', async () => {
    const session = server.newSession();
    const modern = await server.greet(session);
    await modern.attach();
    const client = await join(session, {}, { role: 'observer' });
    await client.until('keyframe');
    session.print('for all');
    expect(outputOf([await client.until('output')])).toBe('for all');
    client.type('no');
    expect((await client.until('error')).payload).toMatchObject({ code: 'pty.permission_denied', status: 403 });
    expect((await modern.until('Output')).payload.kind).toBe('Output');
    expect(session.typed).toEqual([]);
    client.cut();
  });

  it('with a token for watching alone becomes an observer, whatever it asks for', async () => {
    const client = await join(server.newSession(), { token: server.token('pty:observe') });
    expect(client.frames.at(-1)?.payload.role ?? client.frames.find(({ op }) => op === 'role_assigned')?.payload.role).toBe('observer');
    client.cut();
  });

  it('is told what was wrong with a frame, and lives on', async () => {
    const client = await join(server.newSession());
    await client.until('keyframe');
    for (const [text, code] of [
      ['{', 'request.invalid_params'],
      ['[]', 'request.invalid_params'],
      ['{"payload":{}}', 'request.invalid_params'],
      ['{"op":"pty.session_resize","payload":{"cols":0,"rows":1}}', 'request.invalid_params'],
      ['{"op":"pty.session_input","payload":{"data":"?"}}', 'request.invalid_params'],
      ['{"op":"message/send","payload":{}}', 'request.invalid_params'],
      ['{"op":"pty.frobnicate","payload":{}}', 'request.unsupported_operation'],
      ['{"op":"tasks/get","payload":{"task_id":"nobody"}}', 'task.not_found'],
    ]) {
      client.raw(String(text));
      expect((await client.until('error')).payload.code).toBe(code);
    }
    client.type('alive');
    expect(outputOf([await client.until('output')])).toBe('alive');
    expectDialect(client.frames.slice(1));
    client.cut();
  });

  it('is not sent the keyframes of the cadence: its terminal would lose what was scrolled up', async () => {
    const session = server.newSession();
    const client = await join(session);
    await client.until('keyframe');
    session.print('one');
    session.publish(
      entry('Keyframe', { snapshot: '', snapshot_format: 'vt100-screen-state-v1', snapshot_cols: 1, snapshot_rows: 1, anchor_sequence: 0 }),
    );
    session.print('two');
    expect([(await client.read()).op, (await client.read()).op]).toEqual(['output', 'output']);
    client.cut();
  });

  it('gets its hello in a later segment than the answer to its upgrade request', async () => {
    const writes: Buffer[] = [];
    server.app.server.once('connection', (socket: Socket) => recordWrites(socket, writes));
    const client = await attach(server.newSession());
    await client.until('binding_hello');
    expect(writes.filter((write) => write.includes('101 Switching')).length).toBe(1);
    expect(writes.filter((write) => write.includes('101 Switching') && write.includes('binding_hello'))).toEqual([]);
    client.cut();
  });
});

/** Each write to the operating system, as one. */
function recordWrites(socket: Socket, writes: Buffer[]): void {
  const { _write: write, _writev: writev } = socket;
  socket._write = (chunk, encoding, done) => {
    writes.push(Buffer.from(chunk));
    write.call(socket, chunk, encoding, done);
  };
  socket._writev = (chunks, done) => {
    writes.push(Buffer.concat(chunks.map(({ chunk }) => Buffer.from(chunk))));
    writev?.call(socket, chunks, done);
  };
}

describe('its tasks', () => {
  it('are sent, read, listed, followed and canceled under their old names', async () => {
    const session = server.newSession();
    const client = await attach(session);
    client.say('tasks/get', { task_id: session.id });
    expect((await client.until('task')).payload).toMatchObject({
      id: session.id,
      kind: 'task',
      status: { state: expect.stringMatching(/^[a-z-]+$/) },
    });
    client.say('message/send', { message: { role: 'user', parts: [{ kind: 'text', text: 'make test' }] } });
    expect((await client.until('task')).payload).toMatchObject({ id: session.id, status: { state: 'working' } });
    expect(session.typed.join('')).toContain('make test');
    client.say('tasks/list', { limit: 1000, state: 'working' });
    expect((await client.until('task_list')).payload).toMatchObject({ tasks: [{ id: session.id }], next_cursor: null });
    client.say('tasks/subscribe', { task_id: session.id });
    expect((await client.until('task')).payload.id).toBe(session.id);
    client.say('tasks/cancel', { task_id: session.id });
    await expect.poll(() => client.frames.some(({ op, payload }) => op === 'task' && payload.status.state === 'canceled')).toBe(true);
    expectDialect(client.frames.slice(1));
    client.cut();
  });
});

describe('a legacy client that comes back with ?replay_from=', () => {
  it('is shown the screen at its cursor and what came since before it joins; nothing is lost or doubled', async () => {
    const session = server.newSession();
    const first = await join(session);
    await first.until('keyframe');
    session.print('one ');
    session.print('two ');
    await first.shown('two ');
    const cursor = first.lastSeq;
    first.cut();
    await expect.poll(() => session.left.length).toBe(1);
    session.print('three ');
    const again = await attach(session, { replayFrom: cursor });
    const [hello, keyframe, left, missed] = [await again.read(), await again.read(), await again.read(), await again.read()];
    expect(hello).toMatchObject({ op: 'binding_hello', seq: 0, payload: { activated_extensions: [EXTENSION_URI] } });
    expect(hello.payload.supported_operations).toContain('message/send');
    expect(keyframe).toMatchObject({ op: 'keyframe', seq: cursor, payload: { cursor } });
    expect(outputOf(keyframe.payload.frames)).toBe('one two ');
    expect(opsOf([left, missed])).toEqual(['membership_changed', 'output']);
    session.print('four ');
    again.say('pty.join_session', { role: 'controller' });
    await again.until('membership_changed');
    session.print('five ');
    await again.shown('five ');
    expect(again.output).toBe('three four five ');
    expect(opsOf(again.frames.slice(4))).toEqual(['role_assigned', 'output', 'membership_changed', 'output']);
    const numbers = again.frames.flatMap(({ seq }) => seq ?? []);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expectDialect(again.frames);
    again.cut();
  });

  it('is told when its cursor is not kept, or was never given, and its join brings the screen of now', async () => {
    for (const [replayFrom, oldest] of [
      [1, 5],
      [1_000_000, 5],
    ] as const) {
      const session = server.newSession();
      for (const text of 'abcdef') session.print(text);
      session.frames.trim(oldest);
      const client = await join(session, { replayFrom });
      await client.until('keyframe');
      expect(opsOf(client.frames)).toEqual(['binding_hello', 'error', 'role_assigned', 'membership_changed', 'keyframe']);
      expect(client.frames[1]?.payload).toMatchObject({ code: 'replay.out_of_range', status: 416, oldest });
      client.cut();
    }
  });

  it('leaves a line in the audit for what it was shown before it joined', async () => {
    const session = server.newSession();
    const client = await attach(session, { replayFrom: session.print('one') });
    await client.until('keyframe');
    expect(server.audit.filter(({ session_id }) => session_id === session.id)).toMatchObject([
      { event: 'attach', outcome: 'done', detail: 'connected as pty-ws.v1' },
      { event: 'replay', outcome: 'granted', principal: 'alice', detail: 'from 1' },
    ]);
    client.cut();
  });

  it('gets live output as BINARY frames where it offers that, and the replay as text', async () => {
    const session = server.newSession();
    session.print('one');
    const client = await join(session, { replayFrom: 0, protocols: ['pty-ws.v1.binary'] });
    await client.until('membership_changed');
    expect(client.output).toBe('one');
    session.print('two');
    await expect.poll(() => client.binaries.map((data) => `${data.subarray(0, 4)} ${data.subarray(13)}`)).toEqual(['PW1O two']);
    client.cut();
  });

  it('may offer no subprotocol then, since nobody else gives a cursor in the URL', async () => {
    const client = await join(server.newSession(), { replayFrom: 0, protocols: [] });
    expect(client.head.toLowerCase()).not.toContain('sec-websocket-protocol');
    client.cut();
  });

  it('that asks as Cockpit does is shown all from the beginning, resizes before it is told its role, types, and gets a Keyframe', async () => {
    const session = server.newSession();
    session.print('before');
    const client = await attach(session, { replayFrom: 0, protocols: [] });
    await client.until('binding_hello');
    client.raw(JSON.stringify({ op: 'pty.join_session', payload: { role: 'controller', replay_from: 0 } }));
    client.raw(JSON.stringify({ op: 'pty.session_resize', payload: { cols: 132, rows: 43 } }));
    expect((await client.until('role_assigned')).payload.role).toBe('controller');
    expect((await client.until('resize')).payload).toEqual({ cols: 132, rows: 43 });
    expect(client.output).toBe('before');
    client.raw(JSON.stringify({ op: 'pty.session_input', payload: { data: Buffer.from('hi\r\n').toString('base64') } }));
    await client.shown('hi\r\n');
    client.raw(JSON.stringify({ op: 'pty.request_keyframe' }));
    expect(opsOf((await client.until('keyframe')).payload.frames)).toEqual(['resize', 'output']);
    client.cut();
  });

  it('is refused a cursor that is no number, and nothing is taken from a token in the URL', async () => {
    for (const replayFrom of ['x', '-1', '1.5', '99999999999999999', '1&replay_from=2']) {
      expect((await attach(server.newSession(), { replayFrom })).status).toBe(400);
    }
    expect((await attach(server.newSession(), { token: '', replayFrom: `0&token=${server.token()}` })).status).toBe(401);
  });
});

describe('when the session ends, a legacy client', () => {
  it('is told so once, and closed with 1000', async () => {
    const session = server.newSession();
    const client = await join(session);
    await client.until('keyframe');
    session.print('bye');
    session.close();
    expect([(await client.read()).op, await client.read()]).toMatchObject([
      'output',
      { op: 'closed', payload: { exit_code: 0, reason: 'command_result' } },
    ]);
    expect(await client.closed()).toBe(1000);
  });

  it('that comes later is shown what it missed, then the end, then 1000', async () => {
    const session = server.newSession();
    const cursor = session.print('before ');
    session.print('after');
    session.close();
    const client = await join(session, { replayFrom: cursor });
    await client.until('closed');
    expect(opsOf(client.frames)).toEqual(['binding_hello', 'keyframe', 'output', 'role_assigned', 'membership_changed', 'closed']);
    expect(client.output).toBe('after');
    expect(await client.closed()).toBe(1000);
  });

  it('that has seen the end and comes back is told that it is over, and closed with 1000, so that it stays away', async () => {
    const session = server.newSession();
    session.print('all');
    session.close();
    const first = await join(session);
    const { seq } = await first.until('closed');
    expect(await first.closed()).toBe(1000);
    const again = await attach(session, { replayFrom: seq });
    expect((await again.until('error')).payload).toMatchObject({ code: 'session.closed', status: 409 });
    expect(opsOf(again.frames)).toEqual(['binding_hello', 'keyframe', 'error']);
    expect(await again.closed()).toBe(1000);
  });

  it('that leaves is closed with 1000, and its role is free', async () => {
    const session = server.newSession();
    const client = await join(session);
    await client.until('keyframe');
    client.say('pty.leave_session');
    expect(await client.closed()).toBe(1000);
    expect(session.describe().controllers).toEqual([]);
  });
});

describe('nobody else is taken for a legacy client', () => {
  it('not one that forgot an id, or sends no JSON: it is answered in pty-ws/v1 and may go on', async () => {
    const client = await server.greet(server.newSession());
    for (const text of [
      '{',
      '{"op":"GetTask","payload":{}}',
      `{"op":"pty.join_session","payload":{"role":"controller"},"extensions":["${EXTENSION_URI}"]}`,
      '{"op":"pty.join_session","payload":{"role":"controller"},"replay_from":0}',
      '{"op":"Frobnicate","payload":{}}',
    ]) {
      client.ws.send(text);
      expect(await client.next()).toBe('INVALID_REQUEST');
    }
    expect((await client.attach()).map(({ sequence }) => typeof sequence)).toEqual(['number', 'number', 'number']);
  });

  it('not one that has spoken pty-ws/v1 before', async () => {
    const client = await server.greet(server.newSession());
    await client.attach();
    client.ws.send('{"op":"pty.release_role","payload":{}}');
    expect(await client.next()).toBe('INVALID_REQUEST');
    client.ws.send('{"op":"tasks/list","id":"1","payload":{}}');
    expect(await client.next()).toBe('UNSUPPORTED_OPERATION');
  });

  it('nor anyone who offers no subprotocol and gives no cursor', async () => {
    expect((await attach(server.newSession(), { protocols: [] })).status).toBe(400);
    expect((await attach(server.newSession(), { protocols: ['other'], replayFrom: 0 })).status).toBe(400);
  });

  it('where LEGACY_CLIENTS is off, nobody at all', async () => {
    const strict = await startAttachServer({ LEGACY_CLIENTS: 'off' });
    try {
      const session = strict.newSession();
      const url = `ws://127.0.0.1:${strict.port}/agents/inst-a/sessions/${session.id}/attach`;
      const client = await LegacyClient.attach(url, { token: strict.token(), replayFrom: 0 });
      expect(await client.read()).toMatchObject({ op: 'binding_hello', sequence: 0, id: expect.any(String) });
      client.say('pty.join_session', { role: 'controller' });
      expect((await client.read()).payload.code).toBe('INVALID_REQUEST');
      expect((await LegacyClient.attach(url, { token: strict.token(), replayFrom: 0, protocols: [] })).status).toBe(400);
      client.cut();
    } finally {
      await strict.close();
    }
  });
});
