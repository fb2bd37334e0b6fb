// What becomes of a session's log while Redis breaks, refuses, restarts, forgets, or fails over: what was promised is there once, in order.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { v7 } from 'uuid';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Log, LogWriter } from '../../src/log/log.js';
import { keysOf } from '../../src/log/redis/keys.js';
import { openRedisLog, type RedisLogOptions } from '../../src/log/redis/redis-log.js';
import { LOSS_JUMP } from '../../src/log/redis/scripts.js';
import { entry } from '../log/contract.js';
import { told, Witness } from '../log/redis-witness.js';
import { endless, type Junction, junction } from '../support/junction.js';
import { needs } from '../support/needs.js';
import { type RedisServer, startRedis, startWithSentinel, until } from '../support/redis.js';

const forever = { frames: 1_000_000, seconds: 86_400 };

needs('redis-server', 'redis-cli')('while Redis is in trouble', () => {
  let server: RedisServer;
  const servers: Array<{ dispose(): Promise<void> }> = [];
  const open: Log[] = [];
  const openLog = async (options: Partial<RedisLogOptions> & { readonly url: string }): Promise<Log> => {
    const log = await openRedisLog({ prefix: 'pty', ...options });
    open.push(log);
    return log;
  };
  const closeAll = () => Promise.all(open.splice(0).map((log) => log.close()));
  afterEach(async () => {
    await closeAll();
    await Promise.all(servers.splice(0).map((one) => one.dispose()));
  });

  describe('on one server', () => {
    beforeEach(async () => {
      server = await startRedis('--appendonly', 'yes', '--appendfsync', 'always');
      servers.push(server);
    });

    /** What is left of the breaks before may make it wait for too long. */
    const claimed = (log: Log, id: string): Promise<LogWriter> =>
      log.claim(id).catch((error) => {
        if (error.failure !== 'unavailable') throw error;
        return claimed(log, id);
      });

    it('takes everything once, wherever connections break', async () => {
      const wire = await junction(server.port);
      const log = await openLog({ url: `redis://127.0.0.1:${wire.port}` });
      const clear = await openLog({ url: server.url });
      const reading = await openLog({ url: server.url });
      // A connection is made with some thousand bytes: the shorter ones never come to be.
      const wear = fc.record({ after: fc.oneof(fc.nat(6_000), fc.integer({ min: 6_000, max: 60_000 })), deaf: fc.nat(100_000) });
      const breaks = fc.array(wear, { minLength: 1, maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(breaks, fc.integer({ min: 1, max: 3_000 }), async (wears, size) => {
          const id = v7();
          await clear.create(id, {}, forever);
          const writer = await claimed(log, id);
          const left = wears.values();
          wire.wear(() => left.next().value ?? endless);
          wire.lead(server.port);
          const witness = new Witness(writer);
          const amended = Promise.all(Array.from({ length: 20 }, (_, n) => writer.amend({ n })));
          await witness.appendMany(150, size);
          await amended;
          await witness.expectAll(await reading.reader(id));
          expect(await clear.record(id)).toEqual({ n: 19 });
        }),
        { numRuns: 15 },
      );
      await log.close();
      await wire.close();
    });

    it('takes everything once while its connections are killed and its scripts forgotten, over and over', async () => {
      const log = await openLog({ url: server.url });
      const other = await openLog({ url: server.url });
      const id = v7();
      const writer = await log.create(id, {}, forever);
      const follower = told(await other.reader(id));
      const witness = new Witness(writer);
      const killing = (async () => {
        for (let n = 0; n < 25; n++) {
          await server.tell('CLIENT', 'KILL', 'TYPE', n % 2 ? 'normal' : 'pubsub');
          if (n % 5 === 0) await server.tell('SCRIPT', 'FLUSH');
          await sleep(30);
        }
      })();
      await witness.appendUntil(killing);
      await until('the follower was told of the last', () => follower.entries.length >= witness.promised.size);
      await witness.expectAll(await other.reader(id));
      expect(follower.entries.map(({ sequence }) => sequence)).toEqual([...witness.promised.keys()]);
      expect([log.trouble(), other.trouble()]).toEqual([undefined, undefined]);
    });

    it('waits while its memory is full, and says so', async () => {
      const troubles: string[] = [];
      const log = await openLog({ url: server.url, onTrouble: (sentence) => troubles.push(sentence) });
      const id = v7();
      const witness = new Witness(await log.create(id, {}, forever));
      await witness.appendMany(50);
      await server.tell('CONFIG', 'SET', 'maxmemory', '1');
      const waiting = Promise.all([witness.append(), witness.append(), witness.append()]);
      await until('the log is troubled', () => log.trouble() !== undefined);
      expect(log.trouble()).toMatch(/takes no entries: its memory is full \(maxmemory\) \(OOM\); it is tried again$/);
      await server.tell('CONFIG', 'SET', 'maxmemory', '0');
      await waiting;
      await witness.expectAll(await log.reader(id));
      expect(log.trouble()).toBeUndefined();
      expect(troubles).toHaveLength(1);
    });

    it('says so once while there is room for little, and what is larger is refused again and again', async () => {
      const said: string[] = [];
      const log = await openLog({ url: server.url, onTrouble: (sentence) => said.push(sentence), onRecovered: () => said.push('well') });
      const id = v7();
      const writer = await log.create(id, {}, forever);
      await writer.append([entry('small', Date.now())]);
      const used = Number(/used_memory:(\d+)/.exec(await server.tell('INFO', 'memory'))?.[1]);
      await server.tell('CONFIG', 'SET', 'maxmemory', `${used + 500_000}`);
      await server.tell('CONFIG', 'RESETSTAT');
      const waiting = Promise.all([writer.append([entry(randomBytes(2_000_000), Date.now())]), writer.append([entry('next', Date.now())])]);
      const refusals = async () => Number(/errorstat_OOM:count=(\d+)/.exec(await server.tell('INFO', 'errorstats'))?.[1] ?? 0);
      await expect.poll(refusals, { timeout: 10_000 }).toBeGreaterThan(5);
      expect([said.length, log.trouble()]).toEqual([1, said[0]]);
      await server.tell('CONFIG', 'SET', 'maxmemory', '0');
      await waiting;
      await expect.poll(() => said).toEqual([expect.stringContaining('its memory is full (maxmemory) (OOM)'), 'well']);
      expect((await (await log.reader(id)).read(0, { frames: 10, bytes: 10_000_000 })).map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    });

    it('waits while it is away, and goes on in order when it is back', async () => {
      const troubles: string[] = [];
      const log = await openLog({ url: server.url, onTrouble: (sentence) => troubles.push(sentence) });
      const other = await openLog({ url: server.url });
      const id = v7();
      const witness = new Witness(await log.create(id, {}, forever));
      const follower = told(await other.reader(id));
      const away = (async () => {
        await sleep(100);
        await server.stop('SIGKILL');
        await until('the log is troubled', () => log.trouble() !== undefined);
        expect(log.trouble()).toMatch(/cannot be reached: /);
        await sleep(3_000);
        await server.start();
      })();
      await witness.appendUntil(away);
      await until('the follower was told of the last', () => follower.entries.length >= witness.promised.size);
      await witness.expectAll(await other.reader(id));
      expect(follower.entries.map(({ sequence }) => sequence)).toEqual([...witness.promised.keys()]);
      expect(log.trouble()).toBeUndefined();
    });

    it('gives back to Redis what it lost wholly, as far as the writer has it, and goes on far above the rest', async () => {
      const log = await openLog({ url: server.url, lookMs: 50 });
      const other = await openLog({ url: server.url });
      const [short, long] = [v7(), v7()];
      const [one, many] = [await log.create(short, { of: 'short' }, forever), await log.create(long, {}, forever)];
      await many.amend({ of: 'long' });
      const [witness, manifold] = [new Witness(one), new Witness(many)];
      const follower = told(await other.reader(short));
      await Promise.all([witness.appendMany(100), manifold.appendMany(5_000)]);
      const given = many.reader.extent().current;
      await until('the follower was told of all', () => follower.entries.length === witness.promised.size);
      await server.tell('FLUSHALL');
      await until('the sessions are there again', async () => (await other.records()).length === 2);
      expect(await other.record(long)).toEqual({ of: 'long' });
      expect(await other.record(short)).toEqual({ of: 'short' });
      await witness.appendMany(20);
      await until('the follower was told of the last', () => follower.entries.length === witness.promised.size);
      await witness.expectAll(await other.reader(short));
      const first = await many.append([{ to: 'nobody' }]);
      expect(first).toBe(given + LOSS_JUMP + 1);
    });

    it('does not give back what was removed', async () => {
      const [log, other] = [await openLog({ url: server.url }), await openLog({ url: server.url })];
      const id = v7();
      const writer = await log.create(id, {}, forever);
      await new Witness(writer).appendMany(10);
      await other.remove(id);
      await expect(writer.append([{ to: 'nobody' }])).rejects.toMatchObject({ failure: 'unknown_session' });
      expect(await other.records()).toEqual([]);
    });

    it('does not let a question wait for ever', async () => {
      const log = await openLog({ url: server.url });
      const id = v7();
      const writer = await log.create(id, {}, forever);
      await server.stop('SIGKILL');
      const answers = await Promise.allSettled([
        writer.reader.read(0, { frames: 1, bytes: 1 }),
        writer.reader.latest('Output'),
        log.record(id),
        log.records(),
        log.create(v7(), {}, forever),
        log.claim(id),
        log.remove(id),
      ]);
      for (const answer of answers) expect(answer).toMatchObject({ status: 'rejected', reason: { name: 'LogError' } });
      await expect(openRedisLog({ url: server.url, prefix: 'pty' })).rejects.toMatchObject({ failure: 'unavailable' });
    });

    it('jumps over numbers that may be lost when the owner died and Redis restarted, but not when it let go in order', async () => {
      const wire = await junction(server.port);
      const dead = await openLog({ url: `redis://127.0.0.1:${wire.port}` });
      const [abandoned, ended] = [v7(), v7()];
      const [one, other] = [await dead.create(abandoned, {}, forever), await dead.create(ended, {}, forever)];
      for (const writer of [one, other]) await new Witness(writer).appendMany(10);
      const given = one.reader.extent().current;
      await other.release();
      wire.lead(undefined);
      await server.stop();
      await server.start();
      const log = await openLog({ url: server.url });
      const [jumped, whole] = [await log.claim(abandoned), await log.claim(ended)];
      expect(jumped.reader.extent()).toEqual({ oldest: given + LOSS_JUMP + 1, current: given + LOSS_JUMP });
      expect(await jumped.reader.read(0, { frames: 10, bytes: 1000 })).toEqual([]);
      expect(whole.reader.extent()).toEqual({ oldest: 1, current: given });
      await dead.close();
      await wire.close();
    });
  });

  describe('said to lose nothing', () => {
    /** One server that is killed together with the owner of a session of ten appends; another log, which was told of them. */
    const both = async (durable: boolean) => {
      server = await startRedis('--appendonly', 'yes', '--appendfsync', 'always');
      servers.push(server);
      const wire = await junction(server.port);
      const dead = await openLog({ url: `redis://127.0.0.1:${wire.port}` });
      const log = await openLog({ url: server.url, durable });
      const id = v7();
      const witness = new Witness(await dead.create(id, {}, forever));
      const follower = told(await log.reader(id));
      await witness.appendMany(10);
      await until('the follower was told of all', () => follower.entries.length === witness.promised.size);
      wire.lead(undefined);
      await server.stop('SIGKILL');
      const given = follower.entries.at(-1)?.sequence ?? 0;
      return { id, witness, log, given, end: () => Promise.all([dead.close(), wire.close()]) };
    };

    it('keeps the history of a session whose owner died while it restarted', async () => {
      const { id, witness, log, end } = await both(true);
      await server.start();
      const writer = await log.claim(id);
      expect(writer.reader.extent().oldest).toBe(1);
      await witness.expectAll(writer.reader);
      await end();
    });

    it('is not believed where a replica was told of more than it has, nor when it is set up otherwise meanwhile', async () => {
      const { id, log, given, end } = await both(true);
      await server.start('--appendfsync', 'everysec');
      expect((await log.claim(id)).reader.extent()).toEqual({ oldest: given + LOSS_JUMP + 1, current: given + LOSS_JUMP });
      await server.tell('CONFIG', 'SET', 'appendfsync', 'always');
      await server.tell('HINCRBY', keysOf('pty', id)?.meta ?? '', 'current', '-1');
      expect((await log.claim(id)).reader.extent()).toEqual({ oldest: given + 2 * LOSS_JUMP + 1, current: given + 2 * LOSS_JUMP });
      await end();
    });

    it('is refused where its settings say otherwise', async () => {
      server = await startRedis('--appendonly', 'yes');
      servers.push(server);
      await expect(openLog({ url: server.url, durable: true })).rejects.toThrow(
        'REDIS_DURABLE is true, but Redis has appendfsync everysec; expected always',
      );
    });
  });

  describe('when a replica is promoted that lacks the end', () => {
    let replica: RedisServer;
    let wire: Junction;
    beforeEach(async () => {
      server = await startRedis();
      replica = await startRedis();
      servers.push(server, replica);
      wire = await junction(server.port);
    });
    afterEach(async () => {
      await closeAll();
      await wire.close();
    });
    const url = () => `redis://127.0.0.1:${wire.port}`;
    /** The replica has all that was written so far. */
    const follow = async () => {
      await replica.tell('REPLICAOF', '127.0.0.1', `${server.port}`);
      await server.tell('SET', 'sign', v7());
      const sign = await server.tell('GET', 'sign');
      await until('the replica follows', async () => (await replica.tell('GET', 'sign')) === sign);
    };
    const detach = () => replica.tell('REPLICAOF', 'NO', 'ONE');

    it('writes what is lost again, the same under the same numbers', async () => {
      const lengths = fc.record({ before: fc.nat(60), lost: fc.nat(300), size: fc.integer({ min: 10, max: 3_000 }), amend: fc.boolean() });
      await fc.assert(
        fc.asyncProperty(lengths, async ({ before, lost, size, amend }) => {
          wire.lead(server.port);
          const log = await openLog({ url: url() });
          const id = v7();
          const writer = await log.create(id, { of: 'old' }, forever);
          const witness = new Witness(writer);
          await witness.appendMany(before, size);
          await follow();
          await detach();
          await witness.appendMany(lost, size);
          if (amend) await writer.amend({ of: 'new' });
          const more = witness.appendMany(100, size);
          wire.lead(replica.port);
          await more;
          await witness.appendMany(20, size);
          await witness.expectAll(await log.reader(id));
          expect(await log.record(id)).toEqual({ of: amend ? 'new' : 'old' });
          await log.close();
        }),
        { numRuns: 8 },
      );
    });

    it('tells a follower elsewhere of each entry once, in order, whatever it missed', async () => {
      const log = await openLog({ url: url() });
      const id = v7();
      const witness = new Witness(await log.create(id, {}, forever));
      await follow();
      await detach();
      const other = await openLog({ url: url() });
      const follower = told(await other.reader(id));
      await witness.appendMany(200);
      wire.lead(replica.port);
      await witness.appendMany(200);
      await until('the follower was told of the last', () => follower.entries.length >= witness.promised.size);
      expect(follower.entries.map(({ sequence }) => sequence)).toEqual([...witness.promised.keys()]);
    });

    it('jumps over what is lost when it is more than the writer still has', async () => {
      const warnings: object[] = [];
      const log = await openLog({ url: url(), logger: { warn: (fields) => warnings.push(fields) } });
      const id = v7();
      const writer = await log.create(id, {}, forever);
      const witness = new Witness(writer);
      await witness.appendMany(10);
      await follow();
      await detach();
      await witness.appendMany(5_000);
      const given = writer.reader.extent().current;
      wire.lead(replica.port);
      const [first] = await Promise.all([writer.append([{ kind: 'Output', id: v7(), ts: 1, body: Buffer.from('after') }])]);
      expect(first).toBeGreaterThan(given + LOSS_JUMP);
      expect(writer.reader.extent()).toEqual({ oldest: first, current: first });
      expect((await writer.reader.read(0, { frames: 10, bytes: 1000 })).map(({ sequence }) => sequence)).toEqual([first]);
      expect(warnings).toHaveLength(1);
    });

    it('does not give a session back to who lost it, though the claim is lost', async () => {
      const id = v7();
      const former = await openLog({ url: url() });
      const paused = await former.create(id, {}, forever);
      await new Witness(paused).appendMany(10);
      await follow();
      await detach();
      const log = await openLog({ url: url() });
      const writer = await log.claim(id);
      const first = await writer.append([{ kind: 'Output', id: v7(), ts: 1, body: Buffer.from('mine') }]);
      wire.lead(replica.port);
      const next = await writer.append([{ kind: 'Output', id: v7(), ts: 1, body: Buffer.from('still mine') }]);
      expect(next).toBeGreaterThan(first + LOSS_JUMP);
      await expect(paused.append([{ to: 'nobody' }])).rejects.toMatchObject({ failure: 'fenced' });
    });
  });

  it('goes on with the replica that a Sentinel promotes', async () => {
    const redis = await startWithSentinel();
    servers.push(redis);
    const log = await openLog(redis);
    const id = v7();
    const witness = new Witness(await log.create(id, {}, forever));
    const failover = (async () => {
      await sleep(200);
      await redis.master.stop('SIGKILL');
      await redis.promoted();
      await sleep(200);
    })();
    await witness.appendUntil(failover);
    await witness.expectAll(await log.reader(id));
  });
});
