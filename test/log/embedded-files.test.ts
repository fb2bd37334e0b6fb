// The embedded log's files: what becomes of them, and of their sessions, when a process, a disk or a machine fails.
import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readdir, readFile, readlink, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { currentBoot } from '../../src/log/embedded/boot.js';
import { type EmbeddedLogOptions, openEmbeddedLog } from '../../src/log/embedded/embedded-log.js';
import { MAX_OPEN_FILES } from '../../src/log/embedded/handles.js';
import { LOSS_JUMP } from '../../src/log/embedded/recovery.js';
import type { Log, Numbered, Retention } from '../../src/log/log.js';
import { unsharing } from '../support/mounted.js';
import { entry, nobody } from './contract.js';
import { type Deed, faultyDisk } from './faulty-disk.js';

const everything = { frames: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER };
const forever: Retention = { frames: 1_000_000, seconds: 86_400 };
const text = (one: Numbered): string => Buffer.from(one.body).toString();
const bodies = async (log: Log, id: string): Promise<string[]> => (await (await log.reader(id)).read(0, everything)).map(text);
const draft = (body: string | Uint8Array, kind?: string) => entry(body, Date.now(), kind);

let dir: string;
const opened: Log[] = [];
const open = async (options: Partial<EmbeddedLogOptions> = {}): Promise<Log> => {
  const log = await openEmbeddedLog({ dir, ...options });
  opened.push(log);
  return log;
};
const folder = (id: string): string => join(dir, 'sessions', id);
const segments = async (id: string): Promise<string[]> =>
  (await readdir(folder(id)))
    .filter((name) => name.endsWith('.log'))
    .sort()
    .map((name) => join(folder(id), name));
const lastSegment = async (id: string): Promise<string> => (await segments(id)).at(-1) as string;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'log-files-'));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((log) => log.close()));
  await rm(dir, { recursive: true });
});

/** A copy of the folder as a killed process would have left it, under another data folder. */
async function imageOf(id: string, as: string, into: string): Promise<string> {
  const copy = join(into, 'sessions', as);
  await cp(folder(id), copy, { recursive: true });
  return copy;
}

async function flip(path: string, at: number): Promise<void> {
  const bytes = await readFile(path);
  bytes[at] = (bytes[at] as number) ^ 0x55;
  await writeFile(path, bytes);
}

/** Makes the folder say that it was written before the machine fell. */
async function fell(id: string): Promise<void> {
  const path = join(folder(id), 'record.json');
  await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), writing: 'another boot' }));
}

