// Sessions whose agent says how another replica goes on with them (policy.reattach), as clients see it. Knows a session from outside alone.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { keysOf } from '../../src/log/redis/keys.js';
import { type Balancer, startBalancer } from '../support/balancer.js';
import { type Gateways, type Replica, startGateways, tokenFor } from '../support/gateways.js';
import { needs } from '../support/needs.js';
import { Onlooker } from '../support/onlooker.js';
import { framesOf, plainClient, Refused } from '../support/plain-client.js';
import { until } from '../support/redis.js';

// Several processes start and die in each test, and the machine may be busy with others.
vi.setConfig({ testTimeout: 120_000 });

const SHELL = 'stty -echo; exec /bin/bash --noprofile --norc';
/** Another shell, which says that it has come. */
const policy = { reattach: ['/bin/bash', '-c', `echo came-back; ${SHELL}`] };
const shell = ['/bin/bash', '-c', `echo began; ${SHELL}`];
/** How often it is asked in between, in milliseconds. */
const ASK_MS = 25;

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

needs('redis-server', 'redis-cli')('a session that others can go on with', () => {
  let gateways: Gateways;
  let balancer: Balancer | undefined;
  let twin: Replica | undefined;
  const open: Onlooker[] = [];
  const look = (id: string, at: { readonly port: number }, role: 'controller' | 'observer' = 'observer') => {
    const onlooker = new Onlooker({ url: gateways.urlOf(id, at), token: tokenFor(role, 'pty:control'), role });
    open.push(onlooker);
    return onlooker;
  };
  const meta = (id: string, field: string) => gateways.redis.tell('HGET', keysOf('pty', id)?.meta ?? '', field);
  const ownerOf = async (id: string, at: Replica): Promise<Replica> => {
    const { replica_id } = (await gateways.ask(at, 'GET', `/${id}`)).body;
    return gateways.replicas.find((replica) => replica.id === replica_id) as Replica;
  };
  const comesBack = (onlooker: Onlooker, times: number) => until('it came back', () => onlooker.text.split('came-back\r\n').length > times);
  /** Who was cut off comes back beside the one that it was, until that is found to be gone. */
  const controls = async ({ client }: Onlooker) => {
    await until('it is the only member', () => client.members.controllers.length + client.members.observers.length === 1);
    if (client.role !== 'controller') await client.requestRole('controller');
  };
  /** Each number once, in order, and for a later reader the same under the same numbers. */
  const expectOneHistory = async (id: string, at: Replica, onlookers: readonly Onlooker[]) => {
    const late = look(id, at);
    await late.sees('the-end');
    for (const { numbers, text, closed } of onlookers) {
      expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
      expect({ numbers, text, closed }).toEqual({ numbers: late.numbers, text: late.text, closed: [] });
    }
  };
  afterEach(async () => {
    for (const { client } of open.splice(0)) client.close();
    await balancer?.stop();
    balancer = undefined;
    await twin?.stop('SIGKILL');
    twin = undefined;
    await gateways.dispose();
  });

  it('outlives its replica and the one that went on with it: one winner each time, and who is connected elsewhere stays', async () => {
    gateways = await startGateways({ count: 3, policy });
    const [first, ...rest] = gateways.replicas as [Replica, Replica, Replica];
    const id = await gateways.begin(first, ...shell);
    const onlookers = new Map([...rest].map((replica) => [replica, look(id, replica, 'controller')]));
    for (const onlooker of onlookers.values()) await onlooker.isLive();
    const before = new Map([...onlookers].map(([replica, { states }]) => [replica, [...states]]));
    await first.stop('SIGKILL');
    for (const onlooker of onlookers.values()) await comesBack(onlooker, 1);
    const second = await ownerOf(id, rest[0] as Replica);
    const third = rest.find((replica) => replica !== second) as Replica;
    expect(rest).toContain(second);
    await second.stop('SIGKILL');
    const stays = onlookers.get(third) as Onlooker;
    await comesBack(stays, 2);
    expect(await ownerOf(id, third)).toBe(third);
    expect([await meta(id, 'epoch'), JSON.parse(await meta(id, 'record'))]).toEqual(['3', expect.objectContaining({ epoch: 3 })]);
    expect(stays.states).toEqual(before.get(third));
    await controls(stays);
    stays.client.input('echo the-$(echo end)\n');
    await stays.sees('the-end');
    await expectOneHistory(id, third, [stays]);
    expect(stays.notices.map(({ kind }) => kind)).toEqual(['lagged', 'lagged']);
  });

  it('goes on with its history when its replica and a Redis that loses nothing die at the same time', async () => {
    gateways = await startGateways({ policy, env: { REDIS_DURABLE: 'true' } });
    const [owner, other] = [gateways.at(0), gateways.at(1)];
    const id = await gateways.begin(owner, ...shell);
    const onlooker = look(id, other, 'controller');
    await onlooker.sees('began');
    await Promise.all([owner.stop('SIGKILL'), gateways.redis.stop('SIGKILL')]);
    await gateways.redis.start();
    await comesBack(onlooker, 1);
    await onlooker.isLive();
    await controls(onlooker);
    onlooker.client.input('echo the-$(echo end)\n');
    await onlooker.sees('the-end');
    expect(onlooker.text).toMatch(/^began/);
    await expectOneHistory(id, other, [onlooker]);
  });

  it('is closed where what it would go on from is spoiled', async () => {
    gateways = await startGateways({ policy });
    const [owner, other] = [gateways.at(0), gateways.at(1)];
    const id = await gateways.begin(owner, '/bin/sh', '-c', 'echo began; exec sleep 1000');
    await look(id, owner).sees('began');
    const [log, last] = [keysOf('pty', id)?.log ?? '', await meta(id, 'current')];
    await owner.stop('SIGKILL');
    await gateways.redis.tell('DEL', log);
    await gateways.redis.tell('XADD', log, `${last}-0`, 'no', 'entry');
    await gateways.redis.tell('HSET', keysOf('pty', id)?.meta ?? '', 'kind:Keyframe', last);
    const told = async () => (await gateways.ask(other, 'GET', `/${id}`)).body;
    await until('it is closed', async () => (await told()).state === 'closed');
    expect(await told()).toMatchObject({ reason: 'agent_disconnect', exit_code: null });
  });

  it('is never unknown while it changes hands: whoever asks or attaches is answered, or told to try again', async () => {
    gateways = await startGateways({ count: 3, policy });
    const [first, ...rest] = gateways.replicas as [Replica, Replica, Replica];
    const id = await gateways.begin(first, ...shell);
    const onlooker = look(id, rest[0] as Replica);
    await onlooker.isLive();
    const told = new Set<number>();
    let isOver = false;
    const asking = rest.flatMap((replica) => [
      (async () => {
        for (; !isOver; await sleep(ASK_MS)) told.add((await gateways.ask(replica, 'GET', `/${id}`)).status);
      })(),
      (async () => {
        for (; !isOver; await sleep(ASK_MS)) {
          const attached = await plainClient(gateways.urlOf(id, replica), tokenFor('plain', 'pty:observe')).catch((error) => error);
          if (attached instanceof Refused) told.add(attached.status);
          else attached.ws.terminate();
        }
      })(),
    ]);
    await sleep(4 * ASK_MS);
    await first.stop('SIGKILL');
    await comesBack(onlooker, 1);
    isOver = true;
    await Promise.all(asking);
    expect([...told].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    expect(told).toContain(200);
  });

  it('is lost to a replica that slept for longer than its lease: its program dies, and its own clients find the session elsewhere', async () => {
    gateways = await startGateways({ policy });
    const [owner, other] = [gateways.at(0), gateways.at(1)];
    const printing = ['/bin/bash', '-c', 'echo $$ > pid; for ((i = 1; ; i++)); do echo n$i; sleep 0.01; done'];
    const id = await gateways.begin(owner, ...printing);
    const [at, elsewhere] = [look(id, owner, 'controller'), look(id, other)];
    await Promise.all([at.sees('n20\r\n'), elsewhere.sees('n20\r\n')]);
    const plain = await plainClient(gateways.urlOf(id, owner), tokenFor('plain', 'pty:observe'));
    await plain.attach({ role: 'observer' });
    const program = Number(readFileSync(join(gateways.folder, 'pid'), 'utf8'));
    owner.signal('SIGSTOP');
    await comesBack(elsewhere, 1);
    owner.signal('SIGCONT');
    await until('its program is dead', () => !isAlive(program));
    await until('its clients are sent away', () => plain.closed !== undefined);
    expect([framesOf(plain, 'binding_goodbye').length, plain.closed?.code]).toEqual([1, 1011]);
    await comesBack(at, 1);
    await until('it controls again', () => at.client.role === 'controller');
    at.client.input('echo the-$(echo end)\n');
    await Promise.all([at, elsewhere].map((onlooker) => onlooker.sees('the-end')));
    expect(at.states).toEqual(['connecting', 'live', 'waiting', 'connecting', 'live']);
    expect(elsewhere.text.split('came-back\r\n')[1]).not.toMatch(/^n\d/m);
    await expectOneHistory(id, other, [at, elsewhere]);
    await until('it takes work again', () => owner.isReady());
  });

  const bound = (seconds: number) => ({ ...policy, terminate_on_last_controller: true, controller_return_seconds: seconds });
  const ended = (onlooker: Onlooker) => until('it has ended', () => onlooker.closed.length > 0);

  it('ends when its last controller has gone with its replica and nobody takes the control, where its agent says so', async () => {
    gateways = await startGateways({ policy: bound(1) });
    const [owner, other] = [gateways.at(0), gateways.at(1)];
    const id = await gateways.begin(owner, ...shell);
    const stays = look(id, other);
    await look(id, owner, 'controller').isLive();
    await stays.isLive();
    await owner.stop('SIGKILL');
    await ended(stays);
    expect(stays.closed).toMatchObject([{ reason: 'last_member_left' }]);
    expect(stays.text).toContain('came-back');
  });

  it('is handed over by a replica that drains although its last controller is sent away then, and ends when that one is not the only one to go', async () => {
    gateways = await startGateways({ policy: bound(5) });
    const [owner, other] = [gateways.at(0), gateways.at(1)];
    const id = await gateways.begin(owner, ...shell);
    const stays = look(id, other);
    await look(id, owner, 'controller').isLive();
    await stays.isLive();
    const drained = owner.stop('SIGTERM');
    await comesBack(stays, 1);
    expect(await drained).toBe(0);
    const next = look(id, other, 'controller');
    await next.isLive();
    next.client.input('echo goes-$(echo on)\n');
    await stays.sees('goes-on');
    next.client.close();
    await ended(stays);
    expect(stays.closed).toMatchObject([{ reason: 'last_member_left' }]);
  });

  it('ends at a replica whose id another process took while it slept; that one says so, and exits for its supervisor', async () => {
    gateways = await startGateways({ policy });
    const [owner, other] = [gateways.at(0), gateways.at(1)];
    const id = await gateways.begin(owner, '/bin/bash', '-c', 'echo $$ > pid; trap "" HUP; while :; do echo x; sleep 0.1; done');
    const onlooker = look(id, other);
    await onlooker.sees('x\r\n');
    await onlooker.isLive();
    const before = [...onlooker.states];
    const program = Number(readFileSync(join(gateways.folder, 'pid'), 'utf8'));
    owner.signal('SIGSTOP');
    await comesBack(onlooker, 1);
    twin = await owner.twin();
    await twin.start();
    owner.signal('SIGCONT');
    await until('it ends', () => owner.deaths.length > 0);
    expect(owner.deaths).toEqual([expect.stringMatching(/ended by itself with 1; .*another process has REPLICA_ID replica-0/s)]);
    expect(isAlive(program)).toBe(false);
    expect([await twin.isReady(), await other.isReady()]).toEqual([true, true]);
    expect(onlooker.states).toEqual(before);
  });

  needs('haproxy')('behind a balancer', () => {
    it('is driven on while all replicas are restarted, one after the other', async () => {
      gateways = await startGateways({ policy, env: { TRUST_PROXY: '1', DRAIN_SECONDS: '3' } });
      balancer = await startBalancer(gateways.replicas);
      const id = await gateways.begin(gateways.at(0), ...shell);
      const driver = look(id, balancer, 'controller');
      await driver.sees('began');
      const drive = async (word: string) => {
        await until('it controls', async () => driver.client.role === 'controller' || !(await takes(driver)));
        driver.client.input(`echo ${word}-$((6 * 7))\n`);
        await driver.sees(`${word}-42\r\n`);
      };
      await drive('before');
      for (const replica of gateways.replicas) {
        const isOwner = (await ownerOf(id, gateways.at(0))) === replica;
        const times = driver.text.split('came-back').length;
        expect(await replica.stop('SIGTERM')).toBe(0);
        if (isOwner) await until('it goes on elsewhere', () => driver.text.split('came-back').length > times);
        await drive(`without-${replica.id}`);
        await replica.start();
        await drive(`with-${replica.id}`);
      }
      driver.client.input('echo the-$(echo end)\n');
      await driver.sees('the-end');
      await expectOneHistory(id, gateways.at(0), [driver]);
    });
  });
});

/** Asks for control; false if it has to be asked again. */
async function takes({ client }: Onlooker): Promise<boolean> {
  return client.requestRole('controller').then(
    ({ role }) => role === 'controller',
    () => false,
  );
}
