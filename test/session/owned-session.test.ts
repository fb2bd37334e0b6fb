import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Agent, SessionRequest } from '../../src/agents/agents.js';
import { noMeter } from '../../src/metrics/meter.js';
import { newId } from '../../src/protocol/ids.js';
import { readPayload } from '../../src/protocol/make-frames.js';
import { OwnedSession } from '../../src/session/owned-session.js';
import type { KeptSession } from '../../src/session/record.js';
import type { Session } from '../../src/session/session.js';
import { agent, type House, noPush, openHouse, Watcher } from '../support/house.js';
import { MemoryLog } from '../support/memory-log.js';

let house: House;
beforeAll(async () => {
  house = await openHouse();
});
afterAll(() => house.close());

const start = (settings?: Parameters<typeof agent>[0], request: SessionRequest = {}): Promise<Session> =>
  house.sessions.create(agent(settings), request, 'someone');
const refused = (code: string) => expect.objectContaining({ code });

describe('A session that runs here', () => {
  it('takes a join in one turn: RoleAssigned, MembershipChanged, Resize, Keyframe have consecutive numbers', async () => {
    const session = await start();
    const a = await Watcher.join(session, 'controller', { label: 'a', size: { cols: 90 } });
    const { roleAssigned, membership, keyframe } = a.joined;
    expect(readPayload(roleAssigned)).toEqual({ kind: 'RoleAssigned', role: 'controller', client_id: a.id });
    expect(readPayload(membership)).toEqual({ kind: 'MembershipChanged', controllers: [{ client_id: a.id, label: 'a' }], observers: [] });
    expect([membership.sequence, keyframe.sequence]).toEqual([roleAssigned.sequence + 1, roleAssigned.sequence + 3]);
    expect(a.payloads('Resize')).toEqual([{ kind: 'Resize', cols: 90, rows: 30 }]);
    expect(readPayload(await keyframe.frame)).toMatchObject({
      kind: 'Keyframe',
      snapshot_cols: 90,
      anchor_sequence: roleAssigned.sequence + 2,
    });
    const b = await Watcher.join(session, 'controller', { size: { cols: 50 } });
    expect(b.joined.role).toBe('observer');
    expect(b.kinds()).not.toContain('Resize');
  });

  it('numbers everything it gives, whoever it is for, without a gap', async () => {
    const session = await start();
    const a = await Watcher.join(session);
    const b = await Watcher.join(session, 'observer');
    await session.requestKeyframe(b.id);
    await a.type('echo one-$((1))\n');
    await session.requestRole(b.id, 'controller');
    await a.until(() => a.output().includes('one-1\r\n'));
    await b.until(() => b.deliveries.length === 2);
    const own = [a, b].flatMap((w) => [w.joined.roleAssigned.sequence, w.joined.keyframe.sequence, ...w.deliveries.map((d) => d.sequence)]);
    const all = [...own, ...a.frames.map((f) => f.sequence)].sort((x, y) => x - y);
    const from = all[0] as number;
    expect(all).toEqual(all.map((_, i) => from + i));
  });

  it('tells a member of its own frames before anyone hears of a later number', async () => {
    const session = await start();
    const a = await Watcher.join(session);
    const b = await Watcher.join(session, 'observer');
    const heard: number[] = [];
    session.frames.follow((_, extent) => heard.push(extent.current));
    await a.type('seq 1 2000\n');
    for (let i = 0; i < 20; i++) {
      await session.lagged(b.id);
      expect(b.deliveries.map((d) => d.sequence).every((n) => n <= session.frames.extent().current)).toBe(true);
    }
    await a.until(() => a.output().includes('2000\r\n'));
    await b.until(() => b.deliveries.length === 40);
    expect(await b.delivered(0)).toMatchObject({ kind: 'Error', code: 'PTY_OUTPUT_LAGGED' });
    expect(await b.delivered(1)).toMatchObject({ kind: 'Keyframe' });
  });

  it('gives control up, takes it, and moves it, with RoleAssigned for each and one MembershipChanged', async () => {
    const session = await start();
    const a = await Watcher.join(session);
    const b = await Watcher.join(session, 'observer');
    await expect(session.input({ clientId: b.id }, Buffer.from('x'))).rejects.toThrow(refused('PERMISSION_DENIED'));
    await session.moveControl(b.id);
    expect([await a.delivered(0), await b.delivered(0)]).toMatchObject([{ role: 'observer' }, { role: 'controller' }]);
    expect(session.describe().controllers.map((m) => m.client_id)).toEqual([b.id]);
    await expect(session.input({ clientId: a.id }, Buffer.from('x'))).rejects.toThrow(refused('PERMISSION_DENIED'));
    await session.moveControl(null);
    expect(session.describe().controllers).toEqual([]);
  });

  it('gives control that is let go of to who has asked for it, before anybody who comes or requests it later', async () => {
    const session = await start();
    const a = await Watcher.join(session);
    const b = await Watcher.join(session, 'observer');
    const c = await Watcher.join(session, 'observer');
    for (const { id } of [c, b]) await session.presence(id, 'ask');
    await session.leave(a.id);
    expect(await c.delivered(0)).toMatchObject({ kind: 'RoleAssigned', role: 'controller' });
    expect((await Watcher.join(session, 'controller', { size: { cols: 50 } })).joined.role).toBe('observer');
    await session.requestRole(c.id, 'observer');
    expect([await c.delivered(1), await b.delivered(0)]).toMatchObject([{ role: 'observer' }, { role: 'controller' }]);
    await session.presence(c.id, 'ask');
    await session.moveControl(null);
    expect(session.describe().controllers).toEqual([{ client_id: c.id }]);
    expect(c.payloads('Resize')).toEqual([]);
  });

  it('sends a removed member away, and tells the others', async () => {
    const session = await start();
    const a = await Watcher.join(session);
    const b = await Watcher.join(session, 'observer');
    await session.dismiss(b.id);
    expect(b.dismissals).toEqual([{ reason: 'principal_revoked', code: 4403 }]);
    await a.until(() => a.payloads('MembershipChanged').length === 3);
    expect(a.payloads('MembershipChanged').at(-1)).toMatchObject({ controllers: [{ client_id: a.id }], observers: [] });
    await expect(session.dismiss(b.id)).rejects.toThrow(refused('TASK_NOT_FOUND'));
  });

  it('refuses input without control, and takes a message only while nobody has it', async () => {
    const session = await start();
    await session.input('message', Buffer.from('echo free-$((1))\n'));
    const a = await Watcher.join(session);
    await expect(session.input('message', Buffer.from('x'))).rejects.toThrow(refused('PERMISSION_DENIED'));
    expect(a.joined.role).toBe('controller');
  });

  it('tells those who want to know whose message is typed, who has no connection', async () => {
    const session = await start();
    const told: unknown[] = [];
    const member = { deliver: () => {}, dismiss: () => {}, tell: (state: object) => void told.push(state) };
    await session.join({ role: 'observer', mayControl: false, principal: 'eve', hearsPresence: true }, member);
    await session.task.send({ messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'true' }] }, { author: 'message', principal: 'agent-7' });
    expect(told).toEqual([{ asking: [], message_from: 'agent-7' }]);
  });

  it('puts all output before the one Closed, and nothing of the terminal after it', async () => {
    const session = await start({}, { argv: ['/bin/bash', '-c', 'read; seq 1 3000; exit 5'] });
    const a = await Watcher.join(session);
    await a.type('\n');
    await a.until(() => a.kinds().includes('Closed'));
    expect(a.kinds().at(-1)).toBe('Closed');
    expect(a.output()).toContain('2999\r\n3000\r\n');
    expect(a.payloads('Closed')).toEqual([{ kind: 'Closed', exit_code: 5, reason: 'command_result', detail: 'error' }]);
    await expect(session.end('killed')).rejects.toThrow(refused('TASK_NOT_CANCELABLE'));
  });

  it.each([
    ['timeout', { idle_timeout_seconds: 1 }],
    ['timeout', { max_session_seconds: 1 }],
  ])('ends with %s under the policy %j', async (reason, policy) => {
    const session = await start({ policy });
    const a = await Watcher.join(session);
    await a.until(() => a.kinds().includes('Closed'));
    expect(a.payloads('Closed')).toMatchObject([{ reason }]);
  });

  it('does not end for idleness while something is printed', async () => {
    const session = await start(
      { policy: { idle_timeout_seconds: 1 } },
      { argv: ['/bin/bash', '-c', 'for i in 1 2 3 4 5 6; do echo $i; sleep 0.4; done; exit 3'] },
    );
    const a = await Watcher.join(session);
    await a.until(() => a.kinds().includes('Closed'));
    expect(a.payloads('Closed')).toMatchObject([{ reason: 'command_result', exit_code: 3 }]);
  });

  it('does not end when its last controller goes while somebody asks for control, who has it then', async () => {
    const session = await start({ policy: { terminate_on_last_controller: true } });
    const a = await Watcher.join(session);
    const b = await Watcher.join(session, 'observer');
    await session.presence(b.id, 'ask');
    await session.leave(a.id);
    expect(session.describe()).toMatchObject({ state: 'running', controllers: [{ client_id: b.id }] });
    await session.leave(b.id);
    await a.until(() => a.kinds().includes('Closed'));
    expect(a.payloads('Closed')).toMatchObject([{ reason: 'last_member_left' }]);
  });

  it('ends with last_member_left when its last controller goes, and not when an observer does', async () => {
    const session = await start({ policy: { terminate_on_last_controller: true } });
    const a = await Watcher.join(session);
    const b = await Watcher.join(session, 'observer');
    const c = await Watcher.join(session, 'observer');
    await session.leave(b.id);
    expect(session.describe().state).toBe('running');
    await session.leave(a.id);
    await c.until(() => c.kinds().includes('Closed'));
    expect(c.payloads('Closed')).toMatchObject([{ reason: 'last_member_left' }]);
  });

  it('gives the log a Keyframe after at most so many Outputs under a flood', async () => {
    const session = await start({ pty: { keyframe_interval_frames: 7 } }, { argv: ['/bin/bash', '-c', 'read; seq 1 200000'] });
    const a = await Watcher.join(session);
    await a.type('\n');
    await a.until(() => a.kinds().includes('Closed'));
    const runs = a
      .kinds()
      .map((k) => (k === 'Output' ? 'o' : k === 'Keyframe' ? 'K' : ''))
      .join('')
      .split('K');
    expect(Math.max(...runs.map((r) => r.length))).toBeLessThanOrEqual(7);
    expect(a.output()).toContain('200000\r\n');
  });

  it('makes Keyframes of the size that the terminal has, wherever a resize falls between them', async () => {
    const session = await start({ pty: { keyframe_interval_frames: 20 } }, { cols: 120, rows: 30 });
    const a = await Watcher.join(session);
    const isKeyframe = (kind: string) => kind === 'Keyframe';
    // On a busy machine several lines come as one Output, and Keyframes the later.
    for (let round = 0; a.kinds().filter(isKeyframe).length < 4; round++) {
      await a.type(`for i in $(seq 27); do echo ${round}-$i; sleep 0.01; done; echo end-${round}\n`);
      await a.until(() => a.output().includes(`${round}-13\r\n`));
      await session.resize(a.id, { cols: [60, 100, 61, 101][round % 4] as number, rows: 20 });
      await a.until(() => a.output().includes(`end-${round}\r\n`));
    }
    let cols = 120;
    for (const { kind, body } of a.frames) {
      if (kind === 'Resize') cols = JSON.parse(Buffer.from(body).toString()).cols;
      if (kind === 'Keyframe') expect(JSON.parse(Buffer.from(body).toString()).snapshot_cols).toBe(cols);
    }
  });

  it('lets in, as observers of what is over, those who come in the moment in which it ends', async () => {
    for (let i = 0; i < 20; i++) {
      const session = await start({}, { argv: ['/bin/bash', '-c', ''] });
      for (let n = 0; n < 6 && session.describe().state === 'running'; n++) {
        const late = await Watcher.join(session, 'observer');
        await late.until(() => late.joined.closed !== undefined || late.kinds().includes('Closed'));
      }
    }
  });

  it('refuses a lease move that would make more observers than there may be', async () => {
    const session = await start({ pty: { max_controllers: 2, max_observers: 1 } });
    const a = await Watcher.join(session);
    await Watcher.join(session);
    await expect(session.moveControl(null)).rejects.toThrow(refused('RATE_LIMITED'));
    await session.moveControl(a.id);
    expect([session.describe().controllers.length, session.describe().observers.length]).toEqual([1, 1]);
  });
});