describe('a process that was killed', () => {
  it('leaves all whole records, wherever its last write was cut, and the numbers go on after them', { timeout: 120_000 }, async () => {
    const writer = await (await open()).create('s', {}, forever);
    const long = 'three, and longer than what will be written over it '.repeat(5);
    const ends: number[] = [];
    for (const drafts of [[draft('one')], [nobody, nobody], [draft('two'), draft('', 'Keyframe')], [draft(long)]]) {
      await writer.append(drafts);
      ends.push((await stat(await lastSegment('s'))).size);
    }
    const home = dir;
    const other = await mkdtemp(join(tmpdir(), 'log-cuts-'));
    const size = ends.at(-1) as number;
    for (let cut = 0; cut <= size; cut++) {
      const copy = await imageOf('s', `cut-${cut}`, other);
      await truncate(join(copy, '0000000000000001.log'), cut);
    }
    dir = other;
    const log = await open();
    for (let cut = 0; cut <= size; cut++) {
      const again = await log.claim(`cut-${cut}`);
      const before = again.reader.extent().current;
      const whole = ends.filter((end) => end <= cut).length;
      expect(before, `cut at ${cut}`).toBeGreaterThanOrEqual([0, 1, 3, 5, 6][whole] as number);
      expect(before, `cut at ${cut}`).toBeLessThan([1, 3, 5, 6, 7][whole] as number);
      expect(await again.append([draft('next')])).toBe(before + 1);
      const expected = [...['one', 'two', '', long].filter((_, n) => ([1, 4, 5, 6][n] as number) <= before), 'next'];
      expect(await bodies(log, `cut-${cut}`)).toEqual(expected);
    }
    await log.close();
    const later = await open();
    for (let cut = 0; cut <= size; cut++) expect((await bodies(later, `cut-${cut}`)).at(-1)).toBe('next');
    expect(later.trouble()).toBeUndefined();
    await later.close();
    await rm(other, { recursive: true });
    dir = home;
  });

  it('has kept every promise it gave before SIGKILL, three times in a row', async () => {
    const promised = new Map<string, number[]>();
    for (let round = 0; round < 3; round++) {
      let lines = 0;
      await killed(appender([process.execPath]), promised, () => ++lines === 400);
      await checkAll(promised);
    }
  });

  it('has kept every promise it gave before a file could grow no more', async () => {
    const promised = new Map<string, number[]>();
    const limited = ['sh', '-c', 'trap "" XFSZ; ulimit -f 300; exec "$0" "$@"', process.execPath];
    await killed(appender(limited), promised, (line) => line.startsWith('trouble: session'));
    expect(promised.size).toBeGreaterThan(0);
    await checkAll(promised);
  });

  const ids = ['a', 'b'];

  function appender([command = '', ...args]: string[]): ChildProcessByStdio<null, Readable, null> {
    const script = ['--import', 'tsx', join(import.meta.dirname, 'appender.ts'), dir, ...ids];
    return spawn(command, [...args, ...script], { stdio: ['ignore', 'pipe', 'inherit'] });
  }

  /** Notes what the child is promised until a line on which it is to be killed; also what it still says then. */
  async function killed(child: ChildProcessByStdio<null, Readable, null>, promised: Map<string, number[]>, now: (line: string) => boolean) {
    const exit = once(child, 'exit');
    for await (const line of createInterface({ input: child.stdout })) {
      const [id = '', number] = line.split(' ');
      if (ids.includes(id)) promised.set(id, [...(promised.get(id) ?? []), Number(number)]);
      if (now(line)) child.kill('SIGKILL');
    }
    expect((await exit)[1]).toBe('SIGKILL');
  }

  async function checkAll(promised: ReadonlyMap<string, number[]>): Promise<void> {
    const log = await open();
    for (const [id, numbers] of promised) await check(log, id, numbers);
    expect(log.trouble()).toBeUndefined();
    await log.close();
  }

  /** Each promise names the last of three numbers: an output, a number that keeps nothing, and the size of the output. */
  async function check(log: Log, id: string, promised: readonly number[]): Promise<void> {
    const reader = await log.reader(id);
    const kept = await reader.read(0, everything);
    const by = new Map(kept.map((one) => [one.sequence, one]));
    expect(by.size).toBe(kept.length);
    expect(new Set(promised).size).toBe(promised.length);
    for (const last of promised) {
      expect(by.get(last)?.kind).toBe('Size');
      expect(by.get(last - 2)?.body.length).toBe(Number(text(by.get(last) as Numbered)));
    }
    expect(reader.extent().current).toBeGreaterThanOrEqual(Math.max(...promised));
  }
});

