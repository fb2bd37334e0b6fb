import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readPayload } from '../../src/protocol/make-frames.js';
import type { Delivery, Session } from '../../src/session/session.js';
import { agent, Watcher } from '../support/house.js';
import { openStreet, type Street } from '../support/street.js';

let street: Street;
beforeAll(async () => {
  street = await openStreet(['owner', 'other', 'third']);
});
afterAll(() => street.close());

const start = () => street.sessions('owner').create(agent(), { cols: 80, rows: 10 }, 'someone');
const via = async (replicaId: string, { id }: Session): Promise<Session> => {
  const found = await street.sessions(replicaId).find('inst', id);
  if (!found) throw new Error(`${replicaId} does not find ${id}`);
  return found;
};
const nobody = { deliver: () => {}, dismiss: () => {} };
const refused = (code: string) => expect.objectContaining({ code });

describe('A session that runs on another replica', () => {
  it('is joined, typed into, resized and left as if it ran here', async () => {
    const session = await start();
    const there = await via('other', session);
    const a = await Watcher.join(there, 'controller', { label: 'a' });
    expect(a.joined.role).toBe('controller');
    expect(session.describe().controllers).toEqual([{ client_id: a.id, label: 'a' }]);
    expect(readPayload(await a.joined.keyframe.frame)).toMatchObject({ kind: 'Keyframe', snapshot_cols: 80 });
    expect(there.frames.extent().current).toBeGreaterThanOrEqual(a.joined.keyframe.sequence);
    await a.type('echo from-$((1+1))\n');
    await a.until(() => a.output().includes('from-2\r\n'));
    await there.resize(a.id, { cols: 90, rows: 12 });
    await a.until(() => a.kinds().includes('Resize'));
    expect((await there.view()).cols).toBe(90);
    expect((await there.snapshot()).bytes.length).toBeGreaterThan(10);
    expect(await there.leave(a.id)).toBeGreaterThan(0);
    expect(session.describe().controllers).toEqual([]);
  });

  it('is left also while its owner cannot be told: its control is free as soon as that hears of it', async () => {
    const session = await start();
    const there = await via('other', session);
    const a = await Watcher.join(there);
    const b = await Watcher.join(session, 'observer');
    street.deafen('owner', true);
    await expect(there.leave(a.id)).rejects.toThrow(refused('INTERNAL'));
    await expect(there.join({ role: 'observer', mayControl: true, principal: 'late' }, nobody)).rejects.toThrow(refused('INTERNAL'));
    expect(session.describe().controllers).toHaveLength(1);
    street.deafen('owner', false);
    await b.until(() => b.payloads('MembershipChanged').some(({ controllers }) => (controllers as []).length === 0));
    expect(session.describe()).toMatchObject({ controllers: [], observers: [{ client_id: b.id }] });
  });

  it('counts its members over all replicas, and refuses as its owner does', async () => {
    const session = await start();
    const a = await Watcher.join(await via('other', session));
    const b = await Watcher.join(await via('third', session), 'controller');
    expect([a.joined.role, b.joined.role]).toEqual(['controller', 'observer']);
    await expect((await via('third', session)).input({ clientId: b.id }, Buffer.from('x'))).rejects.toThrow(refused('PERMISSION_DENIED'));
  });

  it('delivers what is for one member alone, in order, the Keyframe when it is ready', async () => {
    const session = await start();
    const there = await via('other', session);
    const a = await Watcher.join(there);
    const b = await Watcher.join(there, 'observer');
    await there.moveControl(b.id);
    await there.requestKeyframe(b.id);
    await there.lagged(b.id);
    expect(await b.delivered(0)).toMatchObject({ kind: 'RoleAssigned', role: 'controller' });
    const kinds = [(await b.delivered(1)).kind, (await b.delivered(2)).code, (await b.delivered(3)).kind];
    expect(kinds).toEqual(['Keyframe', 'PTY_OUTPUT_LAGGED', 'Keyframe']);
    expect(await a.delivered(0)).toMatchObject({ kind: 'RoleAssigned', role: 'observer' });
    await there.dismiss(b.id);
    await b.until(() => b.dismissals.length > 0);
    expect(b.dismissals).toEqual([{ reason: 'principal_revoked', code: 4403 }]);
  });

  it('tells its members, wherever they are, of who asks for control and who types', async () => {
    const session = await start();
    const told: unknown[] = [];
    const wants = { role: 'observer', mayControl: true, principal: 'p', hearsPresence: true } as const;
    const ada = await Watcher.join(await via('other', session));
    const there = await via('third', session);
    const bob = await there.join(wants, { ...nobody, tell: (state) => void told.push(state) });
    await there.presence(bob.clientId, 'ask');
    await ada.type('x');
    await vi.waitFor(() => expect(told).toEqual([{ asking: [bob.clientId] }, { asking: [bob.clientId], typing: ada.id }]));
    await (await via('other', session)).presence(ada.id, 'grant', bob.clientId);
    expect(session.describe().controllers).toMatchObject([{ client_id: bob.clientId }]);
    await vi.waitFor(() => expect(told.at(-1)).toEqual({ asking: [], lent_by: [ada.id] }));
    await expect(there.presence(bob.clientId, 'take_back')).rejects.toThrow(refused('PERMISSION_DENIED'));
  });

  it('has its task: a message is typed at the owner, its rest is heard from the log', async () => {
    const session = await start();
    const { task } = await via('other', session);
    const message = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'echo said' }] };
    expect((await task.send(message, { author: 'message' })).status.state).toBe('TASK_STATE_WORKING');
    expect((await task.rest()).status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect((await task.snapshot()).history).toMatchObject([{ messageId: 'm-1' }]);
    expect((await task.cancel()).status.state).toBe('TASK_STATE_CANCELED');
    await expect((await via('other', session)).task.cancel()).rejects.toThrow(refused('TASK_NOT_CANCELABLE'));
  });

  it('is listed by every replica, and served by any of them when it has ended', async () => {
    const session = await start();
    const there = await via('other', session);
    const a = await Watcher.join(there);
    for (const id of ['owner', 'other', 'third']) expect((await street.sessions(id).list('inst')).map((s) => s.id)).toContain(session.id);
    await a.type('exit 4\n');
    await a.until(() => a.kinds().includes('Closed'));
    await expect(there.leave(a.id)).resolves.toBeUndefined();
    for (const id of ['owner', 'other', 'third', 'other']) {
      const late = await Watcher.join(await via(id, session));
      expect(late.joined.closed?.sequence).toBe(a.frames.at(-1)?.sequence);
    }
  });
});

