// What clients see when a replica dies, or only seems to: each fault is really made. Knows a session from outside alone.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { keysOf } from '../../src/log/redis/keys.js';
import { type Gateways, type Replica, startGateways, tokenFor } from '../support/gateways.js';
import { needs } from '../support/needs.js';
import { counting, Onlooker } from '../support/onlooker.js';
import { framesOf, plainClient } from '../support/plain-client.js';
import { until } from '../support/redis.js';

// Several processes start and die in each test, and the machine may be busy with others.
vi.setConfig({ testTimeout: 90_000 });

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

needs('redis-server', 'redis-cli')('of three replicas', () => {
  let gateways: Gateways;
  let owner: Replica;
  let near: Replica;
  let far: Replica;
  const open: Onlooker[] = [];
  const look = (id: string, replica: Replica, role: 'controller' | 'observer' = 'observer') => {
    const onlooker = new Onlooker({ url: gateways.urlOf(id, replica), token: tokenFor(replica.id, 'pty:control'), role });
    open.push(onlooker);
    return onlooker;
  };
  /** The last entry of a session's log, as Redis has it. */
  const newest = (id: string) => gateways.redis.tell('XREVRANGE', keysOf('pty', id)?.log ?? '', '+', '-', 'COUNT', '1');
  const plain = async (id: string, replica: Replica) => {
    const client = await plainClient(gateways.urlOf(id, replica), tokenFor('plain', 'pty:observe'));
    await client.attach({ role: 'observer' }, { replay_from: 0 });
    return client;
  };

  beforeEach(async () => {
    gateways = await startGateways({ count: 3 });
    [owner, near, far] = [gateways.at(0), gateways.at(1), gateways.at(2)];
  });
  afterEach(async () => {
    for (const { client } of open.splice(0)) client.close();
    await gateways.dispose();
  });

  it('one that serves the controller is killed: the control is free, and the session goes on', async () => {
    const id = await gateways.begin(owner);
    const typist = look(id, near, 'controller');
    await typist.isLive();
    const heir = look(id, far);
    await heir.isLive();
    expect([typist.client.role, heir.client.role]).toEqual(['controller', 'observer']);
    typist.client.input('echo first-$((6*7))\n');
    await heir.sees('first-42');
    await near.stop('SIGKILL');
    await until("the dead replica's client has left", () => heir.client.members.controllers.length === 0);
    expect(await heir.client.requestRole('controller')).toMatchObject({ role: 'controller', downgraded: false });
    heir.client.input('echo second-$((7*7))\n');
    await heir.sees('second-49');
    expect(heir.states).toEqual(['connecting', 'live']);
    expect(heir.faults).toEqual([]);
  });

  it('the one that runs the terminal is killed: everywhere one and the same Closed, and the history stays', async () => {
    const id = await gateways.begin(owner, ...counting(5, 0));
    const clients = [await plain(id, near), await plain(id, far)];
    const onlooker = look(id, near);
    await onlooker.sees('n5\r\n');
    await owner.stop('SIGKILL');
    await until('the session is closed for all', () => onlooker.closed.length > 0 && clients.every((client) => client.closed));
    expect(onlooker.closed).toMatchObject([{ kind: 'Closed', reason: 'agent_disconnect', exit_code: null }]);
    expect(onlooker.client.state).toMatchObject({ name: 'ended', reason: 'session_closed' });
    const [closed, ...more] = clients.flatMap((client) => framesOf(client, 'Closed'));
    expect(more).toEqual([closed]);
    expect(clients.map((client) => client.closed?.code)).toEqual([1000, 1000]);
    for (const replica of [near, far]) {
      const late = await plain(id, replica);
      await until('the late reader has its Closed', () => late.closed !== undefined);
      expect(framesOf(late, 'Closed').map(({ sequence }) => sequence)).toEqual([closed?.sequence]);
      expect(framesOf(late, 'Output').map(({ sequence }) => sequence)).toEqual(onlooker.numbers);
    }
  });

  it('the one that runs the terminal sleeps for longer than its lease: it wakes up fenced, its program dies, and it writes nothing', async () => {
    const id = await gateways.begin(owner, '/bin/bash', '-c', 'echo $$ > pid; for ((i = 1; ; i++)); do echo n$i; sleep 0.01; done');
    const [at, elsewhere] = [look(id, owner), look(id, far)];
    await Promise.all([at.sees('n20\r\n'), elsewhere.sees('n20\r\n')]);
    const program = Number(readFileSync(join(gateways.folder, 'pid'), 'utf8'));
    owner.signal('SIGSTOP');
    await until('the session is closed elsewhere', () => elsewhere.closed.length > 0);
    const written = await newest(id);
    expect(isAlive(program)).toBe(true);
    owner.signal('SIGCONT');
    await until('its program is dead', () => !isAlive(program));
    await until('it takes work', () => owner.isReady());
    await until('its own client knows', () => at.closed.length > 0);
    expect(await newest(id)).toBe(written);
    for (const { closed, numbers, text } of [at, elsewhere]) {
      expect(closed.map(({ reason }) => reason)).toEqual(['agent_disconnect']);
      expect(text).toBe(elsewhere.text);
      expect(numbers).toEqual(elsewhere.numbers);
    }
    expect(new Set(elsewhere.numbers).size).toBe(elsewhere.numbers.length);
    const next = look(await gateways.begin(owner, ...counting(1, 0)), near);
    await next.sees('n1\r\n');
  });
});
