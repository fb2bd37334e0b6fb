// A log with an archive behind it: the contract over each log, and what is of the archive only.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { v7 } from 'uuid';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Keyring, type NamedKey } from '../../src/keyring.js';
import { type ArchivedLog, type ArchivedLogOptions, archivedLog } from '../../src/log/archived/archived-log.js';
import type { Gap } from '../../src/log/archived/copy.js';
import { openEmbeddedLog } from '../../src/log/embedded/embedded-log.js';
import type { Log, LogReader, LogWriter, Numbered } from '../../src/log/log.js';
import { openRedisLog } from '../../src/log/redis/redis-log.js';
import { sealedLog } from '../../src/log/sealed/sealed-log.js';
import { needs } from '../support/needs.js';
import { type RedisServer, startRedis, until } from '../support/redis.js';
import { entry, logContract, nobody, type Over } from './contract.js';
import { embeddedBench } from './embedded-bench.js';
import { MemoryStore } from './memory-store.js';
import { redisBench } from './redis-bench.js';

/** What is kept on for no time at all leaves the log as it was. */
function over(): Over {
  const store = new MemoryStore();
  return (log, now) => archivedLog(log, { store, retentionSeconds: 0, hotSeconds: 0, segmentMs: 1, now });
}

logContract('the embedded log, archived,', () => embeddedBench({}, over()));

needs('redis-server')('over Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.dispose());

  logContract('the Redis log, archived,', () => redisBench({ url: server.url }, over()));

  describe('replicas with one archive', () => {
    let store: MemoryStore;
    let prefix: string;
    let time: number;
    const logs: ArchivedLog[] = [];
    const gaps: Gap[] = [];
    beforeEach(() => {
      store = new MemoryStore();
      prefix = `test-${v7()}`;
      time = 1_700_000_000_000;
      gaps.length = 0;
    });
    afterEach(async () => {
      await Promise.all(logs.splice(0).map((log) => log.close()));
    });

    async function replica(): Promise<ArchivedLog> {
      const now = () => time;
      const inner = await openRedisLog({ url: server.url, prefix, now });
      const log = archivedLog(inner, { store, retentionSeconds: DAY, hotSeconds: 0, segmentMs: 1, now, onGap: (gap) => gaps.push(gap) });
      logs.push(log);
      return log;
    }
    const redis = async (key: string): Promise<number> => Number(await server.tell('exists', key));
    const append = async (writer: LogWriter, from: number, to: number): Promise<void> => {
      for (let n = from; n <= to; n++) await writer.append([entry(`${n}`, time)]);
    };
    const upTo = (last: number) => Array.from({ length: last }, (_, n) => n + 1);

    it('go on where the owner before stopped, whatever that one still archives, and read each number once', async () => {
      const [one, two, three] = [await replica(), await replica(), await replica()];
      const first = await one.create('s', { owner: 1 }, { frames: 50, seconds: 10 });
      await append(first, 1, 20);
      const second = await two.claim('s', undefined, { owner: 2 });
      await append(second, 21, 30);
      await until('both have archived all', () => segmentsUpTo(store, 30).length >= 2);
      time += 60_000;
      await append(second, 31, 100);
      await until('the owner has archived all', () => segmentsUpTo(store, 100).length >= 1);
      const reader = await three.reader('s');
      expect(reader.extent()).toEqual({ oldest: 1, current: 100 });
      expect(sequences(await readAll(reader, 7))).toEqual(upTo(100));
      expect([store.replaced, gaps]).toEqual([[], []]);
    });

    it('see in what others archived what has just left the log', async () => {
      const [one, two] = [await replica(), await replica()];
      const writer = await one.create('s', {}, { frames: 5, seconds: 10 });
      const reader = await two.reader('s');
      await append(writer, 1, 20);
      await until('it is archived', () => segmentsUpTo(store, 20).length > 0);
      time += 60_000;
      await append(writer, 21, 40);
      expect(sequences(await readAll(reader, 7))).toEqual(upTo(40));
    });

    it('let Redis go of a session that has ended, and go on with its numbers', async () => {
      const [one, two] = [await replica(), await replica()];
      const writer = await one.create('s', {}, { frames: 50, seconds: 10 });
      await append(writer, 1, 20);
      const late = await two.reader('s');
      await Promise.all([one.settle('s'), two.settle('s')]);
      expect(sequences(await readAll(late, 7))).toEqual(upTo(20));
      const claimed = await two.claim('s');
      expect(claimed.reader.extent()).toEqual({ oldest: 1, current: 20 });
      expect(await claimed.append([nobody])).toBe(21);
      expect(await claimed.append([entry('22', time)])).toBe(22);
      const fresh = async () => (await replica()).reader('s');
      expect(sequences(await readAll(await fresh(), 7))).toEqual([...upTo(20), 22]);
      // Who does not know yet that it is no owner any more knows what it was told of.
      expect(sequences(await readAll(writer.reader, 7))).toEqual(upTo(20));
      await claimed.release();
      await two.settle('s');
      expect((await fresh()).extent()).toEqual({ oldest: 1, current: 22 });
      expect(await redis(`${prefix}:{s}:log`)).toBe(0);
    });
  });
});

