// A log that nobody can read where it is stored: the contract over each store, and what is of the seal only.
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 } from 'uuid';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Keyring, type NamedKey } from '../../src/keyring.js';
import { openEmbeddedLog } from '../../src/log/embedded/embedded-log.js';
import type { Entry, Log } from '../../src/log/log.js';
import { openRedisLog } from '../../src/log/redis/redis-log.js';
import { sealedLog } from '../../src/log/sealed/sealed-log.js';
import { needs } from '../support/needs.js';
import { type RedisServer, startRedis } from '../support/redis.js';
import { entry, logContract } from './contract.js';
import { embeddedBench } from './embedded-bench.js';
import { redisBench } from './redis-bench.js';

const forever = { frames: 1_000, seconds: 86_400 };
const everything = { frames: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER };
const key = (kid: string, byte: number): NamedKey => ({ kid, key: Buffer.alloc(32, byte) });
const [first, second, third] = [key('first', 1), key('second', 2), key('third', 3)];
const over = (log: Log) => sealedLog(log, new Keyring([first]));

logContract('the embedded log, sealed,', () => embeddedBench({}, over));

needs('redis-server')('over Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.dispose());

  logContract('the Redis log, sealed,', () => redisBench({ url: server.url }, over));

  it('is opened once for all who follow at another replica', async () => {
    const options = { url: server.url, prefix: 'followed' };
    const [here, there] = [over(await openRedisLog(options)), over(await openRedisLog(options))];
    const id = v7();
    const writer = await here.create(id, {}, forever);
    const reader = await there.reader(id);
    const told = [1, 2].map(() => new Promise<Uint8Array | undefined>((heard) => reader.follow(([first]) => heard(first?.body))));
    await writer.append([entry('a plain body', Date.now())]);
    const [one, other] = await Promise.all(told);
    expect(Buffer.from(one ?? []).toString()).toBe('a plain body');
    expect(other).toBe(one);
    await Promise.all([here.close(), there.close()]);
  });
});