describe('a session that is damaged', () => {
  it('is refused as corrupt with the file and the place, and harms no other, whichever byte changed', async () => {
    const log = await open();
    const writer = await log.create('s', {}, forever);
    await writer.append([draft('first')]);
    const from = (await stat(await lastSegment('s'))).size;
    await writer.append([draft('in the middle'), nobody]);
    const to = (await stat(await lastSegment('s'))).size;
    await writer.append([draft('last')]);
    const well = await log.create('well', {}, forever);
    await well.append([draft('still here')]);
    for (let at = from; at < to; at++) {
      const copy = await imageOf('s', `flip-${at}`, dir);
      await flip(join(copy, '0000000000000001.log'), at);
      await expect(log.reader(`flip-${at}`), `byte ${at}`).rejects.toMatchObject({
        failure: 'corrupt',
        message: expect.stringMatching(/flip-\d+\/0000000000000001\.log is damaged at byte \d+: it/),
      });
      expect(log.damaged()).toEqual([expect.stringContaining(`session flip-${at} is damaged: `)]);
      expect(await log.record(`flip-${at}`)).toEqual({});
      await log.remove(`flip-${at}`);
      expect(log.damaged()).toEqual([]);
    }
    expect(await well.append([draft('and well')])).toBe(2);
    expect(await bodies(log, 's')).toEqual(['first', 'in the middle', 'last']);
  });

  it('tells so when it is read, where the damage lies in an older segment, and takes entries all the same', async () => {
    const log = await open({ segmentBytes: 500 });
    const writer = await log.create('s', {}, forever);
    for (let n = 0; n < 30; n++) await writer.append([draft('x'.repeat(100))]);
    await flip((await segments('s'))[1] as string, 400);
    await expect(writer.reader.read(0, everything)).rejects.toMatchObject({ failure: 'corrupt' });
    expect(log.damaged()).toEqual([expect.stringMatching(/^session s is damaged: .*is damaged at byte \d+/)]);
    expect(log.trouble()).toBeUndefined();
    expect(await writer.append([draft('on')])).toBe(31);
    expect((await writer.reader.read(25, everything)).length).toBe(6);
  });

  it.each([0, 1, -1])('is refused when its segment %i is missing', async (which) => {
    const first = await open({ segmentBytes: 500 });
    const writer = await first.create('s', {}, forever);
    for (let n = 0; n < 30; n++) await writer.append([draft('x'.repeat(100))]);
    await first.close();
    const victim = (await segments('s')).at(which) as string;
    await rm(victim);
    const log = await open();
    const found = await log.claim('s').catch((error) => error);
    // The end of a session may be lost with its machine as well: then the numbers jump, and nothing is given twice.
    if (which === -1) expect(found.reader.extent()).toEqual({ oldest: 31 + LOSS_JUMP, current: 30 + LOSS_JUMP });
    else expect(found).toMatchObject({ failure: 'corrupt', message: expect.stringContaining('is missing') });
  });

  it('is left out and named when its record or its folder cannot be read', async () => {
    const first = await open();
    for (const id of ['garbled', 'gone', 'folder', 'empty', 'well']) await (await first.create(id, { id }, forever)).append([draft(id)]);
    await first.close();
    await writeFile(join(folder('garbled'), 'record.json'), '{"format":');
    await rm(join(folder('gone'), 'record.json'));
    await rm(join(folder('folder'), 'record.json'));
    await mkdir(join(folder('folder'), 'record.json'));
    await rm(await lastSegment('empty'));
    await mkdir(join(dir, 'lost+found'));
    await writeFile(join(dir, 'sessions', 'a stray file'), 'x');
    const said: string[] = [];
    const log = await open({ onTrouble: (sentence) => said.push(sentence) });
    expect((await log.records()).map((one) => one.sessionId)).toEqual(['empty', 'well']);
    await expect(log.claim('empty')).rejects.toMatchObject({ failure: 'corrupt', message: expect.stringContaining('holds no segment') });
    for (const id of ['garbled', 'gone', 'folder']) expect(await log.record(id), id).toBeUndefined();
    // Its record is whole, and tells what it was.
    expect((await log.records()).map((one) => one.sessionId)).toEqual(['empty', 'well']);
    expect([...said].sort()).toEqual([...log.damaged()].sort());
    expect(said.map((sentence) => sentence.split(' ')[1]).sort()).toEqual(['empty', 'folder', 'garbled', 'gone']);
    expect(log.trouble()).toBeUndefined();
    await expect(log.create('garbled', {}, forever)).rejects.toMatchObject({ failure: 'exists' });
    expect(await bodies(log, 'well')).toEqual(['well']);
  });
});

describe('a session whose folder somebody took away', () => {
  it('is given up and named as soon as something must be written there, and keeps no other from anything', async () => {
    const log = await open();
    const writer = await log.create('s', {}, forever);
    const well = await log.create('well', {}, forever);
    await writer.append([draft('a')]);
    await rm(folder('s'), { recursive: true });
    await expect(writer.amend({ title: 'late' })).rejects.toMatchObject({ failure: 'corrupt' });
    expect(log.damaged()).toEqual([expect.stringMatching(/^session s is damaged: its folder .* is gone$/)]);
    expect(log.trouble()).toBeUndefined();
    expect(await well.append([draft('and well')])).toBe(1);
  });

  it('is waited for where all of them are gone: a disk may come back', async () => {
    const log = await open();
    const writer = await log.create('s', {}, forever);
    await rename(join(dir, 'sessions'), join(dir, 'elsewhere'));
    const amended = writer.amend({ title: 'late' });
    await expect.poll(() => log.trouble()).toMatch(/^the record of session s cannot be written: /);
    await rename(join(dir, 'elsewhere'), join(dir, 'sessions'));
    await amended;
    expect([log.trouble(), log.damaged()]).toEqual([undefined, []]);
  });
});

