// How connections end: by leaving, with the session, by being sent away, by falling silent, by asking too much.
import { connect as connectTcp, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXTENSION_URI } from '../../src/protocol/names.js';
import { type AttachServer, startAttachServer, type Told } from '../support/attach-server.js';

let server: AttachServer;
beforeAll(async () => {
  server = await startAttachServer({ HEARTBEAT_INTERVAL_SECONDS: '1', HEARTBEAT_TIMEOUT_SECONDS: '2', MAX_MESSAGE_BYTES: '65536' });
});
afterAll(() => server.close());

const goodbyeOf = (frame: Told) => [frame.payload.reason, frame.payload.detail];

describe('a connection that leaves', () => {
  it('is shown the membership without itself, then goodbye and 1000; the session is left once', async () => {
    const session = server.newSession();
    const stays = await server.greet(session);
    await stays.attach();
    const leaves = await server.greet(session);
    await leaves.attach();
    leaves.say('pty.leave_session');
    leaves.type('too late');
    expect((await leaves.until('MembershipChanged')).payload.observers).toEqual([]);
    expect(goodbyeOf((await leaves.frame()) as Told)).toEqual(['session_closed', 'left']);
    expect(await leaves.closeCode()).toBe(1000);
    await stays.until('MembershipChanged');
    expect((await stays.until('MembershipChanged')).payload.observers).toEqual([]);
    expect(session.left.length).toBe(1);
    expect(server.audit.filter((line) => line.event === 'leave' && line.session_id === session.id).length).toBe(1);
  });

  it('by being cut off frees its role, and the others learn it once', async () => {
    const session = server.newSession();
    const stays = await server.greet(session);
    await stays.attach();
    const cut = await server.greet(session);
    await cut.attach();
    await stays.until('MembershipChanged');
    cut.ws.terminate();
    expect((await stays.until('MembershipChanged')).payload.observers).toEqual([]);
    expect(session.left.length).toBe(1);
  });

  it('lets go of the tail of its session after the last', async () => {
    const session = server.newSession();
    const client = await server.greet(session);
    await client.attach();
    expect(session.frames.followers).toBe(1);
    client.ws.close();
    await expect.poll(() => session.frames.followers).toBe(0);
  });
});

describe('when the session ends', () => {
  it('all are told, joined or not, and closed with 1000; who joined gets Closed once', async () => {
    const session = server.newSession();
    const joined = await server.greet(session);
    await joined.attach();
    const watching = await server.greet(session);
    await watching.answer(watching.say('SubscribeToTask', { task_id: session.id }));
    session.print('last words');
    session.close();
    expect(await joined.names(3)).toEqual(['Output', 'Closed', 'binding_goodbye']);
    expect(await watching.names(2)).toEqual(['TaskStatusUpdate', 'binding_goodbye']);
    expect(await Promise.all([joined.closeCode(), watching.closeCode()])).toEqual([1000, 1000]);
  });

  it('who is connected and has not joined may still join, and gets the flush of a late reader with the one Closed', async () => {
    const session = server.newSession();
    const late = await server.greet(session);
    const watching = await server.greet(session);
    await watching.attach();
    session.close();
    await watching.until('Closed');
    late.say('pty.join_session', { role: 'observer' }, { extensions: [EXTENSION_URI] });
    await late.until('RoleAssigned');
    await late.until('Keyframe');
    await late.until('Closed');
    expect(goodbyeOf((await late.frame()) as Told)).toEqual(['session_closed', undefined]);
    expect(await late.closeCode()).toBe(1000);
  });

  it('a request that was under way is answered before the goodbye', async () => {
    const session = server.newSession();
    const client = await server.greet(session);
    const id = client.say('SendMessage', { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'exit' }] } });
    await expect.poll(() => session.typed.length).toBe(1);
    session.close();
    expect((await client.answer(id)).payload.task).toMatchObject({ status: { state: 'TASK_STATE_COMPLETED' } });
    expect(await client.next()).toBe('binding_goodbye');
  });
});

describe('a connection that is sent away', () => {
  it('by an administrator is told so, and closed with 4403', async () => {
    const session = server.newSession();
    const client = await server.greet(session);
    const [role] = await client.attach();
    await session.dismiss(String(role?.payload.client_id));
    expect(goodbyeOf(await client.until('binding_goodbye'))).toEqual(['principal_revoked', undefined]);
    expect(await client.closeCode()).toBe(4403);
  });

  it('for a message that is too big is closed with 1009', async () => {
    const client = await server.greet(server.newSession());
    client.ws.send('x'.repeat(65_537));
    expect(await client.closeCode()).toBe(1009);
  });

  it('for bytes that are no UTF-8, or no WebSocket frame, harms nobody', async () => {
    const bad = await server.greet(server.newSession());
    bad.ws.send(Buffer.from([0xff, 0xfe]), { binary: false });
    expect(await bad.closeCode()).toBe(1007);
    const worse = await server.greet(server.newSession());
    (worse.ws as unknown as { _socket: Socket })._socket.write(Buffer.from([0xf3, 0x80, 0, 0, 0, 0]));
    expect(await worse.closeCode()).toBe(1002);
  });
});

describe('a peer that is silent', () => {
  /** A WebSocket by hand that answers no Ping; after the upgrade it reads nothing if `isDeaf`. */
  async function silentPeer(sessionId: string, isDeaf: boolean): Promise<{ closed: Promise<void> }> {
    const socket = connectTcp(server.port, '127.0.0.1');
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => {});
    const join = Buffer.from(
      JSON.stringify({ op: 'pty.join_session', id: 'j', payload: { role: 'controller' }, extensions: [EXTENSION_URI] }),
    );
    const frame = Buffer.concat([Buffer.from([0x81, 0xfe, join.length >> 8, join.length & 255, 0, 0, 0, 0]), join]);
    const head = `GET /agents/inst-a/sessions/${sessionId}/attach HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: pty-ws.v1\r\nAuthorization: Bearer ${server.token()}\r\n\r\n`;
    // The first frame comes in one packet with the handshake, and is not lost.
    socket.write(Buffer.concat([Buffer.from(head), frame]));
    await new Promise((resolve) => socket.once('data', resolve));
    if (isDeaf) socket.pause();
    else socket.resume();
    return { closed };
  }

  it.each([
    ['answers no Ping', false],
    ['takes in nothing, its window full', true],
  ])('because it %s is reaped, and its role is free again', async (_, isDeaf) => {
    const session = server.newSession();
    const silent = await silentPeer(session.id, isDeaf);
    await expect.poll(() => session.describe().controllers.length).toBe(1);
    for (let i = 0; i < 100; i += 1) session.print('x'.repeat(60_000));
    await expect.poll(() => session.describe().controllers.length, { timeout: 10_000 }).toBe(0);
    expect(session.left.length).toBe(1);
    if (!isDeaf) await silent.closed;
  });

  it('on the surface, but answers Pings, stays', async () => {
    const session = server.newSession();
    const quiet = await server.greet(session);
    await quiet.attach();
    const silent = await silentPeer(session.id, false);
    await silent.closed;
    expect(quiet.closed).toBeUndefined();
  });
});

describe('a shutdown', () => {
  it('says goodbye to everyone, and refuses who comes later', async () => {
    const other = await startAttachServer();
    const client = await other.greet(other.newSession());
    await client.attach();
    await other.close();
    expect(goodbyeOf(await client.until('binding_goodbye'))[0]).toBe('server_shutdown');
    expect(await client.closeCode()).toBe(1000);
  });
});
