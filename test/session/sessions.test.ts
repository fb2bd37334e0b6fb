import { cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readPayload } from '../../src/protocol/make-frames.js';
import { faultyDisk } from '../log/faulty-disk.js';
import { agent, type House, openHouse, Watcher } from '../support/house.js';

let house: House;
beforeEach(async () => {
  house = await openHouse({ maxSessions: 3 });
});
afterEach(() => house.close());

const refused = (code: string, status: number) => expect.objectContaining({ code, status });

describe('The sessions of a gateway', () => {
  it('are found by their own instance alone, and listed the newest first', async () => {
    const a = await house.sessions.create(agent(), {}, 'p');
    const b = await house.sessions.create(agent(), {}, 'p');
    expect(await house.sessions.find('inst', a.id)).toBe(a);
    expect(await house.sessions.find('other', a.id)).toBeUndefined();
    expect((await house.sessions.list('inst')).map((s) => s.id)).toEqual([b.id, a.id]);
    expect(await house.sessions.list('other')).toEqual([]);
  });

  it('are listed with their tasks without the log of any being opened that has ended', async () => {
    const session = await house.sessions.create(agent(), { argv: ['/bin/true'] }, 'p');
    await expect.poll(() => session.describe().state).toBe('closed');
    await expect.poll(() => house.sessions.owned()).toEqual([]);
    const opens = vi.spyOn(house.log, 'reader');
    const [listed] = await house.sessions.list('inst');
    expect([listed?.state, listed?.createdBy, listed?.contextId]).toEqual(['closed', 'p', session.describe().context_id]);
    expect(await listed?.snapshot()).toEqual(await session.task.snapshot());
    expect(opens).not.toHaveBeenCalled();
    expect((await listed?.open())?.describe()).toMatchObject({ session_id: session.id, exit_code: 0 });
  });

  it('are no more than may be, of all agents and of one', async () => {
    await house.sessions.create(agent({ policy: { max_sessions: 1 } }), {}, 'p');
    await expect(house.sessions.create(agent({ policy: { max_sessions: 1 } }), {}, 'p')).rejects.toThrow(refused('RATE_LIMITED', 503));
    await house.sessions.create(agent({ id: 'b' }), {}, 'p');
    await house.sessions.create(agent({ id: 'b' }), {}, 'p');
    await expect(house.sessions.create(agent({ id: 'b' }), {}, 'p')).rejects.toThrow(refused('RATE_LIMITED', 503));
  });

  it('refuse what cannot start, in words, and keep nothing of it', async () => {
    await expect(house.sessions.create(agent(), { argv: ['/no/such'] }, 'p')).rejects.toThrow(refused('INVALID_REQUEST', 422));
    await expect(house.sessions.create(agent({ allow_command_override: false }), { argv: ['/bin/true'] }, 'p')).rejects.toThrow(
      refused('PERMISSION_DENIED', 403),
    );
    await expect(house.sessions.create(agent({ cwd: '/usr' }), { cwd: '/etc' }, 'p')).rejects.toThrow(refused('PERMISSION_DENIED', 403));
    await expect(house.sessions.create(agent({ cwd: '/usr' }), { cwd: 'bin/../../etc' }, 'p')).rejects.toThrow(
      refused('PERMISSION_DENIED', 403),
    );
    expect(await house.sessions.list('inst')).toEqual([]);
    expect(await house.log.records()).toEqual([]);
  });

  it('serve who comes after the end from the log: observer, history, last screen, the one Closed', async () => {
    const session = await house.sessions.create(
      agent(),
      { argv: ['/bin/bash', '-c', 'read; printf "\\033[31mred\\033[0m end"'], cols: 40, rows: 5 },
      'p',
    );
    const a = await Watcher.join(session);
    await a.type('\n');
    await a.until(() => a.kinds().includes('Closed'));
    const shown = a.frames.map((f) => f.sequence);
    for (let i = 0; i < 2; i++) {
      const after = await house.sessions.find('inst', session.id);
      const late = await Watcher.join(after ?? session, 'controller', { label: 'late' });
      expect([late.joined.role, late.joined.closed?.sequence]).toEqual(['observer', a.frames.at(-1)?.sequence]);
      expect(late.joined.roleAssigned.sequence).toBeGreaterThan(Math.max(...shown));
      shown.push(late.joined.keyframe.sequence);
      expect(readPayload(await late.joined.keyframe.frame)).toMatchObject({ kind: 'Keyframe', snapshot_cols: 40, snapshot_rows: 5 });
      expect((await (after ?? session).view()).lines[1]).toBe('red end');
    }
    expect(session.describe()).toMatchObject({ state: 'closed', exit_code: 0, reason: 'command_result' });
  });
});

describe('A session whose log has failed', () => {
  it('does not run any more, whether its folder was taken away before or after its end was noted', async () => {
    const session = await house.sessions.create(agent(), {}, 'p');
    const { id } = session;
    await rm(path.join(house.dir, 'sessions', id), { recursive: true });
    await session.end('killed');
    await expect.poll(() => house.sessions.owned()).toEqual([]);
    expect((await house.sessions.find('inst', id))?.describe().state).not.toBe('running');
    expect((await house.log.records()).filter(({ record }) => record.state === 'running')).toEqual([]);
  });
});