describe('a machine that fell', () => {
  it('makes the numbers jump above all that may have been shown, and puts what is before out of range', async () => {
    const first = await open();
    const writer = await first.create('s', {}, forever);
    await writer.append([draft('a'), draft('b', 'Closed'), draft('c')]);
    const closed = await first.create('ended', {}, forever);
    await closed.append([draft('all of it')]);
    await first.close();
    await fell('s');
    let log = await open();
    const extent = { oldest: LOSS_JUMP + 4, current: LOSS_JUMP + 3 };
    expect((await log.reader('s')).extent()).toEqual(extent);
    expect((await log.claim('s')).reader.extent()).toEqual(extent);
    await log.close();
    await fell('s');
    log = await open();
    const again = await log.claim('s');
    expect(again.reader.extent().oldest).toBe(again.reader.extent().current + 1);
    const number = await again.append([draft('d')]);
    expect(number).toBeGreaterThan(LOSS_JUMP + 3);
    expect(await again.reader.latest('Closed')).toBeUndefined();
    await log.close();
    log = await open();
    const later = await log.reader('s');
    expect(later.extent()).toEqual({ oldest: number, current: number });
    expect((await later.read(0, everything)).map(text)).toEqual(['d']);
    expect(await bodies(log, 'ended')).toEqual(['all of it']);
  });

  it('costs a session no more than that, whatever its last two segments hold', async () => {
    const first = await open({ segmentBytes: 400 });
    const writer = await first.create('s', {}, forever);
    for (let n = 0; n < 12; n++) await writer.append([draft('x'.repeat(100))]);
    await first.close();
    await fell('s');
    const home = dir;
    const other = await mkdtemp(join(tmpdir(), 'log-fell-'));
    const names = (await segments('s')).slice(-2);
    const wounds = fc.sample(fc.record({ which: fc.nat(1), at: fc.nat(600), length: fc.integer({ min: 1, max: 600 }) }), 100);
    for (const [index, wound] of wounds.entries()) {
      const path = join(await imageOf('s', `w${index}`, other), (names[wound.which] as string).slice(-20));
      const bytes = await readFile(path);
      bytes.fill(0, Math.min(wound.at, bytes.length), Math.min(wound.at + wound.length, bytes.length));
      await writeFile(path, bytes);
    }
    dir = other;
    const log = await open();
    for (const index of wounds.keys()) {
      const again = await log.claim(`w${index}`);
      expect(await again.append([draft('on')])).toBeGreaterThan(LOSS_JUMP);
      expect((await again.reader.read(0, everything)).map(text)).toEqual(['on']);
    }
    expect(log.trouble()).toBeUndefined();
    await log.close();
    await rm(other, { recursive: true });
    dir = home;
  });

  it('makes the numbers jump too when the end of a session that was let go in order is not there', async () => {
    const first = await open();
    const writer = await first.create('s', {}, forever);
    await writer.append([draft('a')]);
    const { size } = await stat(await lastSegment('s'));
    await writer.append([draft('b')]);
    await first.close();
    await truncate(await lastSegment('s'), size);
    expect((await (await open()).reader('s')).extent()).toEqual({ oldest: LOSS_JUMP + 3, current: LOSS_JUMP + 2 });
  });
});

