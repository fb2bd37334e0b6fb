// What Redis has on its disk of what replicas keep in it and tell each other, with and without keys. Knows a session from outside alone.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { type Gateways, startGateways, tokenFor } from '../support/gateways.js';
import { needs } from '../support/needs.js';
import { Onlooker } from '../support/onlooker.js';
import { until } from '../support/redis.js';

// Several processes start and die in each test, and the machine may be busy with others.
vi.setConfig({ testTimeout: 60_000 });

const key = (kid: string, byte: number) => `${kid}:${Buffer.alloc(32, byte).toString('base64')}`;
const script = 'stty -echo; echo printed-in-clear; read typed; printf %s "$typed" | tr a-z A-Z; read';

needs('redis-server', 'redis-cli')('what two replicas keep in Redis', () => {
  let gateways: Gateways;
  const open: Onlooker[] = [];
  const look = (id: string, replica: number, role: 'controller' | 'observer') => {
    const scope = role === 'controller' ? 'pty:control' : 'pty:observe';
    const onlooker = new Onlooker({ url: gateways.urlOf(id, gateways.at(replica)), token: tokenFor('somebody', scope), role });
    open.push(onlooker);
    return onlooker;
  };
  afterEach(async () => {
    for (const { client } of open.splice(0)) client.close();
    await gateways.dispose();
  });

  /** A session at one replica, driven from the other; resolves when both have seen the answer. */
  async function talk(): Promise<string> {
    const { session_id: id } = (
      await gateways.ask(gateways.at(0), 'POST', '', { argv: ['/bin/bash', '-c', script], label: 'labelled-in-clear' })
    ).body as { session_id: string };
    const [one, two] = [look(id, 0, 'observer'), look(id, 1, 'controller')];
    await until('one controls', () => two.client.role === 'controller');
    await two.sees('printed-in-clear');
    two.client.input('typed-in-clear\n');
    for (const each of [one, two]) await each.sees('TYPED-IN-CLEAR');
    return id;
  }

  /** All that Redis ever wrote: every command that changed something. */
  async function written(): Promise<Buffer> {
    const entries = await readdir(gateways.redis.dir, { recursive: true, withFileTypes: true });
    const files = entries.filter((one) => one.isFile()).map((one) => readFile(join(one.parentPath, one.name)));
    return Buffer.concat(await Promise.all(files));
  }
  const clear = async () => {
    const all = await written();
    return ['printed-in-clear', 'typed-in-clear', 'TYPED-IN-CLEAR', 'labelled-in-clear'].filter((words) => all.includes(words));
  };

  it('can be read by whoever has its disk, as long as there is no key', async () => {
    gateways = await startGateways();
    await talk();
    expect(await clear()).toEqual(['printed-in-clear', 'typed-in-clear', 'TYPED-IN-CLEAR', 'labelled-in-clear']);
  });

  it('cannot be read from its disk where there are keys: neither what was printed, nor what was typed, nor what is said about it', async () => {
    gateways = await startGateways({ env: { REPLAY_ENCRYPTION_KEYS: `${key('new', 1)},${key('old', 2)}` } });
    const id = await talk();
    expect(await clear()).toEqual([]);
    const { status, body } = await gateways.ask(gateways.at(1), 'GET', `/${id}`);
    expect([status, body.label]).toEqual([200, 'labelled-in-clear']);
  });

  it("is read by replicas that begin with different keys but know each other's, as while keys are changed", async () => {
    const keys = [key('a', 1), key('b', 2)];
    gateways = await startGateways({ envOf: (i) => ({ REPLAY_ENCRYPTION_KEYS: (i === 0 ? keys : keys.toReversed()).join() }) });
    await talk();
    expect(await clear()).toEqual([]);
  });
});