const segmentsUpTo = (store: MemoryStore, last: number): string[] =>
  [...store.objects.keys()].filter((name) => name.startsWith('segments/') && name.includes(`-${String(last).padStart(16, '0')}-`));

const everything = { frames: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER };
const DAY = 86_400;
const small = { frames: 2, seconds: 10 };
const text = ({ body }: Numbered): string => Buffer.from(body).toString();
const sequences = (entries: readonly Numbered[]): number[] => entries.map(({ sequence }) => sequence);

describe('an archive behind a log', () => {
  let dir: string;
  let time = 0;
  let log: ArchivedLog;
  let store: MemoryStore;
  const gaps: Gap[] = [];
  const told: string[] = [];
  const now = () => time;

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'archived-'));
    time = 1_700_000_000_000;
    store = new MemoryStore();
    gaps.length = 0;
    told.length = 0;
    log = await open();
  });
  afterEach(async () => {
    await log.close();
    await rm(dir, { recursive: true });
  });

  async function open(options: Partial<ArchivedLogOptions> = {}): Promise<ArchivedLog> {
    const inner = await openEmbeddedLog({ dir: join(dir, 'log'), now });
    const onGap = (gap: Gap) => void gaps.push(gap);
    const onTrouble = (sentence: string) => void told.push(sentence);
    return archivedLog(inner, { store, retentionSeconds: DAY, hotSeconds: 0, segmentMs: 1, now, onGap, onTrouble, ...options });
  }

  async function reopen(options: Partial<ArchivedLogOptions> = {}): Promise<void> {
    await log.close();
    log = await open(options);
  }

  /** Appends one after another, `size` together. */
  async function write(writer: LogWriter, from: number, to: number, size = 5): Promise<void> {
    for (let n = from; n <= to; n += size) {
      await writer.append(Array.from({ length: Math.min(size, to - n + 1) }, (_, i) => entry(`${n + i}`, time)));
    }
  }

  const archivedUpTo = () =>
    Math.max(0, ...[...store.objects.keys()].map((name) => Number(/^segments\/.*\/\d+-(\d+)-/.exec(name)?.[1] ?? 0)));
  const isArchived = (upTo: number) => until(`${upTo} is archived`, () => archivedUpTo() >= upTo);

  it('keeps what has left the log, and gives both as one', async () => {
    const writer = await log.create('s', {}, small);
    await write(writer, 1, 20);
    await isArchived(20);
    time += 60_000;
    await write(writer, 21, 30);
    const { reader } = writer;
    expect(reader.extent()).toEqual({ oldest: 1, current: 30 });
    expect((await readAll(reader, 7)).map(text)).toEqual(Array.from({ length: 30 }, (_, n) => `${n + 1}`));
    expect(sequences(await reader.read(18, everything))[0]).toBe(19);
    expect(gaps).toEqual([]);
  });

  it('knows the newest entry of a kind that has left the log', async () => {
    const writer = await log.create('s', {}, small);
    await writer.append([entry('k1', time, 'Keyframe'), entry('k2', time, 'Keyframe'), entry('r', time, 'Resize')]);
    await isArchived(3);
    time += 60_000;
    await write(writer, 4, 9);
    await isArchived(9);
    time += 60_000;
    await write(writer, 10, 15);
    expect((await writer.reader.latest('Keyframe'))?.sequence).toBe(2);
    expect((await writer.reader.latest('Resize'))?.sequence).toBe(3);
    expect(await writer.reader.latest('Closed')).toBeUndefined();
  });

  it('is not asked for what is the newest in the log itself, so that a session can be taken over while its store is away', async () => {
    const writer = await log.create('s', {}, small);
    await write(writer, 1, 5);
    await isArchived(5);
    time += 60_000;
    await write(writer, 6, 10);
    store.refusal = new Error('the bucket is gone');
    const claimed = await log.claim('s');
    expect((await claimed.reader.latest('Output', 'log'))?.sequence).toBe(10);
    expect(await claimed.reader.latest('Closed', 'log')).toBeUndefined();
    expect(await claimed.append([entry('11', time)])).toBe(11);
    store.refusal = undefined;
  });

  it('keeps an entry until its time in the archive is over, and deletes it then', async () => {
    const writer = await log.create('s', {}, small);
    await write(writer, 1, 10);
    await isArchived(10);
    time += (DAY - 1) * 1000;
    await write(writer, 11, 20);
    await isArchived(20);
    expect(writer.reader.extent().oldest).toBe(1);
    time += 1000;
    await write(writer, 21, 21);
    expect(writer.reader.extent().oldest).toBe(11);
    expect(sequences(await readAll(writer.reader, 100))).toEqual(Array.from({ length: 11 }, (_, n) => n + 11));
    await until('the old segments are deleted', () => [...store.objects.keys()].every((name) => !name.includes('/0000000000000001-')));
  });

  it('goes on where the one before it stopped, after a restart and after another claim', async () => {
    const first = await log.create('s', {}, { frames: 100, seconds: 10 });
    await write(first, 1, 30);
    await reopen();
    const second = await log.claim('s');
    await write(second, 31, 60);
    const third = await log.claim('s');
    await write(third, 61, 70);
    await third.release();
    await isArchived(70);
    time += 60_000;
    await write(await log.claim('s'), 71, 300);
    const { reader } = await log.claim('s');
    expect(reader.extent()).toEqual({ oldest: 1, current: 300 });
    expect(sequences(await readAll(reader, 13))).toEqual(Array.from({ length: 300 }, (_, n) => n + 1));
    expect(store.replaced).toEqual([]);
  });

  it('holds nobody up while its store is away, and tells that once', async () => {
    await reopen({ segmentMs: 1 });
    const writer = await log.create('s', {}, { frames: 1_000, seconds: DAY });
    store.refusal = new Error('the bucket is gone');
    for (let n = 1; n <= 5; n++) {
      await write(writer, n, n);
      await until('it was tried', () => log.counts().failures > 0);
    }
    expect(log.trouble()).toBeUndefined();
    expect(told).toEqual(['the archive (memory) cannot be written: the bucket is gone']);
    store.refusal = undefined;
    await isArchived(5);
    expect(gaps).toEqual([]);
  });

  it('names what left the log while its store was away, and no cursor goes on from before that', async () => {
    const writer = await log.create('s', {}, small);
    await write(writer, 1, 10);
    await isArchived(10);
    store.refusal = new Error('the bucket is gone');
    await write(writer, 11, 20);
    time += 60_000;
    await write(writer, 21, 25);
    // Whatever was under way has failed, too.
    await expect(log.settle('s')).rejects.toMatchObject({ failure: 'unavailable' });
    store.refusal = undefined;
    await log.settle('s');
    expect(gaps).toEqual([{ sessionId: 's', from: 11, to: 20 }]);
    expect(log.counts()).toMatchObject({ gaps: 1, lostNumbers: 10 });
    time += 60_000;
    await write(writer, 26, 40);
    expect(writer.reader.extent()).toEqual({ oldest: 21, current: 40 });
    const all = sequences(await readAll(writer.reader, 100));
    expect(all).toEqual([...Array.from({ length: 10 }, (_, n) => n + 1), ...Array.from({ length: 20 }, (_, n) => n + 21)]);
  });

  it('takes numbers that keep nothing for no gap', async () => {
    const writer = await log.create('s', {}, { frames: 1, seconds: 1 });
    await write(writer, 1, 1);
    await isArchived(1);
    time += 60_000;
    await writer.append([nobody, nobody]);
    await writer.append([nobody, entry('5', time)]);
    await isArchived(5);
    expect(gaps).toEqual([]);
    expect(writer.reader.extent()).toEqual({ oldest: 1, current: 5 });
  });

  it('gives nothing of a segment that was damaged, and says which', async () => {
    const writer = await log.create('s', {}, small);
    await write(writer, 1, 10, 10);
    await isArchived(10);
    const [name, bytes] = [...store.objects].find(([key]) => key.startsWith('segments/')) as [string, Buffer];
    bytes[bytes.length - 1] = (bytes.at(-1) as number) ^ 1;
    time += 60_000;
    await write(writer, 11, 20);
    await expect(writer.reader.read(0, everything)).rejects.toMatchObject({ failure: 'corrupt', message: expect.stringContaining(name) });
    expect(log.damaged()).toEqual([expect.stringContaining('its checksum does not fit')]);
    expect(sequences(await writer.reader.read(10, everything))[0]).toBe(11);
  });

  it.each([
    ['cut short', (bytes: Buffer) => bytes.subarray(0, bytes.length - 30)],
    ['empty', () => Buffer.alloc(0)],
  ])('reads no segment that is %s', async (_, harm) => {
    const writer = await log.create('s', {}, small);
    await write(writer, 1, 10, 10);
    await isArchived(10);
    for (const [name, bytes] of store.objects) if (name.startsWith('segments/')) store.objects.set(name, harm(bytes));
    time += 60_000;
    await write(writer, 11, 20);
    await expect(writer.reader.read(0, everything)).rejects.toMatchObject({ failure: 'corrupt' });
  });

  describe('once a session has ended', () => {
    it('has all of it, whoever archived what', async () => {
      await reopen({ segmentMs: 600_000 });
      const writer = await log.create('s', { title: 'kept' }, { frames: 100, seconds: 10 });
      await write(writer, 1, 30);
      await writer.append([nobody]);
      await log.settle('s');
      expect(archivedUpTo()).toBe(31);
      expect(await log.record('s')).toEqual({ title: 'kept' });
      expect(sequences(await readAll(await log.reader('s'), 9))).toEqual(Array.from({ length: 30 }, (_, n) => n + 1));
    });

    it('rejects while its store is away, and is asked again', async () => {
      const writer = await log.create('s', {}, small);
      store.refusal = new Error('the bucket is gone');
      await write(writer, 1, 3);
      await expect(log.settle('s')).rejects.toMatchObject({ failure: 'unavailable' });
      store.refusal = undefined;
      await log.settle('s');
      expect(archivedUpTo()).toBe(3);
    });

    it('leaves nothing of it when it is removed', async () => {
      const writer = await log.create('s', {}, small);
      await write(writer, 1, 30);
      await isArchived(30);
      await writer.amend({ title: 'another' });
      await writer.release();
      await log.settle('s');
      expect(store.objects.size).toBeGreaterThan(1);
      await log.remove('s');
      expect([...store.objects.keys()]).toEqual([]);
      expect(await log.record('s')).toBeUndefined();
      await reopen({ restoreDelayMs: 1 });
      expect(await log.records()).toEqual([]);
    });

    it('is still known when it could not be removed from the archive', async () => {
      const writer = await log.create('s', {}, small);
      await write(writer, 1, 5);
      await isArchived(5);
      store.refusal = new Error('the bucket is gone');
      await expect(log.remove('s')).rejects.toMatchObject({ failure: 'unavailable' });
      expect(await log.record('s')).toEqual({});
      store.refusal = undefined;
      await log.remove('s');
      expect(store.objects.size).toBe(0);
    });
  });

  describe('where the log lost its sessions', () => {
    async function lose(): Promise<void> {
      await log.close();
      await rm(join(dir, 'log'), { recursive: true });
      log = await open({ restoreDelayMs: 1 });
      await until('they are there again', async () => (await log.records()).length > 0);
    }

    it('begins one that had ended again, whole, and gives no number twice', async () => {
      const writer = await log.create('s', { title: 'kept' }, small);
      await write(writer, 1, 20);
      await log.settle('s');
      await lose();
      await until('it is whole', async () => (await log.reader('s')).extent().oldest === 1);
      const again = await log.claim('s');
      expect(await log.record('s')).toEqual({ title: 'kept' });
      expect(sequences(await readAll(again.reader, 9))).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
      expect(await again.append([nobody])).toBeGreaterThan(2 ** 20);
      await again.append([entry('more', time)]);
      await again.release();
      await log.settle('s');
      await reopen();
      expect((await log.reader('s')).extent().oldest).toBe(1);
    });

    it('shows what there is of one that still ran, but no cursor goes on from before', async () => {
      const writer = await log.create('s', {}, small);
      await write(writer, 1, 20);
      await isArchived(20);
      await lose();
      const { reader } = await log.claim('s');
      expect(reader.extent().oldest).toBeGreaterThan(20);
      expect(sequences(await readAll(reader, 9))).toEqual(Array.from({ length: 20 }, (_, n) => n + 1));
    });
  });

  describe('under a seal', () => {
    const key: NamedKey = { kid: 'first', key: Buffer.alloc(32, 1) };

    async function sealed(): Promise<{ readonly log: Log; readonly writer: LogWriter }> {
      const sealing = sealedLog(log, new Keyring([key]));
      const writer = await sealing.create('s', { title: 'a plain title' }, small);
      await writer.append(Array.from({ length: 10 }, () => entry('a plain body', time)));
      await isArchived(10);
      await sealing.settle?.('s');
      time += 60_000;
      await writer.append(Array.from({ length: 5 }, () => entry('more', time)));
      return { log: sealing, writer };
    }

    it('keeps no word that can be read', async () => {
      const { writer } = await sealed();
      expect((await readAll(writer.reader, 9)).map(text)).toEqual([...Array(10).fill('a plain body'), ...Array(5).fill('more')]);
      const stored = Buffer.concat([...store.objects.values()]);
      expect(stored.includes('plain')).toBe(false);
    });

    it("gives nothing of another session's segment that was put under its name", async () => {
      const { log: sealing } = await sealed();
      const other = await sealing.create('t', { title: 'another' }, small);
      await other.append(Array.from({ length: 10 }, () => entry('of another', time)));
      await sealing.settle?.('t');
      const [own = '', foreign = ''] = ['segments/s/', 'segments/t/'].map((folder) =>
        [...store.objects.keys()].find((name) => name.startsWith(folder)),
      );
      expect([own, foreign]).not.toContain('');
      store.objects.set(own, store.objects.get(foreign) as Buffer);
      const reader = await sealing.reader('s');
      await expect(readAll(reader, 5)).rejects.toMatchObject({ failure: 'corrupt' });
    });

    it('gives nothing without its key', async () => {
      await sealed();
      const without = sealedLog(log, new Keyring([]));
      await expect(without.reader('s')).rejects.toMatchObject({ failure: 'corrupt', message: expect.stringContaining('"first"') });
      const wrong = sealedLog(log, new Keyring([{ kid: 'first', key: Buffer.alloc(32, 2) }]));
      await expect(wrong.reader('s')).rejects.toMatchObject({ failure: 'corrupt', message: expect.stringContaining('another key') });
    });
  });

  it('gives each entry that was taken, or names it as lost, whatever happens', async () => {
    type Do = 'append' | 'wait' | 'restart' | 'claim' | 'refuse' | 'answer' | 'archive';
    const todo = fc.array(
      fc.record({
        do: fc.constantFrom<Do>('append', 'append', 'append', 'wait', 'restart', 'claim', 'refuse', 'answer', 'archive'),
        drafts: fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }),
      }),
      { maxLength: 30 },
    );
    const retentions = fc.record({ frames: fc.integer({ min: 1, max: 8 }), seconds: fc.integer({ min: 1, max: 4 }) });
    await fc.assert(
      fc.asyncProperty(retentions, todo, async (retention, steps) => {
        store.refusal = undefined;
        gaps.length = 0;
        const id = v7();
        let writer = await log.create(id, {}, retention);
        const taken: number[] = [];
        for (const step of steps) {
          if (step.do === 'append') {
            const first = await writer.append(step.drafts.map((isEntry, i) => (isEntry ? entry(`${i}`, time) : nobody)));
            taken.push(...step.drafts.flatMap((isEntry, i) => (isEntry ? first + i : [])));
          } else if (step.do === 'wait') time += 3_000;
          else if (step.do === 'restart') await reopen();
          else if (step.do === 'refuse') store.refusal = new Error('away');
          else if (step.do === 'answer') store.refusal = undefined;
          else if (step.do === 'archive') await log.settle(id).catch(() => undefined);
          if (['restart', 'claim', 'archive'].includes(step.do)) writer = await log.claim(id);
        }
        store.refusal = undefined;
        await log.settle(id);
        const all = sequences(await readAll(writer.reader, 3));
        const { oldest } = writer.reader.extent();
        const isLost = (n: number) => gaps.some(({ sessionId, from, to }) => sessionId === id && n >= from && n <= to);
        expect(new Set(all).size).toBe(all.length);
        expect(all).toEqual(all.toSorted((a, b) => a - b));
        expect(all.filter((n) => !taken.includes(n))).toEqual([]);
        for (const n of taken.filter((one) => !all.includes(one))) {
          expect(isLost(n)).toBe(true);
          expect(n).toBeLessThan(oldest);
        }
        await log.remove(id);
        expect([...store.objects.keys()].filter((name) => name.includes(id))).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

/** From the beginning, so many at a time. */
async function readAll(reader: LogReader, frames: number): Promise<Numbered[]> {
  const all: Numbered[] = [];
  for (let after = 0; ; after = all.at(-1)?.sequence ?? after) {
    const piece = await reader.read(after, { frames, bytes: 1_000_000 });
    if (piece.length === 0) return all;
    all.push(...piece);
  }
}
