// Somebody who can write where the archive is: whatever they do to its objects is an error that names one, or a gap, and never other frames than were taken.
import { mkdir, mkdtemp, readdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Keyring, type NamedKey } from '../../src/keyring.js';
import { archivedLog } from '../../src/log/archived/archived-log.js';
import { openDirectoryStore } from '../../src/log/archived/directory.js';
import { recordName, segmentName } from '../../src/log/archived/names.js';
import { decodeSegment, encodeSegment, type Named, type Segment } from '../../src/log/archived/segment.js';
import { MAX_OBJECT_BYTES } from '../../src/log/archived/store.js';
import { openEmbeddedLog } from '../../src/log/embedded/embedded-log.js';
import { type Log, LogError, type Numbered } from '../../src/log/log.js';
import { proofsOf } from '../../src/log/sealed/proofs.js';
import { sealedLog } from '../../src/log/sealed/sealed-log.js';
import { until } from '../support/redis.js';
import { entry } from './contract.js';
import { MemoryStore } from './memory-store.js';

const named: Named = { session: 's', name: segmentName('s', { from: 1, to: 3, newestMs: 5 }, 'ab') };
const taken: readonly Numbered[] = [1, 2, 3].map((sequence) => ({ ...entry(`${sequence}`, 5), sequence }));
const [one, two, three] = taken as [Numbered, Numbered, Numbered];
const encoded = (more: Partial<Segment> = {}, as = named) =>
  encodeSegment(as, { from: 1, to: 3, newest: { Output: 3 }, entries: taken, ...more });
const segmentAs = (from: number, to: number) => ({ ...named, name: segmentName('s', { from, to, newestMs: 5 }, 'ab') });

describe('a segment', () => {
  const expectRefused = (bytes: Buffer, as = named) => expect(() => decodeSegment(as, bytes)).toThrow(LogError);

  it('is refused with any byte changed, and cut at any place', () => {
    const whole = encoded();
    expect(decodeSegment(named, whole).entries).toEqual(taken);
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] as number) ^ (1 << (at % 8));
      expectRefused(changed);
      expectRefused(whole.subarray(0, at));
    }
  });

  it('is refused as any other bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => void expectRefused(Buffer.from(bytes))));
  });

  it('is refused with anything else in its head', () => {
    const head = fc.oneof(
      fc.record({ from: fc.jsonValue().filter((from) => from !== 1) }),
      fc.record({ to: fc.jsonValue().filter((to) => to !== 3) }),
      fc.record({ newest: fc.constantFrom(null, 'x', 5, ['x'], { Output: 'x' }, { Output: 1.5 }) }),
    );
    fc.assert(fc.property(head, (more) => void expectRefused(encoded(more as Partial<Segment>))));
  });

  it.each([
    ["a newer one's name", segmentAs(4, 6)],
    ['a name that reaches further', segmentAs(1, 6)],
    ['a name of no segment', { ...named, name: 'segments/s/notes.txt' }],
    ["another session's", { session: 't', name: segmentName('t', { from: 1, to: 3, newestMs: 5 }, 'ab') }],
  ])('is refused under %s', (_, as) => expectRefused(encoded(), as));

  it.each([
    ['in another order', [two, one, three]],
    ['twice', [one, one, three]],
    ['from behind what it covers', [one, two, { ...three, sequence: 4 }]],
    ['with a number that is none', [{ ...one, sequence: Number.NaN }, two, three]],
  ])('is refused with entries %s', (_, entries) => expectRefused(encoded({ entries })));
});

const DAY = 86_400;
const LAST = 40;
const text = ({ body }: Numbered): string => Buffer.from(body).toString();

/** A log with an archive that somebody else can write to. */
class Attacked {
  readonly store = new MemoryStore();
  log!: Log;
  readonly #dir: string;
  readonly #keyring: Keyring;
  #time = 1_700_000_000_000;

  private constructor(dir: string, keys: readonly NamedKey[]) {
    this.#dir = dir;
    this.#keyring = new Keyring(keys);
  }

  static async open(keys: readonly NamedKey[]): Promise<Attacked> {
    const attacked = new Attacked(await mkdtemp(path.join(tmpdir(), 'attacked-')), keys);
    await attacked.open();
    return attacked;
  }