describe('A session whose log takes nothing for longer than anyone waits', () => {
  afterEach(() => void vi.useRealTimers());

  it("tells who joins to try again, and the leave that follows from it is nobody's failure", async () => {
    const never = new Promise<never>(() => {});
    const writer = { reader: new MemoryLog(), append: () => never, amend: () => never, release: () => never };
    const shell = agent();
    const parts = {
      agent: shell,
      kept: kept(shell),
      writer,
      screens: house.screens,
      meter: noMeter,
      claim: () => never,
      redaction: undefined,
      redactionFailed: () => {},
      loud: () => {},
      push: noPush,
      ended: () => {},
    };
    const session = new OwnedSession(parts);
    const uncaught: unknown[] = [];
    const listener = (error: unknown) => void uncaught.push(error);
    process.on('unhandledRejection', listener);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const joins = session.join({ role: 'observer', mayControl: false, principal: 'someone' }, { deliver: () => {}, dismiss: () => {} });
    const told = expect(joins).rejects.toMatchObject({ code: 'INTERNAL', status: 503, retryable: true });
    await vi.advanceTimersByTimeAsync(60_000);
    await told;
    expect(session.describe().observers).toEqual([]);
    // What nobody caught is told of at the end of the turn.
    await new Promise(setImmediate);
    process.off('unhandledRejection', listener);
    expect(uncaught).toEqual([]);
  });
});

function kept({ id, pty }: Agent): KeptSession {
  const ids = { session_id: newId(), instance_id: id, context_id: newId(), replica_id: 'here', created_by: 'someone' };
  return { ...ids, state: 'running', created_at: new Date().toISOString(), cols: 80, rows: 24, epoch: 1, pty };
}
