// What a log keeps that several processes share: one suite for each kind of Redis. Here a process is a log of its own.
import { Cluster } from 'ioredis';
import { v7 } from 'uuid';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FIRST_EPOCH, type Log } from '../../src/log/log.js';
import { keysOf, type SessionKeys } from '../../src/log/redis/keys.js';
import { openRedisLog } from '../../src/log/redis/redis-log.js';
import type { Client } from '../../src/redis/client.js';
import { connect, type RedisAddress } from '../../src/redis/connect.js';
import { until } from '../support/redis.js';
import { entry } from './contract.js';
import { told, Witness } from './redis-witness.js';

const forever = { frames: 1_000_000, seconds: 86_400 };
const everything = { frames: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER };
const isWrong = () => false;
const isUnknown = (error: { failure?: string }) => error.failure === 'unknown_session';
const draft = (body: string) => entry(body, Date.now());

export function sharedLog(name: string, address: () => RedisAddress): void {
  describe(`${name} is shared by processes`, () => {
    let prefix: string;
    let one: Log;
    let other: Log;
    let client: Client;
    const logs: Log[] = [];
    const open = async (lookMs = 600_000): Promise<Log> => {
      const log = await openRedisLog({ ...address(), prefix, lookMs });
      logs.push(log);
      return log;
    };
    beforeEach(async () => {
      prefix = `test-${v7()}`;
      client = connect(address(), { enableOfflineQueue: true });
      [one, other] = [await open(), await open()];
    });
    afterEach(async () => {
      await Promise.all(logs.splice(0).map((log) => log.close()));
      client.disconnect();
    });

    it('tells those who follow elsewhere of each append as the writer tells those here', async () => {
      const id = v7();
      const writer = await one.create(id, {}, { frames: 5, seconds: 0 });
      const reader = await other.reader(id);
      const [here, there]: [unknown[], unknown[]] = [[], []];
      const bodies = (list: readonly { readonly body: Uint8Array }[]) =>
        list.map((one) => ({ ...one, body: Buffer.from(one.body).toString() }));
      reader.follow((entries, extent, places) => there.push([bodies(entries), extent, places]));
      await until('it is listening', async () => {
        await writer.append([draft('knock')]);
        return there.length > 0;
      });
      await until('all is told', () => reader.extent().current === writer.reader.extent().current);
      there.length = 0;
      writer.reader.follow((entries, extent, places) => here.push([bodies(entries), extent, places]));
      const appends = Array.from({ length: 20 }, (_, n) => writer.append([draft(`é${n}`), { to: 'somebody' }, draft('')]));
      appends.push(writer.append([{ to: 'nobody' }]));
      await Promise.all(appends);
      await until('all is told', () => there.length >= here.length);
      expect(there).toEqual(here);
    });

    it('tells who begins to follow while much is written of all that comes after, once and in order', async () => {
      const id = v7();
      const witness = new Witness(await one.create(id, {}, forever));
      const writing = witness.appendMany(400, 2_000);
      const followers = [];
      for (let n = 0; n < 4; n++) {
        followers.push(told(await (await open()).reader(id)));
      }
      await writing;
      const last = [...witness.promised.keys()].at(-1) ?? 0;
      for (const { entries, from } of followers) {
        await until('the last is told', () => (entries.at(-1)?.sequence ?? from) >= last);
        expect(entries.map(({ sequence }) => sequence)).toEqual([...witness.promised.keys()].filter((sequence) => sequence > from));
      }
    });

    it('warns that places are unknown before it tells what it read afterwards', async () => {
      const id = v7();
      const writer = await one.create(id, {}, forever);
      const reader = await other.reader(id);
      await writer.append([draft('a'), { to: 'somebody' }, draft('b')]);
      const heard: unknown[] = [];
      reader.onGap?.((after, upTo) => heard.push(['gap', after, upTo]));
      reader.follow((entries, extent, places) => heard.push([entries.map(({ sequence }) => sequence), extent, places]));
      await until('it is told', () => heard.length === 2);
      expect(heard).toEqual([
        ['gap', 0, 3],
        [[1, 3], { oldest: 1, current: 3 }, []],
      ]);
    });

    it('is told of those sessions alone that somebody here follows', async () => {
      const [followed, left] = [v7(), v7()];
      for (const id of [followed, left]) await one.create(id, {}, forever);
      const nodes = client instanceof Cluster ? client.nodes('master') : [client];
      const listeners = async (id: string) => {
        const channel = `${prefix}:{${id}}:live`;
        const counts = await Promise.all(nodes.map((node) => node.call('PUBSUB', 'SHARDNUMSUB', channel) as Promise<[string, number]>));
        return counts.reduce((sum, [, count]) => sum + count, 0);
      };
      const stops = await Promise.all([followed, followed, left].map(async (id) => (await other.reader(id)).follow(() => {})));
      await until('it listens once to each', async () => (await listeners(followed)) === 1 && (await listeners(left)) === 1);
      stops[2]?.();
      stops[1]?.();
      await until('it listens to one no more', async () => (await listeners(left)) === 0);
      expect(await listeners(followed)).toBe(1);
      stops[0]?.();
      await until('it listens to none', async () => (await listeners(followed)) === 0);
    });

    it('passes over a message that it cannot read, and misses nothing', async () => {
      const id = v7();
      const writer = await one.create(id, {}, forever);
      const reader = await other.reader(id);
      const heard: number[] = [];
      reader.follow((entries) => void heard.push(...entries.map(({ sequence }) => sequence)));
      const { live } = keysOf(prefix, id) as SessionKeys;
      const say = (words: string) => client.spublish(live, words) as Promise<number>;
      await until('it is listening', async () => (await say('')) > 0);
      for (const words of ['no line', 'no JSON\n1\n', '{"first":1}\n1\n', 'null\n1\n']) await say(words);
      await writer.append([draft('a')]);
      await until('it is told', () => heard.length > 0);
      expect(heard).toEqual([1]);
    });

    it('tells elsewhere of bodies of any size as they are, and takes none for news or for another', async () => {
      const id = v7();
      const writer = await one.create(id, {}, forever);
      const reader = await other.reader(id);
      const heard: string[] = [];
      const gaps: unknown[] = [];
      reader.onGap?.((...gap) => gaps.push(gap));
      reader.follow((entries) => void heard.push(...entries.map(({ body }) => Buffer.from(body).toString())));
      const { bodies } = keysOf(prefix, id) as SessionKeys;
      const say = (words: string) => client.spublish(bodies, words) as Promise<number>;
      await until('it is listening', async () => (await say('a body of nothing')) > 0);
      await until('it is told', async () => {
        await writer.append([draft('knock')]);
        return heard.length > 0;
      });
      await until('all is told', () => reader.extent().current === writer.reader.extent().current);
      heard.length = gaps.length = 0;
      const news = '{"first":1,"calls":[[1,1]],"entries":[[1,"Output","id",0,8]],"places":[]}\n1\nforged!!';
      const said = [news, 'a', 'b'.repeat(5_000), news.repeat(100), '', 'c'.repeat(70_000), 'd'.repeat(70_000), 'é'];
      await Promise.all(said.map((body) => writer.append([draft(body)])));
      await writer.append(said.map(draft));
      await say(news);
      await writer.append([draft('end')]);
      await until('the end is told', () => heard.at(-1) === 'end');
      expect(heard).toEqual([...said, ...said, 'end']);
      expect(gaps).toEqual([]);
    });

    it('lets one alone of those who saw the same epoch claim a session', async () => {
      const id = v7();
      await (await one.create(id, {}, forever)).append([draft('a')]);
      const logs = [other, await open(), await open()];
      const claims = await Promise.allSettled(logs.map((log, n) => log.claim(id, FIRST_EPOCH, { n })));
      expect(claims.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected']);
      for (const claim of claims) if (claim.status === 'rejected') expect(claim.reason).toMatchObject({ failure: 'fenced' });
      expect(await one.record(id)).toEqual({ n: claims.findIndex(({ status }) => status === 'fulfilled') });
      await expect(one.claim(id, FIRST_EPOCH, {})).rejects.toMatchObject({ failure: 'fenced' });
      await expect(one.claim(id, FIRST_EPOCH + 1, {})).resolves.toBeDefined();
    });

    it('fences a writer in another process, and loses nothing of what it was given before', async () => {
      const id = v7();
      const first = await one.create(id, {}, forever);
      const told: number[] = [];
      first.reader.follow((entries) => told.push(...entries.map(({ sequence }) => sequence)));
      const appends = Promise.allSettled(Array.from({ length: 300 }, (_, n) => first.append([draft(`${n}`)])));
      const second = await other.claim(id);
      const current = second.reader.extent().current;
      expect(await second.append([draft('mine')])).toBe(current + 1);
      const outcomes = await appends;
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(current);
      for (const [n, outcome] of outcomes.entries()) {
        if (outcome.status === 'fulfilled') expect(outcome.value).toBe(n + 1);
        else expect(outcome.reason).toMatchObject({ failure: 'fenced' });
      }
      await expect(first.amend({})).rejects.toMatchObject({ failure: 'fenced' });
      await until('the follower of the first hears the second', () => told.at(-1) === current + 1);
      expect(told).toEqual(Array.from({ length: current + 1 }, (_, n) => n + 1));
    });

    it('finds out about another owner, and a session that was removed, though nothing is written here', async () => {
      const attentive = await open(20);
      const [claimed, removed] = [v7(), v7()];
      const [fenced, gone] = [await attentive.create(claimed, {}, forever), await attentive.create(removed, {}, forever)];
      const follower = told(fenced.reader);
      const second = await one.claim(claimed);
      await until('the new owner is heard', async () => {
        await second.append([draft('mine')]);
        return follower.entries.length > 0;
      });
      await expect(fenced.append([draft('x')])).rejects.toMatchObject({ failure: 'fenced' });
      await one.remove(removed);
      await until('the removed one is gone', () => gone.reader.read(0, everything).then(isWrong, isUnknown));
      await expect(gone.append([draft('x')])).rejects.toMatchObject({ failure: 'unknown_session' });
    });

    it('lists thousands of sessions', async () => {
      const ids = Array.from({ length: 2_000 }, () => v7());
      await Promise.all(ids.map((id) => one.create(id, { id }, forever)));
      expect(await other.records()).toEqual(ids.sort().map((sessionId) => ({ sessionId, record: { id: sessionId } })));
    });

    it('finds sessions again that the list of sessions has lost, and forgets those that are only on the list', async () => {
      const ids = Array.from({ length: 5 }, () => v7()).sort();
      for (const id of ids) await one.create(id, {}, forever);
      await client.del(`${prefix}:{index}:sessions`);
      expect(await one.records()).toEqual([]);
      const late = await open();
      await until('the list is mended', async () => (await late.records()).length === 5);
      expect((await late.records()).map(({ sessionId }) => sessionId)).toEqual(ids);
      await client.zadd(`${prefix}:{index}:sessions`, 1, 'never-made');
      expect((await late.records()).map(({ sessionId }) => sessionId)).toEqual(ids);
      expect(await client.zcard(`${prefix}:{index}:sessions`)).toBe(5);
    });

    it('keeps every key of a session in one slot, under the prefix, and for a time that ends', async () => {
      const id = v7();
      const writer = await one.create(id, {}, { frames: 10, seconds: 60 });
      await writer.append([draft('a')]);
      const nodes = client instanceof Cluster ? client.nodes('master') : [client];
      const keys = (await Promise.all(nodes.map((node) => node.keys(`${prefix}:*`)))).flat().filter((key) => key.includes(id));
      expect(keys.sort()).toEqual(['log', 'meta', 'times'].map((part) => `${prefix}:{${id}}:${part}`));
      for (const key of keys) expect(await client.pttl(key)).toBeGreaterThan(86_400_000);
    });

    it('leaves out a session whose record cannot be read, and names it', async () => {
      const [good, bad] = [v7(), v7()];
      for (const id of [good, bad]) await one.create(id, {}, forever);
      await client.hset(`${prefix}:{${bad}}:meta`, 'record', '{');
      expect((await other.records()).map(({ sessionId }) => sessionId)).toEqual([good]);
      expect(await other.record(bad)).toBeUndefined();
      expect([other.trouble(), other.damaged()]).toEqual([undefined, [`session ${bad}: its record in Redis is not JSON`]]);
      await other.remove(bad);
      expect(other.damaged()).toEqual([]);
    });
  });
}
