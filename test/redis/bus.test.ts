// Messages between replicas, while connections and Redis itself come and go.
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Keyring } from '../../src/keyring.js';
import { BusError } from '../../src/session/replicas/cluster.js';
import { sealedBus } from '../../src/session/replicas/sealed-bus.js';
import { needs } from '../support/needs.js';
import { type RedisServer, startRedis } from '../support/redis.js';
import { Child } from './child.js';
import { openReplica, type Replica, until } from './replica.js';

/** Milliseconds that a message may wait where nothing is to fail. */
const PATIENT = { timeoutMs: 25_000 };
const text = (message: Uint8Array) => Buffer.from(message).toString();
const failure = (sent: Promise<void>) =>
  sent.then(
    () => 'none',
    (error) => (error instanceof BusError ? error.failure : error),
  );
needs('redis-server')('the bus', () => {
  let server: RedisServer;
  const open: Array<{ close(): Promise<void> }> = [];

  beforeEach(async () => {
    server = await startRedis('--appendonly', 'yes', '--appendfsync', 'always');
  });
  afterEach(async () => {
    for (const replica of open.splice(0).reverse()) await replica.close();
    await server.dispose();
  });

  async function replica(id: string, options: Parameters<typeof openReplica>[2] = { leaseSeconds: 30 }): Promise<Replica> {
    const opened = await openReplica(server, id, options);
    open.push(opened);
    return opened;
  }

  it('keeps what comes before anybody receives, and goes on after a handler has thrown', async () => {
    const errors: string[] = [];
    const logger = { info: () => {}, warn: () => {}, error: (_: object, message: string) => void errors.push(message) };
    const [a, b] = [await replica('a'), await replica('b', { leaseSeconds: 30, logger })];
    for (const word of ['one', 'two', 'three']) await a.bus.send('b', Buffer.from(word));
    const got: string[] = [];
    b.bus.receive((from, message) => {
      got.push(`${from} ${text(message)}`);
      if (got.length === 2) throw new Error('as told');
    });
    await until(() => got.length === 3);
    expect(got).toEqual(['a one', 'a two', 'a three']);
    expect(errors).toEqual(['a message of another replica could not be handled']);
  });

  it('tells once of a replica whose messages do not open here, and why, without a stack', async () => {
    const errors: object[] = [];
    const logger = { info: () => {}, warn: () => {}, error: (fields: object) => void errors.push(fields) };
    const keys = (kid: string) => new Keyring([{ kid, key: Buffer.alloc(32, kid) }]);
    const [a, b] = [await replica('a'), await replica('b', { leaseSeconds: 30, logger })];
    const theirs = sealedBus(a.bus, keys('theirs'));
    for (let i = 0; i < 5; i++) await theirs.send('b', Buffer.from(`${i}`));
    await a.bus.send('b', Buffer.from('\0in the clear'));
    await sealedBus(a.bus, keys('ours')).send('b', Buffer.from('read'));
    const got: string[] = [];
    sealedBus(b.bus, keys('ours')).receive((_, message) => void got.push(text(message)));
    await until(() => got.includes('read'));
    const ofKeys = 'it is sealed with the key "theirs", which REPLAY_ENCRYPTION_KEYS does not have; this replica seals with the key "ours"';
    expect(errors[0]).toEqual({ from: 'a', reason: ofKeys, times: 1 });
    expect(errors).toHaveLength(2);
    await b.bus.close();
    expect(errors[2]).toEqual({ from: 'a', reason: ofKeys, times: 4 });
  });

  it('carries any bytes, up to four MiB of them, also to oneself, and refuses more', async () => {
    const a = await replica('a');
    const got: Uint8Array[] = [];
    a.bus.receive((_, message) => void got.push(message));
    const sent = [0, 1, 255, 4 * 1024 * 1024].map((length) => Buffer.alloc(length, Buffer.from([0, 255, 13, 10, 128])));
    for (const message of sent) await a.bus.send('a', message);
    await until(() => got.length === sent.length);
    expect(got.every((message, i) => Buffer.compare(message, sent[i] as Buffer) === 0)).toBe(true);
    expect(await failure(a.bus.send('a', Buffer.alloc(4 * 1024 * 1024 + 1)))).toBe('too_big');
  });

  for (const [what, trouble] of [
    ['connections are cut at random', cutConnections],
    ['Redis is killed and comes back', async () => server.stop('SIGKILL').then(() => server.start())],
  ] as const) {
    it(`delivers each message once and in the order of the calls while ${what}`, { timeout: 60_000 }, async () => {
      const replicas = [await replica('a'), await replica('b'), await replica('c')];
      const got = new Map<string, number[]>();
      const gaps: string[] = [];
      for (const { id, bus } of replicas) {
        bus.onGap((from) => void gaps.push(`${from} to ${id}`));
        bus.receive((from, message) => {
          const way = `${from} to ${id}`;
          got.set(way, [...(got.get(way) ?? []), Buffer.from(message).readUInt32BE()]);
        });
      }
      const ways = replicas.flatMap((from) => replicas.map((to) => ({ from, to })));
      let isSending = true;
      const counts = ways.map(async ({ from, to }) => {
        let count = 0;
        while (isSending) {
          const some = Array.from({ length: 5 }, () => from.bus.send(to.id, numbered(count++), PATIENT));
          await Promise.all(some);
        }
        return count;
      });
      for (let i = 0; i < 5; i++) await trouble();
      isSending = false;
      const sent = await Promise.all(counts);
      await until(() => ways.every(({ from, to }, i) => got.get(`${from.id} to ${to.id}`)?.length === sent[i]));
      for (const numbers of got.values()) expect(numbers).toEqual(numbers.map((_, i) => i));
      expect(gaps).toEqual([]);
    });
  }

  const numbered = (count: number) => {
    const message = Buffer.alloc(4 + Math.floor(Math.random() * 20_000));
    message.writeUInt32BE(count);
    return message;
  };

  async function cutConnections(): Promise<void> {
    const client = new Redis(server.port, '127.0.0.1');
    const own = await client.client('ID');
    for (let i = 0; i < 10; i++) {
      const ids = [...String(await client.client('LIST')).matchAll(/^id=(\d+)/gm)]
        .map((match) => Number(match[1]))
        .filter((id) => id !== own);
      const id = ids[Math.floor(Math.random() * ids.length)];
      if (id !== undefined) await client.client('KILL', 'ID', id);
    }
    client.disconnect();
  }

  it('tells how many messages Redis has lost, before the next that it has not', async () => {
    const [a, b] = [await replica('a'), await replica('b')];
    for (let i = 0; i < 3; i++) await a.bus.send('b', Buffer.from('lost'));
    await server.tell('FLUSHALL');
    await a.bus.send('b', Buffer.from('kept'), PATIENT);
    const got: string[] = [];
    b.bus.onGap((from, lost) => void got.push(`${lost} of ${from}`));
    b.bus.receive((_, message) => void got.push(text(message)));
    await until(() => got.length === 2);
    expect(got).toEqual(['3 of a', 'kept']);
  });

  it('says that a message was not handed over in time, and does not deliver it later', async () => {
    const [a, b] = [await replica('a'), await replica('b')];
    const got: string[] = [];
    b.bus.receive((_, message) => void got.push(text(message)));
    await a.bus.send('b', Buffer.from('before'));
    await server.stop();
    // A connection that is not known to be broken yet leaves it open whether Redis has the message.
    const fail = () => failure(a.bus.send('b', Buffer.from('never'), { timeoutMs: 100 }));
    const failures = [await fail()];
    while (failures.at(-1) === 'unknown') failures.push(await fail());
    expect(failures.at(-1)).toBe('unavailable');
    await server.start();
    await a.bus.send('b', Buffer.from('after'), PATIENT);
    await until(() => got.includes('after'));
    expect(got).toEqual(['before', 'after']);
  });

  it('does not deliver later what lay before a Redis that hung, and says that it cannot know', async () => {
    const [a, b] = [await replica('a'), await replica('b')];
    const [got, gaps]: [string[], number[]] = [[], []];
    b.bus.onGap((_, lost) => void gaps.push(lost));
    b.bus.receive((_, message) => void got.push(text(message)));
    await a.bus.send('b', Buffer.from('before'));
    server.signal('SIGSTOP');
    expect(await failure(a.bus.send('b', Buffer.from('never'), { timeoutMs: 100 }))).toBe('unknown');
    server.signal('SIGCONT');
    await a.bus.send('b', Buffer.from('after'), PATIENT);
    await until(() => got.includes('after'));
    expect(got).toEqual(['before', 'after']);
    expect(gaps).toEqual([]);
  });

  it.each([
    ['messages', 10, 1024],
    ['bytes', 4 * 1024 * 1024, 16],
  ])('lets senders wait for an inbox that is full of %s', async (_, bytes, most) => {
    const [a, b] = [await replica('a'), await replica('b')];
    const send = (number: number, options?: { timeoutMs: number }) => a.bus.send('b', Buffer.alloc(bytes, String(number)), options);
    let sent = 0;
    while ((await failure(send(sent))) === 'none') sent++;
    expect(sent).toBeGreaterThan(8);
    expect(sent).toBeLessThanOrEqual(most);
    const waits = send(sent++, PATIENT);
    let isRight = true;
    let got = 0;
    b.bus.receive((_, message) => {
      isRight &&= Buffer.compare(message, Buffer.alloc(bytes, String(got++))) === 0;
    });
    await waits;
    await until(() => got === sent);
    expect(isRight).toBe(true);
  });

  it('refuses messages to nobody, to the dead, and to those who have left', async () => {
    const [a, b] = [await replica('a', { leaseSeconds: 2 }), await replica('b')];
    expect(await failure(a.bus.send('nobody', Buffer.from('hello')))).toBe('gone');
    await b.leases.release();
    await until(() => !a.leases.isAlive('b'));
    expect(await failure(a.bus.send('b', Buffer.from('hello')))).toBe('gone');
  });

  it('gives a replica nothing that was meant for its former life', async () => {
    const [a, former] = [await replica('a'), await Child.start(server.url, 'k')];
    await until(() => a.leases.isAlive('k'));
    await former.kill();
    await a.bus.send('k', Buffer.from('to the former'));
    const heir = await Child.start(server.url, 'k');
    open.push({ close: () => heir.kill() });
    await until(() => a.told.at(-1) === 'born k' && a.told.includes('died k'));
    await a.bus.send('k', Buffer.from('to the heir'));
    await heir.says('a: to the heir');
    expect(heir.lines).toEqual(['open', 'a: to the heir']);
  });

  it('gives a replica that was held still too long nothing of its former life either, and all of its new one', async () => {
    const [a, still] = [await replica('a', { leaseSeconds: 2 }), await Child.start(server.url, 's')];
    open.push({ close: () => still.kill() });
    await until(() => a.leases.isAlive('s'));
    still.signal('SIGSTOP');
    await a.bus.send('s', Buffer.from('to the former'));
    await until(() => a.told.includes('died s'));
    expect(await failure(a.bus.send('s', Buffer.from('to the dead')))).toBe('gone');
    still.signal('SIGCONT');
    await until(() => a.told.at(-1) === 'born s');
    await a.bus.send('s', Buffer.from('to the new'));
    await still.says('a: to the new');
    expect(still.lines).toEqual(['open', 'lost', 'regained new', 'a: to the new']);
  });

  it('takes no message when it is closed', async () => {
    const a = await replica('a');
    await a.bus.close();
    expect(await failure(a.bus.send('a', Buffer.from('late')))).toBe('closed');
  });
});