describe('a disk that refuses', () => {
  it('gets everything once and in order, however often it fails and wherever a write stops', async () => {
    const disk = faultyDisk();
    const log = await open({ disk, segmentBytes: 3_000 });
    const deeds: Deed[] = ['open', 'write', 'truncate', 'sync'];
    const codes = ['ENOSPC', 'EMFILE', 'EIO'];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(2_000), { minLength: 1, maxLength: 12 }),
        fc.array(fc.nat(11), { maxLength: 5 }),
        async (sizes, faults) => {
          const id = `s-${Math.random()}`;
          const writer = await log.create(id, {}, forever);
          const told: number[] = [];
          writer.reader.follow((entries) => told.push(...entries.map((one) => one.sequence)));
          const plan = [...faults];
          disk.refuse = (deed) => {
            if (plan.length === 0 || deed !== deeds[(plan[0] as number) % 4]) return undefined;
            return codes[(plan.shift() as number) % 3];
          };
          const firsts = await Promise.all(sizes.map((size) => writer.append([draft('x'.repeat(size)), nobody])));
          disk.refuse = () => undefined;
          expect(firsts).toEqual(sizes.map((_, n) => 2 * n + 1));
          expect(told).toEqual(firsts);
          expect((await writer.reader.read(0, everything)).map((one) => one.body.length)).toEqual(sizes);
          await writer.release();
          const again = await log.claim(id);
          expect(again.reader.extent().current).toBe(2 * sizes.length);
          await log.remove(id);
        },
      ),
      { numRuns: 25 },
    );
    expect(log.trouble()).toBeUndefined();
  });

  it('is told of in one sentence until it takes entries again; the others go on', async () => {
    const disk = faultyDisk();
    const said: string[] = [];
    const log = await open({ disk, onTrouble: (sentence) => said.push(sentence) });
    const [full, well] = [await log.create('full', {}, forever), await log.create('well', {}, forever)];
    let failures = 0;
    const failing = new Promise<void>((resolve) => {
      disk.refuse = (deed, path) => {
        if (deed !== 'write' || !path.includes('/full/')) return undefined;
        if (++failures === 3) resolve();
        return 'ENOSPC';
      };
    });
    const appends = [full.append([draft('a')]), full.append([draft('b')])];
    await failing;
    expect(log.trouble()).toBe('session full cannot be written: the disk is full (ENOSPC); it is tried again');
    expect(full.reader.extent().current).toBe(0);
    expect(await full.reader.read(0, everything)).toEqual([]);
    expect(await well.append([draft('c')])).toBe(1);
    disk.refuse = () => undefined;
    expect(await Promise.all(appends)).toEqual([1, 2]);
    expect(log.trouble()).toBeUndefined();
    expect(said).toEqual(['session full cannot be written: the disk is full (ENOSPC); it is tried again']);
  });

  it('is told of once, however many sessions it fails, and once when it takes what it is given', async () => {
    const disk = faultyDisk();
    const said: string[] = [];
    const log = await open({
      disk,
      onTrouble: (sentence, sessionId) => said.push(`${sessionId}: ${sentence}`),
      onRecovered: () => said.push('well'),
    });
    const writers = await Promise.all(['a', 'b', 'c'].map((id) => log.create(id, {}, forever)));
    for (let round = 0; round < 2; round++) {
      disk.refuse = (deed) => (deed === 'write' ? 'ENOSPC' : undefined);
      const appends = writers.map((writer) => writer.append([draft('x')]));
      await expect.poll(() => log.trouble()).toContain('(and 2 more like it)');
      disk.refuse = () => undefined;
      await Promise.all(appends);
    }
    const told = expect.stringMatching(/^[abc]: session [abc] cannot be written: the disk is full/);
    expect(said).toEqual([told, 'well', told, 'well']);
  });

  it('keeps the last amendment of several that it refused at first', async () => {
    const disk = faultyDisk();
    const log = await open({ disk });
    const writer = await log.create('s', {}, forever);
    let left = 4;
    disk.refuse = (deed, path) => (deed === 'write' && path.includes('record.json') && left-- > 0 ? 'EIO' : undefined);
    await Promise.all([1, 2, 3].map((n) => writer.amend({ n })));
    await log.close();
    expect(await (await open()).record('s')).toEqual({ n: 3 });
  });

  it('makes no session that it cannot hold, and takes it when it can', async () => {
    const disk = faultyDisk();
    const log = await open({ disk });
    disk.refuse = (deed) => (deed === 'write' ? 'ENOSPC' : undefined);
    await expect(log.create('s', {}, forever)).rejects.toMatchObject({
      failure: 'unavailable',
      message: expect.stringContaining('the disk is full'),
    });
    disk.refuse = () => undefined;
    expect(await (await log.create('s', {}, forever)).append([draft('a')])).toBe(1);
  });

  it('lets go of what waits when the session is removed', async () => {
    const disk = faultyDisk();
    const log = await open({ disk });
    const writer = await log.create('s', {}, forever);
    const failing = new Promise<void>((resolve) => {
      disk.refuse = (deed) => {
        if (deed === 'write') resolve();
        return deed === 'write' ? 'EIO' : undefined;
      };
    });
    const append = writer.append([draft('a')]);
    await failing;
    const refused = expect(append).rejects.toMatchObject({ failure: 'unknown_session' });
    await log.remove('s');
    await refused;
    expect(log.trouble()).toBeUndefined();
  });

  it('does not keep the log from being closed: what it never took is rejected, and nothing of it is there', async () => {
    const disk = faultyDisk();
    const log = await open({ disk });
    const writer = await log.create('s', {}, forever);
    await writer.append([draft('a')]);
    disk.refuse = (deed) => (deed === 'write' ? 'ENOSPC' : undefined);
    const refused = expect(writer.append([draft('b')])).rejects.toMatchObject({
      failure: 'unavailable',
      message: 'the log was closed before it took all: the disk is full (ENOSPC)',
    });
    await expect.poll(() => log.trouble()).toBeDefined();
    await log.close();
    await refused;
    await expect(writer.append([draft('c')])).rejects.toMatchObject({ name: 'LogError' });
    await expect(log.reader('s')).rejects.toMatchObject({ failure: 'unavailable' });
    expect(await bodies(await open(), 's')).toEqual(['a']);
  });

  it('lets go of what is old by now before it takes anything, and tells the same after a restart', async () => {
    const disk = faultyDisk();
    let now = Date.now();
    const log = await open({ disk, segmentBytes: 3_000, now: () => now });
    const writer = await log.create('s', {}, { frames: 2, seconds: 60 });
    for (let n = 0; n < 20; n++) await writer.append([entry('x'.repeat(1_000), now)]);
    const before = await segments('s');
    disk.refuse = (deed) => (deed === 'write' ? 'ENOSPC' : undefined);
    const refused = expect(writer.append([entry('y', now)])).rejects.toMatchObject({ failure: 'unavailable' });
    await expect.poll(() => log.trouble()).toBeDefined();
    expect(await segments('s')).toEqual(before);
    now += 121_000;
    await expect.poll(() => segments('s'), { timeout: 10_000 }).toEqual(before.slice(-1));
    const extent = writer.reader.extent();
    expect(extent).toEqual({ oldest: expect.any(Number), current: 20 });
    const left = (await writer.reader.read(0, everything)).map(({ sequence }) => sequence);
    expect([left[0], left.at(-1)]).toEqual([extent.oldest, 20]);
    await log.close();
    await refused;
    expect((await (await open({ now: () => now })).reader('s')).extent()).toEqual(extent);
  });

  const unshare = unsharing();
  /** What a process says that has a disk of 1 MiB to itself. */
  const onTinyDisk = (script: string) => {
    const mounted = `mount -t tmpfs -o size=1m tmpfs "$0" && exec "$1" --import tsx "$2" "$0"`;
    const args = [...(unshare as string[]), 'sh', '-c', mounted, dir, process.execPath, join(import.meta.dirname, script)];
    return JSON.parse(execFileSync('unshare', args, { encoding: 'utf8', timeout: 60_000 }));
  };
  it.runIf(unshare)('that is really full makes room by itself as what it holds becomes old', () => {
    const result = onTinyDisk('aging-disk.ts');
    expect(result.takenWhenFull).toBeLessThan(110);
    expect(result.firsts).toEqual(Array.from({ length: 200 }, (_, n) => n + 1));
    expect(result.oldest).toBeGreaterThan(result.takenWhenFull - 12);
    expect(result.extent).toEqual({ oldest: result.kept[0], current: 200 });
    expect(result.kept.at(-1)).toBe(200);
  });

  it.runIf(unshare)('that is really full takes the rest when there is room, and nothing twice', async () => {
    const result = onTinyDisk('full-disk.ts');
    const all = Array.from({ length: 60 }, (_, n) => n);
    expect(result.sentence).toBe('session full cannot be written: the disk is full (ENOSPC); it is tried again');
    expect(result.takenWhenFull).toBeLessThan(60);
    expect(result.trouble).toBeNull();
    expect(result.firsts).toEqual(all.map((n) => n + 1));
    expect(result.told).toEqual(result.firsts);
    expect(result.bodies).toEqual(all);
  });
});

