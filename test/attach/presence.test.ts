// The extension by which members see who asks for control and who types, on the wire: who names it is told, and nobody else.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXTENSION_URI, PRESENCE_URI } from '../../src/protocol/names.js';
import { type AttachServer, type Client, nameOf, startAttachServer, type Told } from '../support/attach-server.js';

let server: AttachServer;
beforeAll(async () => {
  server = await startAttachServer();
});
afterAll(() => server.close());

const both = { extensions: [EXTENSION_URI, PRESENCE_URI] };
const idOf = (flush: readonly Told[]) => String(flush.find((frame) => nameOf(frame) === 'RoleAssigned')?.payload.client_id);

async function members() {
  const session = server.newSession();
  const clients = { ada: await server.greet(session), bob: await server.greet(session), plain: await server.greet(session) };
  const ada = idOf(await clients.ada.attach({}, both));
  const bob = idOf(await clients.bob.attach({}, both));
  await clients.plain.attach();
  return { session, ...clients, ids: { ada, bob } };
}
const act = async (client: Client, payload: object) => (await client.answer(client.say('presence.act', payload))) as Told;

describe('presence', () => {
  it('is echoed where it is activated, and refused where it is not', async () => {
    const session = server.newSession();
    const client = await server.greet(session);
    const [role] = await client.attach({}, both);
    expect(role?.extensions).toEqual([EXTENSION_URI, PRESENCE_URI]);
    const plain = await server.greet(session);
    await plain.attach();
    expect((await act(plain, { act: 'ask' })).payload).toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
  });

  it('tells of who asks, grants and takes back, and leaves roles and members as they are told to all', async () => {
    const { ada, bob, plain, ids } = await members();
    expect((await act(bob, { act: 'ask' })).op).toBe('presence.act.Response');
    const asked = await ada.until('presence.state');
    expect([asked.sequence, asked.payload]).toEqual([undefined, { asking: [ids.bob] }]);
    await act(ada, { act: 'grant', client_id: ids.bob });
    expect((await bob.until('RoleAssigned')).payload).toMatchObject({ role: 'controller', client_id: ids.bob });
    await act(ada, { act: 'take_back' });
    expect((await bob.until('RoleAssigned')).payload).toMatchObject({ role: 'observer', client_id: ids.bob });
    await plain.answer(plain.say('ping'));
    expect(plain.frames.map((frame) => (frame as Told).op).filter((op) => op.startsWith('presence'))).toEqual([]);
  });

  it('is for tokens that may control, says what is wrong, and is in the audit', async () => {
    const { session, bob } = await members();
    const eve = await server.greet(session, { scope: 'pty:observe' });
    await eve.attach({ role: 'observer' }, both);
    expect((await act(eve, { act: 'ask' })).payload).toMatchObject({ code: 'PERMISSION_DENIED' });
    expect((await act(bob, { act: 'beg' })).payload).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('payload.act'),
    });
    expect((await act(bob, { act: 'grant', client_id: 'x' })).payload).toMatchObject({ code: 'PERMISSION_DENIED' });
    const lines = server.audit.filter(({ session_id, detail }) => session_id === session.id && detail?.startsWith('presence.act'));
    expect(lines.map(({ event, outcome }) => [event, outcome])).toEqual([
      ['role', 'denied'],
      ['role', 'failed'],
      ['role', 'denied'],
    ]);
  });

  it('is told to one who joins behind what they are themselves', async () => {
    const { session, ada, bob, ids } = await members();
    await act(bob, { act: 'ask' });
    await ada.until('presence.state');
    const late = await server.greet(session);
    const flush = await late.attach({}, both);
    await late.answer(late.say('ping'));
    const ops = late.frames.map((frame) => nameOf(frame as Told));
    expect(flush.map(nameOf)).toContain('RoleAssigned');
    expect(ops.indexOf('presence.state')).toBeGreaterThan(ops.indexOf('RoleAssigned'));
    expect(late.frames).toContainEqual(expect.objectContaining({ op: 'presence.state', payload: { asking: [ids.bob] } }));
  });
});
