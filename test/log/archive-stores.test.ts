// What an archive asks of its store, of each kind that there is: one suite, on a real disk and on a server that speaks as S3 does.

import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openDirectoryStore } from '../../src/log/archived/directory.js';
import { s3Store } from '../../src/log/archived/s3.js';
import type { ArchiveStore } from '../../src/log/archived/store.js';
import { needs } from '../support/needs.js';
import { S3_PROGRAM, type S3Server, startS3 } from '../support/s3.js';

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const placeOf = ({ bucket, endpoint }: S3Server) => ({ bucket, prefix: '', endpoint, pathStyle: true });

/** A store with nothing in it, each time. */
function storeContract(make: () => Promise<ArchiveStore>): void {
  let store: ArchiveStore;
  beforeEach(async () => {
    store = await make();
  });
  afterEach(() => store.close());

  it('gives back what was put there, byte for byte', async () => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, n) => n % 256));
    await store.put('segments/a/1', bytes);
    await store.put('segments/a/empty', Buffer.alloc(0));
    expect(await store.get('segments/a/1')).toEqual(bytes);
    expect(await store.get('segments/a/empty')).toEqual(Buffer.alloc(0));
  });

  it('has one object of a name, the last', async () => {
    await store.put('records/a/1', Buffer.from('one'));
    await store.put('records/a/1', Buffer.from('another'));
    expect(await store.get('records/a/1')).toEqual(Buffer.from('another'));
    expect(await store.list('records/')).toEqual(['records/a/1']);
  });

  it('knows nothing of what is not there', async () => {
    expect(await store.get('segments/a/1')).toBeUndefined();
    expect(await store.list('segments/a/')).toEqual([]);
    await store.delete(['segments/a/1']);
  });

  it('lists by the beginning of a name, in order', async () => {
    for (const name of ['segments/b/2', 'segments/a/2', 'segments/a/1', 'segments/ab/1', 'records/a/1'])
      await store.put(name, Buffer.from('x'));
    expect(await store.list('segments/a/')).toEqual(['segments/a/1', 'segments/a/2']);
    expect(await store.list('segments/')).toEqual(['segments/a/1', 'segments/a/2', 'segments/ab/1', 'segments/b/2']);
  });

  it('takes names as sessions have them, escaped', async () => {
    const name = `segments/${encodeURIComponent("ü (1)!*'~ +%&=?#")}/1`;
    await store.put(name, Buffer.from('x'));
    expect(await store.list(name.slice(0, -1))).toEqual([name]);
    expect(await store.get(name)).toEqual(Buffer.from('x'));
    await store.delete([name]);
    expect(await store.get(name)).toBeUndefined();
  });

  it('lists and deletes more than one answer holds', async () => {
    const names = Array.from({ length: 45 }, (_, n) => `segments/a/${String(n).padStart(5, '0')}`);
    const left = [...names];
    const lane = async () => {
      for (let name = left.pop(); name; name = left.pop()) await store.put(name, Buffer.from('x'));
    };
    await Promise.all(Array.from({ length: 8 }, lane));
    expect(await store.list('segments/a/')).toEqual(names);
    await store.delete(names);
    expect(await store.list('segments/')).toEqual([]);
  });
}

describe('a folder', () => {
  let dir: string;
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'store-'));
  });
  afterAll(() => rm(dir, { recursive: true }));

  let count = 0;
  storeContract(() => openDirectoryStore(join(dir, `${count++}`)));

  it('leaves no folder behind in which nothing is left, and no file that is not whole', async () => {
    const store = await openDirectoryStore(join(dir, 'clean'));
    await store.put('segments/a/1', Buffer.from('x'));
    await writeFile(join(dir, 'clean/segments/a/.half'), 'x');
    expect(await store.list('segments/')).toEqual(['segments/a/1']);
    await rm(join(dir, 'clean/segments/a/.half'));
    await store.delete(['segments/a/1']);
    expect(await readdir(join(dir, 'clean/segments'))).toEqual([]);
  });

  it('says why it cannot be written', async () => {
    await writeFile(join(dir, 'file'), 'x');
    await expect(openDirectoryStore(join(dir, 'file'))).rejects.toThrow('ENOTDIR');
  });
});

needs(S3_PROGRAM)('a bucket', () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startS3();
    for (const [name, value] of Object.entries(server.env)) vi.stubEnv(name, value);
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await server.stop();
  });

  let count = 0;
  storeContract(async () => s3Store({ ...placeOf(server), prefix: `p${count++}`, pageSize: 20 }));

  it('may be used without a prefix', async () => {
    const store = s3Store(placeOf(server));
    await store.put('records/whole/1', Buffer.from('x'));
    expect(await store.list('records/')).toEqual(['records/whole/1']);
    store.close();
  });

  it('that is not there is no empty one', async () => {
    const store = s3Store({ ...placeOf(server), bucket: 'elsewhere' });
    await expect(store.list('segments/')).rejects.toThrow('bucket does not exist');
    await expect(store.get('segments/a/1')).rejects.toThrow('bucket does not exist');
    store.close();
  });
});

describe('a server that refuses', () => {
  it('is asked three times, and what it says is passed on', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'any');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'any');
    let asked = 0;
    const server = createServer((_, answer) => {
      asked++;
      answer.writeHead(503).end('<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>');
    }).listen(0, '127.0.0.1');
    await new Promise((listening) => server.once('listening', listening));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const store = s3Store({ bucket: 'terminals', prefix: 'a', endpoint, pathStyle: true });
    await expect(store.put('segments/a/1', Buffer.from('x'))).rejects.toThrow('Reduce your request rate.');
    expect(asked).toBe(3);
    store.close();
    server.close();
    vi.unstubAllEnvs();
  });
});