describe('When a replica dies', () => {
  it('its members have left the sessions of the others, and their lease is free', async () => {
    const town = await openStreet(['owner', 'doomed']);
    const session = await town.sessions('owner').create(agent(), {}, 'someone');
    const here = await Watcher.join((await town.sessions('owner').find('inst', session.id)) as Session, 'observer');
    await session.moveControl(null);
    const there = await Watcher.join((await town.sessions('doomed').find('inst', session.id)) as Session);
    expect(session.describe().controllers.map((m) => m.client_id)).toEqual([there.id]);
    town.kill('doomed');
    await here.until(() => session.describe().controllers.length === 0);
    expect(session.describe().observers.map((m) => m.client_id)).toEqual([here.id]);
    await town.close();
  });

  it('its sessions are closed once, as agent_disconnect, and of the size that they had, though all others notice at once', async () => {
    const town = await openStreet(['doomed', 'b', 'c', 'd']);
    const session = await town.sessions('doomed').create(agent(), {}, 'someone');
    const b = await Watcher.join((await town.sessions('b').find('inst', session.id)) as Session, 'controller', {
      size: { cols: 91, rows: 17 },
    });
    town.kill('doomed');
    await b.until(() => b.kinds().includes('Closed'));
    const ended = { state: 'closed', reason: 'agent_disconnect', cols: 91, rows: 17 };
    for (const id of ['b', 'c', 'd']) expect((await town.sessions(id).find('inst', session.id))?.describe()).toMatchObject(ended);
    expect(b.kinds().filter((kind) => kind === 'Closed')).toHaveLength(1);
    await town.close();
  });
});

