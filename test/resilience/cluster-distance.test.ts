// What clients see of two replicas whose Redis is far away from both. Knows a session from outside alone.
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Gateways, type Replica, startGateways, tokenFor } from '../support/gateways.js';
import { needs } from '../support/needs.js';
import { Onlooker, upTo } from '../support/onlooker.js';
import { until } from '../support/redis.js';

// A round trip takes longer than a hundred milliseconds, and a replica needs many of them to begin.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

const LAG = { ms: 50, jitterMs: 30 };
/** As long as it is where nobody says otherwise. */
const LEASE_SECONDS = '10';
const TYPED_LINES = 100;

needs('redis-server')('two replicas far away from their Redis', () => {
  let gateways: Gateways;
  let logs: string;
  const open: Onlooker[] = [];
  const look = (id: string, replica: Replica, role: 'controller' | 'observer' = 'observer') => {
    const scope = role === 'controller' ? 'pty:control' : 'pty:observe';
    const onlooker = new Onlooker({ url: gateways.urlOf(id, replica), token: tokenFor(replica.id, scope), role });
    open.push(onlooker);
    return onlooker;
  };

  beforeEach(async () => {
    logs = await mkdtemp(join(tmpdir(), 'far-'));
    gateways = await startGateways({ lag: LAG, logs, env: { REPLICA_LEASE_SECONDS: LEASE_SECONDS } });
  });
  afterEach(async () => {
    for (const { client } of open.splice(0)) client.close();
    await gateways.dispose();
    await rm(logs, { recursive: true, force: true });
  });

  it('carry what is typed and printed, all of it in order, and neither is taken for dead', async () => {
    const [owner, other] = [gateways.at(0), gateways.at(1)];
    const id = await gateways.begin(owner, '/bin/bash', '-c', 'stty -echo; echo ready; exec cat');
    const typist = look(id, other, 'controller');
    await until('one controls', () => typist.client.role === 'controller');
    const onlooker = look(id, owner);
    typist.client.resize({ cols: 99, rows: 33 });
    for (const n of upTo(TYPED_LINES)) typist.client.input(`n${n}\n`);
    for (const each of [typist, onlooker]) await each.sees(`n${TYPED_LINES}\r\n`);
    expect(onlooker.counted()).toEqual(upTo(TYPED_LINES));
    expect(onlooker.numbers).toEqual(typist.numbers);
    for (const { text, faults, notices } of [typist, onlooker]) {
      expect({ text, faults, notices }).toEqual({ text: onlooker.text, faults: [], notices: [] });
    }
    expect((await gateways.ask(other, 'GET', `/${id}`)).body).toMatchObject({ state: 'running', cols: 99, rows: 33, replica_id: owner.id });
    for (const { id: name } of gateways.replicas) expect(await readFile(join(logs, `${name}.log`), 'utf8')).not.toContain('lease');
  });
});