describe('Sessions whose disk is full when the gateway ends', () => {
  it('are each told of in one line, with the cause and without a stack', async () => {
    const disk = faultyDisk();
    const errors: Array<{ readonly fields: Record<string, unknown>; readonly message: string }> = [];
    const logger = {
      info: () => {},
      warn: () => {},
      error: (fields: object, message: string) => void errors.push({ fields: { ...fields }, message }),
    };
    const own = await openHouse({ disk, logger });
    const sessions = [await own.sessions.create(agent(), {}, 'p'), await own.sessions.create(agent(), {}, 'p')];
    disk.refuse = (deed) => (deed === 'write' ? 'ENOSPC' : undefined);
    for (const session of sessions) await session.end('killed');
    await expect.poll(() => own.log.trouble()).toContain('(and 1 more like it)');
    await own.close();
    const failed = errors.filter(({ message }) => message === 'the log of a session has failed').map(({ fields }) => fields);
    const reason = 'the log was closed before it took all: the disk is full (ENOSPC)';
    expect(failed).toEqual(sessions.map(({ id }) => ({ session_id: id, instance_id: 'inst', reason })));
    const left = errors.find(({ message }) => message === 'not all sessions have ended');
    expect(left?.fields).toEqual({ sessions: sessions.map(({ id }) => id), reason: expect.stringContaining('the disk is full (ENOSPC)') });
  });
});

describe('A folder that another gateway left', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'left-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it('has its ended sessions still, with their tasks and screens, and gives their numbers to nobody again', async () => {
    const first = await openHouse({ dir });
    const session = await first.sessions.create(agent(), { argv: ['/bin/bash', '-c', 'read; echo gone'], cols: 30, rows: 4 }, 'p');
    const a = await Watcher.join(session);
    await a.type('\n');
    await a.until(() => a.kinds().includes('Closed'));
    await first.close();
    const second = await openHouse({ dir });
    const found = await second.sessions.find('inst', session.id);
    expect(found?.describe()).toMatchObject({ state: 'closed', exit_code: 0, current_sequence: session.frames.extent().current });
    expect((await found?.task.snapshot())?.status.state).toBe('TASK_STATE_COMPLETED');
    expect((await found?.view())?.lines[1]).toBe('gone');
    const late = await Watcher.join(found as NonNullable<typeof found>);
    expect(late.joined.roleAssigned.sequence).toBe(session.frames.extent().current + 1);
    await second.close();
  });

  it('closes a session that ran when its frames were spoiled, and forgets it when its retention is over', async () => {
    const first = await openHouse({ dir });
    const brief = agent({ pty: { replay_buffer_retention_seconds: 1 } });
    const { id } = await first.sessions.create(brief, { argv: ['/bin/cat'] }, 'p');
    const killed = await mkdtemp(path.join(os.tmpdir(), 'killed-'));
    await cp(path.join(dir, 'sessions'), path.join(killed, 'sessions'), { recursive: true });
    await first.close();
    const folder = path.join(killed, 'sessions', id);
    for (const name of await readdir(folder)) if (name.endsWith('.log')) await rm(path.join(folder, name));
    const second = await openHouse({ dir: killed });
    expect(await second.log.record(id)).toMatchObject({ state: 'closed', reason: 'agent_disconnect', exit_code: null });
    await expect(second.sessions.find('inst', id)).rejects.toMatchObject({ failure: 'corrupt' });
    const [listed] = await second.sessions.list('inst');
    expect(await listed?.open()).toBeUndefined();
    await second.close();
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const third = await openHouse({ dir: killed });
    expect(await third.log.records()).toEqual([]);
    await third.close();
    await rm(killed, { recursive: true });
  });

  it('tells of the task of a session that ran when its gateway died: what was said, what was answered, and that it has failed', async () => {
    const first = await openHouse({ dir });
    const session = await first.sessions.create(agent(), {}, 'p');
    await session.task.rest();
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'echo answ$()er' }] };
    await session.task.send(message, { author: 'message' });
    await session.task.rest();
    await expect
      .poll(async () => (await first.log.record(session.id))?.task)
      .toMatchObject({ status: { state: 'TASK_STATE_INPUT_REQUIRED' } });
    const killed = await mkdtemp(path.join(os.tmpdir(), 'killed-'));
    await cp(path.join(dir, 'sessions'), path.join(killed, 'sessions'), { recursive: true });
    await first.close();
    const second = await openHouse({ dir: killed });
    const found = await second.sessions.find('inst', session.id);
    expect(await found?.task.snapshot()).toMatchObject({
      status: { state: 'TASK_STATE_FAILED', message: { metadata: { reason: 'agent_disconnect' } } },
      history: [{ messageId: 'm' }],
      artifacts: [{ artifactId: 'output', parts: [{ text: 'answer\n' }] }, { artifactId: 'screen' }],
    });
    await second.close();
    await rm(killed, { recursive: true });
  });

  it('is forgotten session by session when their retention is over', async () => {
    const first = await openHouse({ dir });
    const brief = agent({ pty: { replay_buffer_retention_seconds: 1 } });
    const session = await first.sessions.create(brief, { argv: ['/bin/bash', '-c', 'read'] }, 'p');
    const a = await Watcher.join(session);
    await a.type('\n');
    await a.until(() => a.kinds().includes('Closed'));
    await first.close();
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const second = await openHouse({ dir });
    expect(await second.sessions.find('inst', session.id)).toBeUndefined();
    expect(await second.log.records()).toEqual([]);
    await second.close();
  });
});