  async open(): Promise<void> {
    await this.log?.close();
    const now = () => this.#time;
    const inner = await openEmbeddedLog({ dir: path.join(this.#dir, 'log'), now });
    const waits = { hotSeconds: 0, segmentMs: 1, restoreDelayMs: 1 };
    const archived = archivedLog(inner, {
      store: this.store,
      proverOf: proofsOf(inner, this.#keyring),
      retentionSeconds: DAY,
      ...waits,
      now,
    });
    this.log = sealedLog(archived, this.#keyring);
  }

  async close(): Promise<void> {
    await this.log.close();
    await rm(this.#dir, { recursive: true });
  }

  get time(): number {
    return this.#time;
  }

  /** A session of which all but the last ten entries are in the archive alone, in segments of ten. */
  async archived(id: string): Promise<void> {
    const writer = await this.log.create(id, { title: `of ${id}` }, { frames: 1, seconds: 1 });
    for (let n = 1; n <= LAST; n += 10) {
      await writer.append(Array.from({ length: 10 }, (_, i) => entry(`${id}${n + i}`, this.#time)));
      await until('it is archived', () => this.segments(id).length === Math.ceil(n / 10));
      this.#time += 60_000;
    }
    await writer.release();
  }

  /** The same session, claimed after a restart: ten entries, which leave the log, and ten more. */
  async goOn(id: string, from: number): Promise<void> {
    await this.open();
    const writer = await this.log.claim(id);
    for (let n = from; n < from + 20; n += 10) {
      await writer.append(Array.from({ length: 10 }, (_, i) => entry(`${id}${n + i}`, this.#time)));
      const last = `-${String(n + 9).padStart(16, '0')}-`;
      await until('it is archived', () => this.segments(id).some((name) => name.includes(last)));
      this.#time += 60_000;
    }
    await writer.release();
  }

  segments(id: string): string[] {
    return [...this.store.objects.keys()].filter((name) => name.startsWith(`segments/${id}/`)).sort();
  }

  bytes(name: string): Buffer {
    return this.store.objects.get(name) as Buffer;
  }

  put(name: string, bytes: Buffer): void {
    this.store.objects.set(name, bytes);
  }

  /** What is read after a restart, from the first to the last, each under the number that it was given; or the error that names what cannot be. */
  async read(id: string): Promise<string[] | LogError> {
    await this.open();
    const reader = await this.log.reader(id);
    const all: Numbered[] = [];
    try {
      for (let after = 0; ; after = all.at(-1)?.sequence ?? after) {
        const piece = await reader.read(after, { frames: 7, bytes: 1_000_000 });
        if (piece.length === 0) break;
        all.push(...piece);
      }
    } catch (error) {
      return error as LogError;
    }
    expect(all.map(text)).toEqual(all.map(({ sequence }) => `${id}${sequence}`));
    return all.map(text);
  }
}

let attacked: Attacked;

type Harm = (own: readonly string[], foreign: readonly string[]) => void;
const put = (name: string | undefined, bytes: Buffer) => attacked.put(name as string, bytes);
const bytesOf = (name: string | undefined) => attacked.bytes(name as string);
const aRecord = () => [...attacked.store.objects].find(([name]) => name.startsWith('records/'))?.[1] as Buffer;
const harms: Readonly<Record<string, Harm>> = {
  'cut short': ([, name]) => put(name, bytesOf(name).subarray(0, -30)),
  emptied: ([, name]) => put(name, Buffer.alloc(0)),
  'changed by a bit': ([, name]) => bytesOf(name).writeUInt8(bytesOf(name).readUInt8(200) ^ 1, 200),
  'replaced by an older one': ([older, name]) => put(name, bytesOf(older)),
  'replaced by a newer one': ([, name, newer]) => put(name, bytesOf(newer)),
  "replaced by another session's": ([, name], [, foreign]) => put(name, bytesOf(foreign)),
  'replaced by a record': ([, name]) => put(name, aRecord()),
};
const KEYS = [{ kid: 'first', key: Buffer.alloc(32, 1) }];

describe.each([
  ['without keys', []],
  ['with keys', KEYS],
])('an archive %s', (_, keys) => {
  beforeEach(async () => {
    attacked = await Attacked.open(keys);
  });
  afterEach(() => attacked.close());

  it.each(Object.entries(harms))('is an error that names the segment when one is %s', async (_, harm) => {
    await attacked.archived('s');
    await attacked.archived('t');
    harm(attacked.segments('s'), attacked.segments('t'));
    const message = expect.stringContaining(attacked.segments('s')[1] as string);
    expect(await attacked.read('s')).toMatchObject({ failure: 'corrupt', message });
    expect(attacked.log.damaged()).toHaveLength(1);
    expect(await attacked.read('t')).toHaveLength(LAST);
  });

  it('has a gap where a segment is missing, from before which no cursor goes on', async () => {
    await attacked.archived('s');
    attacked.store.objects.delete(attacked.segments('s')[1] as string);
    const all = Array.from({ length: LAST }, (_, i) => `s${i + 1}`);
    expect(await attacked.read('s')).toEqual(all.filter((_, i) => i < 10 || i >= 20));
    expect((await attacked.log.reader('s')).extent().oldest).toBe(21);
  });

  it.each([
    ['that is kept', 1_700_000_000_000 + DAY * 1000],
    ['whose time is over', 0],
  ])('goes on to keep what is printed when a name %s says that it was kept already', async (_, newestMs) => {
    await attacked.archived('s');
    const planted = segmentName('s', { from: 1, to: 2 ** 52, newestMs }, 'ab');
    put(planted, Buffer.alloc(0));
    await attacked.goOn('s', LAST + 1);
    attacked.store.objects.delete(planted);
    expect(await attacked.read('s')).toHaveLength(LAST + 20);
  });

  it('begins nothing again from records that lead elsewhere, or say nothing that can be', async () => {
    const whole = { format: 1, retention: { frames: 1, seconds: DAY }, current: 5, isComplete: false, record: { title: 'planted' } };
    const planted: Readonly<Record<string, unknown>> = {
      '..%2F..%2Fup': whole,
      '%2E%2E': whole,
      'a}:b{': whole,
      none: null,
      null: { ...whole, record: null },
      list: { ...whole, record: [] },
      far: { ...whole, current: Number.MAX_SAFE_INTEGER },
      below: { ...whole, current: -1 },
      endless: { ...whole, retention: { frames: -1, seconds: 1 } },
      good: whole,
    };
    for (const [id, record] of Object.entries(planted))
      put(recordName('x', 5, 1, 'ab').replace('/x/', `/${id}/`), Buffer.from(JSON.stringify(record)));
    await attacked.open();
    await until('the good one is there again', async () => (await attacked.log.records()).length > 0);
    expect((await attacked.log.records()).map(({ sessionId }) => sessionId)).toEqual(['good']);
  });
});

type Forgery = (segment: Segment) => Partial<Segment>;
const forgeries: Readonly<Record<string, Forgery>> = {
  'with two bodies exchanged': ({ entries: [first, second, ...rest] }) => ({
    entries: [{ ...second, sequence: first?.sequence }, { ...first, sequence: second?.sequence }, ...rest] as Numbered[],
  }),
  'without one of its entries': ({ entries }) => ({ entries: entries.toSpliced(3, 1) }),
  'without any': () => ({ entries: [] }),
  'as it was, without its proof': () => ({}),
};

describe('an archive with keys refuses a segment', () => {
  beforeEach(async () => {
    attacked = await Attacked.open(KEYS);
    await attacked.archived('s');
  });
  afterEach(() => attacked.close());
  const expectRefused = async () => expect(await attacked.read('s')).toMatchObject({ failure: 'corrupt' });

  it.each(Object.entries(forgeries))('that somebody without the key wrote, %s', async (_, change) => {
    const as = { session: 's', name: attacked.segments('s')[1] as string };
    const segment = decodeSegment(as, bytesOf(as.name));
    put(as.name, encodeSegment(as, { ...segment, ...change(segment) }));
    await expectRefused();
  });

  it.each([
    ["another writer's", (name: string) => name.replace(/[0-9a-f]+$/, 'abcdef')],
    ['one that keeps it for longer', (name: string) => name.replace(/\d{16}(?=-[0-9a-f]+$)/, `${attacked.time + DAY}`.padStart(16, '0'))],
  ])('under another name: %s', async (_, rename) => {
    const name = attacked.segments('s')[1] as string;
    put(rename(name), bytesOf(name));
    attacked.store.objects.delete(name);
    await expectRefused();
  });
});

describe('a folder', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(path.join(tmpdir(), 'attacked-'));
  });
  afterEach(() => rm(dir, { recursive: true }));

  it('is not left by the name of any session, nor shared by two', () => {
    const id = fc.oneof(fc.string({ unit: 'grapheme' }), fc.stringMatching(/^[./\\%0-9a-f]{1,20}$/));
    const place = (session: string) => path.join(dir, segmentName(session, { from: 1, to: 3, newestMs: 5 }, 'ab'));
    fc.assert(
      fc.property(id, id, (session, other) => {
        const parts = path.relative(dir, place(session)).split(path.sep);
        if (session !== '') expect([parts.length, parts[0]]).toEqual([3, 'segments']);
        if (session !== other) expect(place(session)).not.toBe(place(other));
      }),
    );
  });

  it('gives no object that is larger than any that a gateway writes, and reads nothing of it', async () => {
    const store = await openDirectoryStore(dir);
    await store.put('segments/s/1', Buffer.from('x'));
    await truncate(path.join(dir, 'segments/s/1'), MAX_OBJECT_BYTES + 1);
    await expect(store.get('segments/s/1')).rejects.toMatchObject({ failure: 'corrupt', message: expect.stringContaining('segments/s/1') });
  });

  it.each(['segments/s', 'segments'])('is not left by way of %s, which leads elsewhere', async (link) => {
    const elsewhere = await mkdtemp(path.join(tmpdir(), 'elsewhere-'));
    const root = path.join(dir, 'archive');
    try {
      const store = await openDirectoryStore(root);
      const inside = path.join(elsewhere, path.relative(link, 'segments/s'));
      await mkdir(inside, { recursive: true });
      await writeFile(path.join(inside, 'foreign'), 'x');
      await mkdir(path.dirname(path.join(root, link)), { recursive: true });
      await symlink(elsewhere, path.join(root, link));
      const refused = { failure: 'corrupt', message: expect.stringContaining('segments/s') };
      await expect(store.list('segments/s/')).rejects.toMatchObject(refused);
      await expect(store.get('segments/s/foreign')).rejects.toMatchObject(refused);
      await expect(store.put('segments/s/1', Buffer.from('x'))).rejects.toMatchObject(refused);
      await expect(store.delete(['segments/s/foreign'])).rejects.toMatchObject(refused);
      expect(await readdir(inside)).toEqual(['foreign']);
    } finally {
      await rm(elsewhere, { recursive: true });
    }
  });
});