describe('a sealed log', () => {
  let dir: string;
  let log: Log;
  /** Where it is stored, as whoever can write there has it. */
  let inner: Log;
  const told: string[] = [];
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'log-'));
    told.length = 0;
  });
  afterEach(async () => {
    await log.close();
    await rm(dir, { recursive: true });
  });

  /** The same store, with other keys. */
  async function open(...keys: NamedKey[]): Promise<Log> {
    await log?.close();
    inner = await openEmbeddedLog({ dir });
    log = sealedLog(inner, new Keyring(keys), (sentence) => told.push(sentence));
    return log;
  }
  const begin = async (id = v7()) => {
    const writer = await log.create(id, { title: 'a plain title' }, forever);
    await writer.append([entry('a plain body', Date.now())]);
    await writer.release();
    return id;
  };
  const bodies = async (id: string) => (await (await log.reader(id)).read(0, everything)).map(({ body }) => Buffer.from(body).toString());
  async function files(): Promise<string[]> {
    const entries = await readdir(dir, { recursive: true, withFileTypes: true });
    return entries.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  }

  it('leaves no word of what it keeps on the disk', async () => {
    await open(first);
    const id = await begin();
    expect(await bodies(id)).toEqual(['a plain body']);
    await log.close();
    const stored = Buffer.concat(await Promise.all((await files()).map((path) => readFile(path))));
    expect(stored.includes('plain')).toBe(false);
    expect(stored.includes(Buffer.from('a plain title').toString('base64').slice(2, -2))).toBe(false);
  });

  it('opens with any key what was sealed with it, and goes on with the key that the session began with', async () => {
    await open(first);
    const id = await begin();
    await open(second, first);
    const writer = await log.claim(id);
    await writer.append([entry('more', Date.now())]);
    await writer.amend({ title: 'another' });
    await writer.release();
    await begin();
    await open(first);
    expect(await bodies(id)).toEqual(['a plain body', 'more']);
    expect(await log.record(id)).toEqual({ title: 'another' });
    expect(await log.records()).toEqual([{ sessionId: id, record: { title: 'another' } }]);
    expect(told).toEqual([expect.stringMatching(/is sealed with the key "second", which REPLAY_ENCRYPTION_KEYS does not have$/)]);
  });

  it.each([
    ['no key', [], 'it is sealed with the key "first", which REPLAY_ENCRYPTION_KEYS does not have'],
    ['others', [second, third], 'it is sealed with the key "first", which REPLAY_ENCRYPTION_KEYS does not have'],
    [
      'another key of the same name',
      [{ ...second, kid: 'first' }],
      'it does not open with the key "first": that is another key, or what is stored was changed',
    ],
  ])('names with %s what it cannot open, once, and gives nothing of it', async (_, keys, why) => {
    await open(first);
    const id = await begin();
    await open(...keys);
    expect(await log.record(id)).toBeUndefined();
    expect(await log.records()).toEqual([]);
    expect(log.damaged()).toEqual([`session ${id} cannot be read here: ${why}`]);
    expect(told).toEqual(log.damaged());
    expect(log.trouble()).toBeUndefined();
    const failure = { name: 'LogError', failure: 'corrupt', message: expect.stringContaining(why) };
    await expect(log.reader(id)).rejects.toMatchObject(failure);
    await expect(log.claim(id)).rejects.toMatchObject(failure);
  });

  it('leaves sessions of before there were keys as they are, and seals those that begin', async () => {
    await open();
    const plain = await begin();
    await open(first);
    const sealed = await begin();
    const writer = await log.claim(plain);
    await writer.append([entry('more', Date.now())]);
    await writer.release();
    expect([await bodies(plain), await bodies(sealed)]).toEqual([['a plain body', 'more'], ['a plain body']]);
    await open();
    expect([await bodies(plain), (await log.records()).length]).toEqual([['a plain body', 'more'], 1]);
  });

  it('gives whoever follows what was sealed here, and does not open it for them', async () => {
    await open(first);
    const writer = await log.create(v7(), {}, forever);
    const told: Uint8Array[] = [];
    writer.reader.follow((entries) => told.push(...entries.map(({ body }) => body)));
    const draft = entry('a plain body', Date.now());
    await writer.append([draft]);
    expect(told[0]).toBe(draft.body);
  });

  it.each<[string, (entry: Entry) => Entry]>([
    ["of another session's", (stolen) => stolen],
    [
      'with one bit changed',
      ({ body, ...stolen }) => ({ ...stolen, body: body.map((byte, i) => (i === body.length - 1 ? byte ^ 1 : byte)) }),
    ],
    ['cut short', ({ body, ...stolen }) => ({ ...stolen, body: body.subarray(0, -1) })],
    ['of another kind', (stolen) => ({ ...stolen, kind: 'Keyframe' })],
    ['of another time', (stolen) => ({ ...stolen, ts: stolen.ts + 1 })],
    ['in the clear', (stolen) => ({ ...stolen, body: Buffer.from('a plain body') })],
  ])('gives nothing of an entry that somebody without the key has put there: %s', async (what, change) => {
    await open(first);
    const [one, other] = [await begin(), await begin()];
    const [stolen] = await (await inner.reader(one)).read(0, everything);
    const into = what.startsWith('of another session') ? other : one;
    const forger = await inner.claim(into);
    await forger.append([change(stolen as Entry)]);
    await forger.release();
    await expect(bodies(into)).rejects.toMatchObject({ name: 'LogError', failure: 'corrupt' });
  });

  it("does not open a record that was put in the place of another session's", async () => {
    await open(first);
    const [one, other] = [await begin(), await begin()];
    await log.close();
    const records = (await files()).filter((path) => path.endsWith('.json'));
    const of = (id: string) => records.find((path) => path.includes(id)) as string;
    await writeFile(of(other), await readFile(of(one)));
    await open(first);
    expect(await log.record(one)).toEqual({ title: 'a plain title' });
    expect(await log.record(other)).toBeUndefined();
    expect(log.damaged()).toHaveLength(1);
  });
});