describe('A session whose agent says how to go on with it', () => {
  const lasting = agent({ policy: { reattach: ['/bin/bash', '-c', 'echo back; exec /bin/bash --noprofile --norc'] } });

  it.each([
    ['dies', (town: Street) => town.kill('first')],
    ['drains', (town: Street) => town.sessions('first').close()],
  ])('goes on elsewhere when its replica %s: same id, same members, numbers that go on', async (_, end) => {
    const town = await openStreet(['first', 'second', 'third'], [lasting]);
    const session = await town.sessions('first').create(lasting, { cols: 70, rows: 9 }, 'someone');
    const a = await Watcher.join((await town.sessions('second').find('inst', session.id)) as Session, 'controller', { label: 'a' });
    const b = await Watcher.join((await town.sessions('third').find('inst', session.id)) as Session, 'observer', { label: 'b' });
    await a.type('echo before\n');
    await b.until(() => b.output().includes('before\r\n'));
    const shown = Math.max(...b.frames.map((f) => f.sequence));
    await end(town);
    await a.until(() => a.deliveries.length >= 2 && a.output().includes('back\r\n'));
    expect([(await a.delivered(0)).code, (await a.delivered(1)).kind]).toEqual(['PTY_OUTPUT_LAGGED', 'Keyframe']);
    await a.type('echo after-$((2+2))\n');
    await b.until(() => b.output().includes('after-4\r\n'));
    expect(b.kinds()).not.toContain('Closed');
    expect(b.frames.map((f) => f.sequence)).toEqual([...new Set(b.frames.map((f) => f.sequence))].sort((x, y) => x - y));
    expect(b.frames.find((f) => f.sequence > shown)).toBeDefined();
    expect(b.payloads('MembershipChanged').at(-1)).toMatchObject({ controllers: [{ label: 'a' }], observers: [{ label: 'b' }] });
    const again = (await town.sessions('third').find('inst', session.id)) as Session;
    expect(again.describe()).toMatchObject({ state: 'running', cols: 70, rows: 9 });
    await town.close();
  });

  it('is found as it goes on by all who look for it in the moment in which its replica dies', async () => {
    const town = await openStreet(['first', 'second', 'third'], [lasting]);
    const { id } = await town.sessions('first').create(lasting, {}, 'someone');
    const find = () => ['second', 'third', 'second', 'third'].map((replicaId) => town.sessions(replicaId).find('inst', id));
    const before = find();
    town.kill('first');
    const found = await Promise.all([...before, ...find()]);
    const owners = new Set(found.map((session) => session?.describe().replica_id));
    expect([...owners]).toEqual([expect.stringMatching(/second|third/)]);
    await town.close();
  });

  it('refuses what is typed while it is handed over, to be typed again: nothing is lost in the terminal that ends', async () => {
    const town = await openStreet(['first', 'second'], [lasting]);
    const session = await town.sessions('first').create(lasting, {}, 'someone');
    const there = (await town.sessions('second').find('inst', session.id)) as Session;
    const a = await Watcher.join(there);
    const over = town.sessions('first').close();
    await expect(session.input({ clientId: a.id }, Buffer.from('echo lost\n'))).rejects.toMatchObject({
      code: 'INTERNAL',
      retryable: true,
    });
    await over;
    await a.until(() => a.output().includes('back\r\n'));
    await expect(session.resize(a.id, { cols: 90, rows: 20 })).rejects.toMatchObject({ code: 'INTERNAL', retryable: true });
    await a.type('echo typed-$((1+1))\n');
    await a.until(() => a.output().includes('typed-2\r\n'));
    await town.close();
  });

  it('shows its Keyframe before the end when what it goes on with ends at once', async () => {
    const brief = agent({ policy: { reattach: ['/bin/bash', '-c', 'printf over'] } });
    const town = await openStreet(['first', 'second'], [brief]);
    const session = await town.sessions('first').create(brief, {}, 'someone');
    const a = await Watcher.join((await town.sessions('second').find('inst', session.id)) as Session);
    await a.type('echo before\n');
    await a.until(() => a.output().includes('before\r\n'));
    town.kill('first');
    await a.until(() => a.kinds().includes('Closed'));
    expect([(await a.delivered(0)).code, (await a.delivered(1)).kind]).toEqual(['PTY_OUTPUT_LAGGED', 'Keyframe']);
    expect((a.deliveries[1] as Delivery).sequence).toBeLessThan(a.frames.at(-1)?.sequence ?? 0);
    expect(a.payloads('Closed')).toMatchObject([{ reason: 'command_result', exit_code: 0 }]);
    await town.close();
  });

  it('is not taken from a replica whose birth was not noticed yet', async () => {
    const town = await openStreet(['newborn', 'other'], [lasting]);
    const session = await town.sessions('newborn').create(lasting, {}, 'someone');
    town.bear('newborn');
    const there = (await town.sessions('other').find('inst', session.id)) as Session;
    expect(there.describe().replica_id).toBe('newborn');
    expect(town.sessions('newborn').owned()).toEqual([session]);
    const a = await Watcher.join(there);
    await a.type('echo still-$((1+1))\n');
    await a.until(() => a.output().includes('still-2\r\n'));
    await town.close();
  });

  it('has its messages and its answer there, and types none of them again', async () => {
    const town = await openStreet(['first', 'second'], [lasting]);
    const session = await town.sessions('first').create(lasting, {}, 'someone');
    const here = (await town.sessions('second').find('inst', session.id)) as Session;
    const watcher = await Watcher.join(here, 'observer');
    const message = { messageId: 'same', role: 'ROLE_USER', parts: [{ text: 'echo onc$()e' }] };
    await session.moveControl(null);
    await session.task.send(message, { author: 'message' });
    await watcher.until(() => watcher.output().includes('once\r\n'));
    town.kill('first');
    await watcher.until(() => watcher.output().includes('back\r\n'));
    const { task } = (await town.sessions('second').find('inst', session.id)) as Session;
    expect((await task.send(message, { author: 'message' })).history).toMatchObject([{ messageId: 'same' }]);
    await task.send({ ...message, messageId: 'other', parts: [{ text: 'echo twic$()e' }] }, { author: 'message' });
    await watcher.until(() => watcher.output().includes('twice\r\n'));
    expect(watcher.output().match(/once\r\n/g)).toHaveLength(1);
    await town.close();
  });

  it.each([
    ['dies', (town: Street) => town.kill('first')],
    ['drains', (town: Street) => town.sessions('first').close()],
  ])('answers there what it was asked before its replica %s, and says that a part is missing', async (_, end) => {
    const town = await openStreet(['first', 'second'], [lasting]);
    const session = await town.sessions('first').create(lasting, {}, 'someone');
    await session.task.rest();
    const watcher = await Watcher.join((await town.sessions('second').find('inst', session.id)) as Session, 'observer');
    await session.moveControl(null);
    await session.task.send(
      { messageId: 'asked', role: 'ROLE_USER', parts: [{ text: 'echo st$()art; sleep 100' }] },
      { author: 'message' },
    );
    await watcher.until(() => watcher.output().includes('start\r\n'));
    await end(town);
    const { task } = (await town.sessions('second').find('inst', session.id)) as Session;
    const { status, artifacts } = await task.rest();
    expect(status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(artifacts?.[0]).toMatchObject({
      artifactId: 'output',
      parts: [{ text: expect.stringMatching(/back\n/) }],
      metadata: { messageId: 'asked', incomplete: true },
    });
    await town.close();
  });

  it('is no younger there: it ends when it is as old as its agent allows, also when that is past already', async () => {
    const mortal = agent({ policy: { reattach: ['/bin/bash', '-c', 'printf back; exec cat'], max_session_seconds: 3000 } });
    const town = await openStreet(['first', 'second'], [mortal]);
    const session = await town.sessions('first').create(mortal, {}, 'someone');
    const a = await Watcher.join((await town.sessions('second').find('inst', session.id)) as Session);
    vi.setSystemTime(Date.now() + 3_600_000);
    town.kill('first');
    await a.until(() => a.kinds().includes('Closed'));
    vi.useRealTimers();
    expect(a.payloads('Closed')).toMatchObject([{ reason: 'timeout' }]);
    await town.close();
  });

  it('is closed as bridge_start_failed when there is nothing to go on with', async () => {
    const broken = agent({ policy: { reattach: ['/no/such/program'] } });
    const town = await openStreet(['first', 'second'], [broken]);
    const session = await town.sessions('first').create(broken, {}, 'someone');
    const a = await Watcher.join((await town.sessions('second').find('inst', session.id)) as Session);
    town.kill('first');
    await a.until(() => a.kinds().includes('Closed'));
    expect(a.payloads('Closed')).toMatchObject([{ reason: 'bridge_start_failed', exit_code: null }]);
    await town.close();
  });
});
