// What a later version of the gateway has written is refused in words, and is there as it was when that version comes back.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Access } from '../../src/log/archived/access.js';
import { segmentName } from '../../src/log/archived/names.js';
import { newestRecord, putRecord } from '../../src/log/archived/records.js';
import { decodeSegment, encodeSegment } from '../../src/log/archived/segment.js';
import { openEmbeddedLog } from '../../src/log/embedded/embedded-log.js';
import { decode, encode } from '../../src/log/embedded/framing.js';
import { FORMAT } from '../../src/log/format.js';
import { formatKey } from '../../src/log/redis/format.js';
import { openRedisLog } from '../../src/log/redis/redis-log.js';
import { needs } from '../support/needs.js';
import { startRedis } from '../support/redis.js';
import { entry } from './contract.js';
import { MemoryStore } from './memory-store.js';

const retention = { frames: 1000, seconds: 86_400 };
const everything = { frames: 1000, bytes: 1_000_000 };
const LATER = /was written by a later version \(format 2; this version reads 1\), and is left as it is/;

/** The same JSON, as the next version writes it. */
const later = (text: string): string => text.replace(`"format":${FORMAT}`, `"format":${FORMAT + 1}`);

describe('a session of the embedded log', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'later-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  it('that a later version wrote is named and left alone, beside others that work', async () => {
    const before = await openEmbeddedLog({ dir });
    for (const id of ['later', 'now']) await (await before.create(id, { id }, retention)).append([entry('x', Date.now())]);
    await before.close();
    const file = join(dir, 'sessions', 'later', 'record.json');
    const written = later(await readFile(file, 'utf8'));
    await writeFile(file, written);

    const said: string[] = [];
    const log = await openEmbeddedLog({ dir, onTrouble: (sentence) => said.push(sentence) });
    expect((await log.records()).map(({ sessionId }) => sessionId)).toEqual(['now']);
    expect(said).toEqual([expect.stringMatching(LATER)]);
    for (const refused of [log.claim('later'), log.reader('later')])
      await expect(refused).rejects.toMatchObject({ failure: 'corrupt', message: expect.stringMatching(LATER) });
    await expect(log.create('later', {}, retention)).rejects.toMatchObject({ failure: 'exists' });
    await log.close();

    expect(await readFile(file, 'utf8')).toBe(written);
    await writeFile(file, written.replace(`"format":${FORMAT + 1}`, `"format":${FORMAT}`));
    const back = await openEmbeddedLog({ dir });
    expect(await (await back.reader('later')).read(0, everything)).toMatchObject([{ sequence: 1 }]);
    await back.close();
  });
});

describe('in an archive', () => {
  const record = { format: FORMAT, retention, isComplete: true, record: {} } as const;
  const access = () => {
    const store = new MemoryStore();
    return { store, access: store as unknown as Access };
  };

  it('a segment of a later version is refused by name', () => {
    const segment = { from: 1, to: 1, newest: { Output: 1 }, entries: [{ ...entry('x', 1), sequence: 1 }] };
    const named = { session: 's', name: segmentName('s', { from: 1, to: 1, newestMs: 1 }, 'ab') };
    const bytes = encodeSegment(named, segment);
    expect(decodeSegment(named, bytes).entries).toHaveLength(1);
    const head = decode(bytes, 0, 0);
    if (head.is !== 'whole') throw new Error('no head');
    // The number has one digit more or less in neither: the length stays.
    encode({ ...head.record, body: Buffer.from(later(Buffer.from(head.record.body).toString())) }, bytes, 0);
    expect(() => decodeSegment(named, bytes)).toThrow(LATER);
  });

  it('an older record does not stand in for one that a later version wrote', async () => {
    const { store, access: archive } = access();
    await putRecord(archive, 's', { ...record, current: 1 }, 1, 'w');
    expect(await newestRecord(archive, 's')).toMatchObject({ current: 1 });
    await putRecord(archive, 's', { ...record, format: FORMAT + 1, current: 2 } as never, 2, 'w');
    const kept = [...store.objects];
    expect(await newestRecord(archive, 's')).toBeUndefined();
    expect([...store.objects]).toEqual(kept);
  });
});

needs('redis-server', 'redis-cli')('a Redis', () => {
  it('that a later version uses is refused before anything in it is touched; one that nobody has used is told the format', async () => {
    const redis = await startRedis();
    const options = { url: redis.url, prefix: 'pty' };
    try {
      const log = await openRedisLog(options);
      await (await log.create('s', {}, retention)).append([entry('x', Date.now())]);
      await log.close();
      expect(await redis.tell('GET', formatKey('pty'))).toBe(`${FORMAT}`);
      await redis.tell('SET', formatKey('pty'), `${FORMAT + 1}`);
      const keys = (await redis.tell('KEYS', '*')).split('\n').sort();
      await expect(openRedisLog(options)).rejects.toMatchObject({ failure: 'unavailable', message: expect.stringMatching(LATER) });
      expect((await redis.tell('KEYS', '*')).split('\n').sort()).toEqual(keys);
      expect(await redis.tell('GET', formatKey('pty'))).toBe(`${FORMAT + 1}`);
    } finally {
      await redis.dispose();
    }
  });
});
