// What clients see while the Redis of two replicas restarts, cuts them off, is away, or is full. Knows a session from outside alone.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type Gateways, type Replica, startGateways, tokenFor } from '../support/gateways.js';
import { needs } from '../support/needs.js';
import { counting, Onlooker, upTo } from '../support/onlooker.js';
import { framesOf, plainClient } from '../support/plain-client.js';
import { until } from '../support/redis.js';

/** How long Redis is away, in milliseconds: several leases of a replica, and longer than any patience of the gateway. */
const AWAY_MS = 30_000;

// Several processes start and die in each test, and the machine may be busy with others.
vi.setConfig({ testTimeout: 90_000 });
/** Lines that somebody types while connections break. */
const TYPED_LINES = 200;

needs('redis-server', 'redis-cli')('two replicas whose Redis', () => {
  let gateways: Gateways;
  let replicas: readonly Replica[];
  const open: Onlooker[] = [];
  const look = (id: string, replica: Replica, role: 'controller' | 'observer' = 'observer') => {
    const scope = role === 'controller' ? 'pty:control' : 'pty:observe';
    const onlooker = new Onlooker({ url: gateways.urlOf(id, replica), token: tokenFor(replica.id, scope), role });
    open.push(onlooker);
    return onlooker;
  };
  /** One who looks through each replica at a session of the first one. */
  const lookAll = (id: string) => replicas.map((replica) => look(id, replica));
  /** All lines were shown, once, in order, under the same numbers on every replica, and nobody was told of a gap. */
  const expectAll = (onlookers: readonly Onlooker[], count: number) => {
    const [first] = onlookers;
    for (const { numbers, notices, closed } of onlookers) {
      expect({ numbers, notices, closed }).toEqual({ numbers: first?.numbers, notices: [], closed: [] });
    }
    for (const onlooker of onlookers) expect(onlooker.counted()).toEqual(upTo(count));
  };
  const ready = () => Promise.all(replicas.map((replica) => replica.isReady()));
  const allReady = async () => (await ready()).every(Boolean);
  const noneReady = async () => !(await ready()).some(Boolean);

  beforeEach(async () => {
    gateways = await startGateways();
    replicas = gateways.replicas;
  });
  afterEach(async () => {
    for (const { client } of open.splice(0)) client.close();
    await gateways.dispose();
  });

  it.each(['SIGTERM', 'SIGKILL'] as const)('restarts (%s) while a program prints: every line is shown once', async (signal) => {
    const onlookers = lookAll(await gateways.begin(gateways.at(0), ...counting(200, 0.02)));
    for (const onlooker of onlookers) await onlooker.sees('n30\r\n');
    await gateways.redis.stop(signal);
    await gateways.redis.start();
    for (const onlooker of onlookers) await onlooker.sees('n200\r\n');
    expectAll(onlookers, 200);
    await until('both take work', allReady);
  });

  it('hangs while a program prints: both say so, and every line is shown once when it goes on', async () => {
    const onlookers = lookAll(await gateways.begin(gateways.at(0), ...counting(300, 0.02)));
    for (const onlooker of onlookers) await onlooker.sees('n20\r\n');
    gateways.redis.signal('SIGSTOP');
    await until('both say that they take no work', noneReady);
    gateways.redis.signal('SIGCONT');
    for (const onlooker of onlookers) await onlooker.sees('n300\r\n');
    expectAll(onlookers, 300);
    await until('both take work', allReady);
  });

  it('cuts all connections again and again while a program prints: every line is shown once', async () => {
    const onlookers = lookAll(await gateways.begin(gateways.at(0), ...counting(300, 0.01)));
    for (const onlooker of onlookers) await onlooker.sees('n20\r\n');
    const isOver = () => onlookers.every(({ text }) => text.includes('n280\r\n'));
    await until('the end is near', async () => {
      for (const type of ['normal', 'pubsub']) await gateways.redis.tell('CLIENT', 'KILL', 'TYPE', type);
      return isOver();
    });
    for (const onlooker of onlookers) await onlooker.sees('n300\r\n');
    expectAll(onlookers, 300);
  });

  it('cuts all connections again and again while somebody types elsewhere: every line arrives once, or is refused', async () => {
    const id = await gateways.begin(gateways.at(0), '/bin/bash', '-c', 'stty -echo; echo ready; exec cat');
    const onlooker = look(id, gateways.at(0));
    await onlooker.sees('ready\r\n');
    const typist = await plainClient(gateways.urlOf(id, gateways.at(1)), tokenFor('typist', 'pty:control'));
    await typist.attach({ role: 'controller' });
    const typed = new Map<string, number>();
    for (let n = 1; n <= TYPED_LINES; n++) {
      typed.set(typist.type(`n${n}\n`), n);
      if (n % 5 === 0) for (const type of ['normal', 'pubsub']) await gateways.redis.tell('CLIENT', 'KILL', 'TYPE', type);
    }
    const refused = () =>
      framesOf(typist, 'INTERNAL').map(({ id: of, payload }) => ({ n: typed.get(of) ?? 0, retryable: payload.retryable }));
    await until('each line has its fate', () => onlooker.counted().length + refused().length >= TYPED_LINES);
    typist.type('end\n');
    await onlooker.sees('end\r\n');
    expect(refused().filter(({ retryable }) => !retryable)).toEqual([]);
    const arrived = onlooker.counted();
    const fates = [...arrived, ...refused().map(({ n }) => n)].sort((a, b) => a - b);
    expect(fates).toEqual(upTo(TYPED_LINES));
    expect(arrived).toEqual([...arrived].sort((a, b) => a - b));
  });

  it('is away for half a minute: they say so, keep the sessions, and go on where they were', { timeout: AWAY_MS + 90_000 }, async () => {
    const id = await gateways.begin(gateways.at(0), '/bin/bash', '-c', `(${counting(350, 0.1)[2]}) & exec cat`);
    const [one, two] = [look(id, gateways.at(0)), look(id, gateways.at(1), 'controller')];
    await Promise.all([one, two].map((each) => each.sees('n10\r\n')));
    await until('one controls', () => two.client.role === 'controller');
    await gateways.redis.stop();
    const back = sleep(AWAY_MS).then(() => gateways.redis.start());
    await until('both say that they take no work', noneReady);
    expect((await gateways.ask(gateways.at(0), 'POST', '', {})).status).toBe(503);
    two.client.input('typed-meanwhile\n');
    await until('the input is refused for now, or waits', () => two.faults.length > 0 || two.text.includes('typed-meanwhile'));
    expect(two.faults).toMatchObject([{ code: 'INTERNAL', retryable: true }]);
    await back;
    await until('both take work', allReady);
    await until('the last line is shown', () => [one, two].every(({ text }) => text.includes('n350\r\n')));
    expectAll([one, two], 350);
    await until('one controls again', () => two.client.role === 'controller');
    two.client.input('typed-afterwards\n');
    await one.sees('typed-afterwards');
  });

  it('is full: they say so, and go on when there is room, with nothing lost', async () => {
    const onlookers = lookAll(await gateways.begin(gateways.at(0), ...counting(100, 0.03)));
    for (const onlooker of onlookers) await onlooker.sees('n10\r\n');
    await gateways.redis.tell('CONFIG', 'SET', 'maxmemory', '1');
    await until('both say that they take no work, the one that runs nothing too', noneReady);
    const shown = onlookers.map(({ numbers }) => numbers.length);
    expect((await gateways.ask(gateways.at(0), 'POST', '', {})).status).toBe(503);
    expect(onlookers.map(({ numbers }) => numbers.length)).toEqual(shown);
    await gateways.redis.tell('CONFIG', 'SET', 'maxmemory', '0');
    for (const onlooker of onlookers) await onlooker.sees('n100\r\n');
    expectAll(onlookers, 100);
    await until('both take work', allReady);
  });
});