describe('what was taken', () => {
  /** The deeds that the disk was asked for, and a way to await one. */
  function watched() {
    const disk = faultyDisk();
    const deeds: string[] = [];
    const awaited = new Map<string, () => void>();
    disk.refuse = (deed, path) => {
      const name = `${deed} ${path.slice(path.lastIndexOf('/') + 1)}`;
      deeds.push(name);
      awaited.get(name)?.();
      return undefined;
    };
    return { disk, deeds, next: (name: string) => new Promise<void>((resolve) => awaited.set(name, resolve)) };
  }

  it('is on the medium before its session is noted as let go', async () => {
    const { disk, deeds } = watched();
    const writer = await (await open({ disk })).create('s', {}, forever);
    const append = writer.append([draft('a')]);
    deeds.length = 0;
    await writer.release();
    await append;
    const [written, synced, noted] = ['write 0000000000000001.log', 'sync 0000000000000001.log', 'write record.json.new'].map((deed) =>
      deeds.indexOf(deed),
    );
    expect(written).toBeGreaterThanOrEqual(0);
    expect(synced).toBeGreaterThan(written as number);
    expect(noted).toBeGreaterThan(synced as number);
  });

  it('is brought to the medium in time when nobody lets go', async () => {
    const { disk, next } = watched();
    const writer = await (await open({ disk })).create('s', {}, forever);
    const synced = next('sync 0000000000000001.log');
    await writer.append([draft('a')]);
    await synced;
  });

  it('is one write for all appends of a turn', async () => {
    const { disk, deeds } = watched();
    const writer = await (await open({ disk })).create('s', {}, forever);
    await writer.append([draft('first')]);
    deeds.length = 0;
    await Promise.all(Array.from({ length: 50 }, () => writer.append([draft('x')])));
    expect(deeds).toEqual(['write 0000000000000001.log']);
  });

  it('stays a promise when the medium fails to take it: it is told of and tried again', async () => {
    const disk = faultyDisk();
    const said: string[] = [];
    const log = await open({ disk, onTrouble: (sentence) => said.push(sentence) });
    const writer = await log.create('s', {}, forever);
    let left = 1;
    const twice = new Promise<void>((resolve) => {
      disk.refuse = (deed, path) => {
        if (deed !== 'sync' || !path.endsWith('.log')) return undefined;
        if (left > 0) return left-- > 0 ? 'EIO' : undefined;
        resolve();
        return undefined;
      };
    });
    await writer.append([draft('a')]);
    await twice;
    expect(said).toEqual(['session s cannot be made durable: the disk reports an input/output error (EIO); it is tried again']);
  });
});

describe('a data folder', () => {
  it('belongs to one log at a time, and says which process has it', async () => {
    const log = await open();
    await expect(open()).rejects.toThrow(`the data folder ${dir} is in use by the running process ${process.pid}`);
    await log.close();
    await open();
  });

  it('is taken over from a process that is gone, even where its number is in use again', async () => {
    await writeFile(join(dir, 'lock-1'), JSON.stringify({ pid: process.pid, started: '1', boot: await currentBoot() }));
    const log = await open();
    await log.close();
    await writeFile(join(dir, 'lock-3'), 'not what we write');
    await open();
    expect((await readdir(dir)).sort()).toEqual(['lock-4', 'sessions']);
  });

  it('is refused in words when it cannot be one', async () => {
    await writeFile(join(dir, 'a file'), '');
    await expect(openEmbeddedLog({ dir: join(dir, 'a file') })).rejects.toMatchObject({
      failure: 'unavailable',
      message: expect.stringMatching(/^the data folder .*a file cannot be used: /),
    });
  });

  it('goes to one of many that open it at once', async () => {
    await writeFile(join(dir, 'lock-1'), JSON.stringify({ pid: 2 ** 22 + 1, started: '1', boot: 'of old' }));
    const all = await Promise.allSettled(Array.from({ length: 8 }, () => open()));
    expect(all.filter((one) => one.status === 'fulfilled').length).toBe(1);
  });

  it('is cleared of sessions that were half made or half removed', async () => {
    await (await open()).close();
    await mkdir(join(dir, 'sessions', '.new-x'));
    await mkdir(join(dir, 'sessions', '.removed-y'));
    await open();
    expect(await readdir(join(dir, 'sessions'))).toEqual([]);
  });
});

describe('what is held', () => {
  it('are few descriptors, however many sessions are written and read', async () => {
    const log = await open();
    const writers = await Promise.all(Array.from({ length: 600 }, (_, n) => log.create(`s${n}`, {}, forever)));
    for (let round = 0; round < 2; round++) await Promise.all(writers.map((writer) => writer.append([draft('x')])));
    await Promise.all(writers.map((writer) => writer.reader.read(0, everything)));
    expect(await openFiles()).toBeLessThanOrEqual(MAX_OPEN_FILES);
    expect(writers.map((writer) => writer.reader.extent().current)).toEqual(writers.map(() => 2));
  });

  async function openFiles(): Promise<number> {
    const table = process.platform === 'linux' ? '/proc/self/fd' : '/dev/fd';
    const targets = await Promise.all((await readdir(table)).map((fd) => readlink(join(table, fd)).catch(() => '')));
    return targets.filter((target) => target.startsWith(dir)).length;
  }

  it('are segments in which something is kept, and no others', async () => {
    let now = 1_000_000;
    const log = await open({ segmentBytes: 1_000, now: () => now });
    const writer = await log.create('s', {}, { frames: 5, seconds: 1 });
    for (let n = 0; n < 200; n++) {
      now += 500;
      await writer.append([entry('x'.repeat(150), now)]);
    }
    await writer.release();
    const { oldest } = writer.reader.extent();
    expect(oldest).toBe(196);
    const bases = (await segments('s')).map((path) => Number(path.slice(-20, -4)));
    expect(bases.filter((base) => base <= oldest).length).toBe(1);
  });

  it('go when they are old where another session has no room, while the session runs', async () => {
    let now = Date.now();
    const disk = faultyDisk();
    const log = await open({ disk, segmentBytes: 1_000, now: () => now, tidyMs: 10 });
    const writes = await log.create('writes', {}, forever);
    const [runs, closed] = [
      await log.create('runs', {}, { frames: 2, seconds: 60 }),
      await log.create('closed', {}, { frames: 2, seconds: 60 }),
    ];
    for (const writer of [runs, closed]) for (let n = 0; n < 20; n++) await writer.append([entry('x'.repeat(400), now)]);
    await closed.release();
    const before = await segments('closed');
    now += 121_000;
    disk.refuse = (deed, path) => (deed === 'write' && path.includes('/writes/') ? 'ENOSPC' : undefined);
    const append = writes.append([entry('z', now)]);
    await expect.poll(async () => (await segments('runs')).length, { timeout: 10_000 }).toBe(1);
    expect(runs.reader.extent()).toEqual({ oldest: Number((await lastSegment('runs')).slice(-20, -4)), current: 20 });
    expect(await segments('closed')).toEqual(before);
    expect(await runs.append([entry('y', now)])).toBe(21);
    disk.refuse = () => undefined;
    expect(await append).toBe(1);
  });

  it('is little memory, not an object for each entry', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const log = await open();
    const writer = await log.create('s', {}, forever);
    const fill = async (times: number) => {
      for (let n = 0; n < times; n++) await writer.append(Array.from({ length: 1_000 }, () => draft('x'.repeat(64))));
    };
    await fill(5);
    collect();
    const before = process.memoryUsage().heapUsed;
    await fill(150);
    collect();
    expect(writer.reader.extent().current).toBe(155_000);
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(4 * 1024 * 1024);
  });
});
