// What every log keeps, whatever it is made of: one suite that each implementation runs.
import fc from 'fast-check';
import { v7 } from 'uuid';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Draft, type Entry, type Extent, isEntry, type Log, type Numbered, type Placed, type Retention } from '../../src/log/log.js';

/** A log to try, with what the suite must do to it. */
export interface Bench {
  readonly log: Log;
  /** Milliseconds since the epoch by the clock that the log trims by. It stands still but for `advance`. */
  now(): number;
  advance(ms: number): void;
  /** Lets go of the log in order and opens the same store again, as after a restart. */
  reopen(): Promise<Log>;
  /** Ends all that is still open and removes what was stored. */
  dispose(): Promise<void>;
}

/** Puts another log on top of one; `now` is its clock. */
export type Over = (log: Log, now: () => number) => Log;

const everything = { frames: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER };
const forever: Retention = { frames: 1_000, seconds: 86_400 };
const sequences = (entries: readonly Numbered[]): number[] => entries.map((entry) => entry.sequence);
const text = (entry: Numbered | undefined): string | undefined => entry && Buffer.from(entry.body).toString();

/** A number that keeps nothing. */
export const nobody = { to: 'nobody' };

/** An entry as a session would write it. */
export function entry(body: string | Uint8Array, ts: number, kind = 'Output'): Entry {
  return { kind, id: v7(), ts, body: typeof body === 'string' ? Buffer.from(body) : body };
}

/** The rule of pty-ws §8 in the plainest words: the lowest entry goes while it is neither among the newest nor young. */
class Model {
  readonly retention: Retention;
  kept: Numbered[] = [];
  current = 0;
  oldest = 1;

  constructor(retention: Retention) {
    this.retention = retention;
  }

  append(drafts: readonly Draft[], now: number): void {
    for (const draft of drafts) {
      this.current++;
      if (isEntry(draft)) this.kept.push({ sequence: this.current, ...draft });
    }
    for (let first = this.kept[0]; first && this.mayGo(first, now); first = this.kept[0]) {
      this.kept.shift();
      this.oldest = this.kept[0]?.sequence ?? this.current + 1;
    }
  }

  private mayGo(first: Numbered, now: number): boolean {
    return this.kept.length > this.retention.frames && now - first.ts >= this.retention.seconds * 1000;
  }

  get extent(): Extent {
    return { oldest: this.oldest, current: this.current };
  }
}

type Step = { readonly drafts: ReadonlyArray<{ readonly size: number; readonly age: number } | null>; readonly wait: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    drafts: fc.array(fc.option(fc.record({ size: fc.nat(300), age: fc.constantFrom(0, 0, 0, 500, 2_500) }), { freq: 3 }), {
      minLength: 1,
      maxLength: 5,
    }),
    wait: fc.constantFrom(0, 0, 1, 400, 1_000, 5_000),
  }),
  { minLength: 1, maxLength: 25 },
);

/** Runs the suite against logs that `make` makes. */
export function logContract(name: string, make: () => Promise<Bench>): void {
  describe(`${name} keeps the contract of the log`, () => {
    let bench: Bench;
    let log: Log;
    beforeEach(async () => {
      bench = await make();
      log = bench.log;
    });
    afterEach(() => bench.dispose());

    const create = (retention = forever, id = v7()) => log.create(id, { id }, retention);
    const draft = (body: string | Uint8Array, kind?: string): Entry => entry(body, bench.now(), kind);

    describe('numbering', () => {
      it('starts with nothing kept and no number given', async () => {
        const writer = await create();
        expect(writer.reader.extent()).toEqual({ oldest: 1, current: 0 });
        expect(await writer.reader.read(0, everything)).toEqual([]);
      });

      it('numbers from 1 without gaps, and resolves with the first number of each append', async () => {
        const writer = await create();
        expect(await writer.append([draft('a')])).toBe(1);
        expect(await writer.append([draft('b'), draft('c'), draft('d')])).toBe(2);
        expect(await writer.append([draft('e')])).toBe(5);
        expect(sequences(await writer.reader.read(0, everything))).toEqual([1, 2, 3, 4, 5]);
      });

      it('takes appends in the order of the calls when nobody waits for the one before', async () => {
        const writer = await create();
        const firsts = await Promise.all(Array.from({ length: 200 }, (_, n) => writer.append([draft(`${n}`), draft(`${n}+`)])));
        expect(firsts).toEqual(Array.from({ length: 200 }, (_, n) => 2 * n + 1));
        const bodies = (await writer.reader.read(0, everything)).map(text);
        expect(bodies).toEqual(Array.from({ length: 200 }, (_, n) => [`${n}`, `${n}+`]).flat());
      });

      it('gives a number for a place and keeps nothing for it', async () => {
        const writer = await create();
        expect(await writer.append([nobody])).toBe(1);
        expect(await writer.append([draft('a'), nobody, nobody, draft('b'), nobody])).toBe(2);
        expect(writer.reader.extent()).toEqual({ oldest: 1, current: 6 });
        expect(sequences(await writer.reader.read(0, everything))).toEqual([2, 5]);
      });

      it('gives each session its own numbers', async () => {
        const [one, other] = [await create(), await create()];
        await Promise.all([one.append([draft('a'), draft('b')]), other.append([draft('c')])]);
        expect([one.reader.extent().current, other.reader.extent().current]).toEqual([2, 1]);
      });

      it('gives back kind, id, ts and body byte for byte', async () => {
        const writer = await create();
        const given = { kind: 'K'.repeat(32), id: v7(), ts: bench.now() - 7, body: Uint8Array.from({ length: 256 }, (_, n) => n) };
        const empty = { ...draft(''), kind: 'x' };
        await writer.append([given, empty]);
        const [first, second] = await writer.reader.read(0, everything);
        expect({ ...first, body: [...(first?.body ?? [])] }).toEqual({ sequence: 1, ...given, body: [...given.body] });
        expect({ ...second, body: [...(second?.body ?? [])] }).toEqual({ sequence: 2, ...empty, body: [] });
      });

      it('keeps a body of a megabyte', async () => {
        const writer = await create();
        const body = Buffer.alloc(1024 * 1024, 'large ');
        await writer.append([draft(body)]);
        expect(Buffer.compare((await writer.reader.read(0, everything))[0]?.body ?? Buffer.alloc(0), body)).toBe(0);
      });
    });

    describe('followers', () => {
      it('are told of each append once, in order, with the extent after it, before its promise resolves', async () => {
        const writer = await create();
        const told: Array<[number[], Extent, readonly Placed[]]> = [];
        writer.reader.follow((entries, extent, places) => told.push([sequences(entries), extent, places]));
        const seen = await Promise.all([
          writer.append([draft('a')]).then(() => told.length),
          writer.append([nobody]).then(() => told.length),
          writer.append([draft('b'), nobody, draft('c')]).then(() => told.length),
        ]);
        expect(told).toEqual([
          [[1], { oldest: 1, current: 1 }, []],
          [[], { oldest: 1, current: 2 }, [{ to: 'nobody', sequence: 2 }]],
          [[3, 5], { oldest: 1, current: 5 }, [{ to: 'nobody', sequence: 4 }]],
        ]);
        expect(seen.every((length, index) => length > index)).toBe(true);
      });

      it('can read what they are told of, at once', async () => {
        const writer = await create();
        const reads: Array<Promise<Numbered[]>> = [];
        writer.reader.follow((entries) => reads.push(writer.reader.read((entries[0]?.sequence ?? 1) - 1, everything)));
        await writer.append([draft('a'), draft('b')]);
        expect((await reads[0])?.map(text)).toEqual(['a', 'b']);
      });

      it('are told in the order in which they began to follow', async () => {
        const writer = await create();
        const told: string[] = [];
        for (const name of ['first', 'second', 'third']) writer.reader.follow(() => told.push(name));
        await writer.append([draft('a')]);
        expect(told).toEqual(['first', 'second', 'third']);
      });

      it('harm nobody by throwing', async () => {
        const writer = await create();
        const told: number[] = [];
        writer.reader.follow(() => {
          throw new Error('a broken follower');
        });
        writer.reader.follow((entries) => told.push(...sequences(entries)));
        expect(await writer.append([draft('a')])).toBe(1);
        expect(told).toEqual([1]);
      });

      it('are told no more once they stopped', async () => {
        const writer = await create();
        const told: number[] = [];
        const stop = writer.reader.follow((entries) => told.push(...sequences(entries)));
        await writer.append([draft('a')]);
        stop();
        await writer.append([draft('b')]);
        expect(told).toEqual([1]);
      });

      it('are told by any reader of the session', async () => {
        const id = v7();
        const writer = await create(forever, id);
        const reader = await log.reader(id);
        const told = new Promise<number[]>((resolve) => reader.follow((entries) => resolve(sequences(entries))));
        await writer.append([draft('a')]);
        expect(await told).toEqual([1]);
        expect(reader.extent()).toEqual({ oldest: 1, current: 1 });
        expect(await log.reader(id)).toBe(reader);
      });
    });

    describe('reading', () => {
      it('gives what lies above the place, at most so many entries and bytes, and always at least one', async () => {
        const writer = await create();
        await writer.append(Array.from({ length: 20 }, (_, n) => draft(`${n + 1}`.padStart(10, '.'))));
        const read = async (after: number, frames: number, bytes: number) => sequences(await writer.reader.read(after, { frames, bytes }));
        expect(await read(4, 3, 1_000)).toEqual([5, 6, 7]);
        expect(await read(4, 100, 25)).toEqual([5, 6]);
        expect(await read(4, 100, 30)).toEqual([5, 6, 7]);
        expect(await read(4, 100, 1)).toEqual([5]);
        expect(await read(18, 100, 1_000)).toEqual([19, 20]);
        expect(await read(20, 100, 1_000)).toEqual([]);
        expect(await read(1_000, 100, 1_000)).toEqual([]);
      });

      it('reads in pieces of any size what it reads at once', async () => {
        const writer = await create();
        const drafts = fc
          .sample(fc.option(fc.nat(5_000), { freq: 4 }), 300)
          .map((size) => (size === null ? nobody : draft(Buffer.alloc(size, 'x'))));
        await writer.append(drafts);
        const all = await writer.reader.read(0, everything);
        const limits = fc.record({ frames: fc.integer({ min: 1, max: 60 }), bytes: fc.integer({ min: 1, max: 200_000 }) });
        await fc.assert(
          fc.asyncProperty(fc.nat(310), limits, async (from, limit) => {
            const pieces: number[] = [];
            for (let after = from; ; after = pieces.at(-1) ?? after) {
              const piece = await writer.reader.read(after, limit);
              if (piece.length === 0) break;
              expect(piece.length).toBeLessThanOrEqual(limit.frames);
              pieces.push(...sequences(piece));
            }
            expect(pieces).toEqual(sequences(all).filter((sequence) => sequence > from));
          }),
          { numRuns: 20 },
        );
      });

      it('gives every entry that it gives once, in order and whole, while more are taken and trimmed', async () => {
        const writer = await create({ frames: 40, seconds: 1 });
        const bodyOf = (sequence: number) => `${sequence} `.repeat(1 + (sequence % 50));
        const appending = (async () => {
          for (let n = 0; n < 60; n++) {
            bench.advance(500);
            await writer.append(Array.from({ length: 10 }, (_, i) => draft(bodyOf(10 * n + i + 1))));
          }
        })();
        const lane = async (limit: { frames: number; bytes: number }) => {
          for (let after = 0; after < 600; ) {
            const piece = await writer.reader.read(after, limit);
            for (const one of piece) {
              expect(one.sequence).toBeGreaterThan(after);
              expect(text(one)).toBe(bodyOf(one.sequence));
              after = one.sequence;
            }
            await new Promise(setImmediate);
          }
        };
        await Promise.all([appending, lane({ frames: 3, bytes: 1_000 }), lane({ frames: 50, bytes: 100_000 }), lane(everything)]);
      });

      it('knows the newest entry of each kind', async () => {
        const writer = await create();
        expect(await writer.reader.latest('Keyframe')).toBeUndefined();
        await writer.append([draft('k1', 'Keyframe'), draft('o1'), draft('k2', 'Keyframe'), draft('o2')]);
        expect(text(await writer.reader.latest('Keyframe'))).toBe('k2');
        expect((await writer.reader.latest('Output'))?.sequence).toBe(4);
        expect(await writer.reader.latest('Closed')).toBeUndefined();
      });

      it('no longer knows the newest of a kind when it is trimmed away', async () => {
        const writer = await create({ frames: 2, seconds: 1 });
        await writer.append([draft('k', 'Keyframe')]);
        bench.advance(2_000);
        await writer.append([draft('a'), draft('b'), draft('c')]);
        expect(await writer.reader.latest('Keyframe')).toBeUndefined();
      });
    });

    describe('retention', () => {
      it('keeps all that is among the newest or young, and no more', async () => {
        const writer = await create({ frames: 3, seconds: 10 });
        await writer.append([draft('a'), draft('b'), draft('c'), draft('d'), draft('e')]);
        expect(writer.reader.extent()).toEqual({ oldest: 1, current: 5 });
        bench.advance(9_999);
        await writer.append([draft('f')]);
        expect(writer.reader.extent().oldest).toBe(1);
        bench.advance(1);
        await writer.append([nobody]);
        expect(writer.reader.extent()).toEqual({ oldest: 4, current: 7 });
        expect(sequences(await writer.reader.read(0, everything))).toEqual([4, 5, 6]);
      });

      it('does not count places', async () => {
        const writer = await create({ frames: 2, seconds: 1 });
        await writer.append([draft('a'), nobody, nobody, draft('b'), nobody]);
        bench.advance(5_000);
        await writer.append([nobody, nobody, nobody]);
        expect(writer.reader.extent()).toEqual({ oldest: 1, current: 8 });
        await writer.append([draft('c')]);
        expect(writer.reader.extent()).toEqual({ oldest: 4, current: 9 });
      });

      it('does what the plain model does, for any appends and any times, also over a restart', async () => {
        const retentions = fc.record({ frames: fc.integer({ min: 1, max: 12 }), seconds: fc.integer({ min: 1, max: 4 }) });
        await fc.assert(
          fc.asyncProperty(retentions, steps, fc.nat(30), async (retention, todo, restartAt) => {
            const id = v7();
            const model = new Model(retention);
            let writer = await log.create(id, {}, retention);
            for (const [index, step] of todo.entries()) {
              if (index === restartAt) {
                log = await bench.reopen();
                expect((await log.reader(id)).extent()).toEqual(model.extent);
                writer = await log.claim(id);
              }
              bench.advance(step.wait);
              const drafts = step.drafts.map((one) =>
                one ? entry(Buffer.alloc(one.size, 'y'), bench.now() - one.age, one.size % 5 === 0 ? 'Keyframe' : 'Output') : nobody,
              );
              const first = model.current + 1;
              model.append(drafts, bench.now());
              expect(await writer.append(drafts)).toBe(first);
              expect(writer.reader.extent()).toEqual(model.extent);
            }
            expect(sequences(await writer.reader.read(0, everything))).toEqual(sequences(model.kept));
            for (const kind of ['Keyframe', 'Output']) {
              expect((await writer.reader.latest(kind))?.sequence).toBe(model.kept.findLast((one) => one.kind === kind)?.sequence);
            }
            await log.remove(id);
          }),
          { numRuns: 40 },
        );
      });
    });

    describe('ownership', () => {
      it('fences the writer before the one that claimed, and loses nothing of what it was given', async () => {
        const id = v7();
        const first = await create(forever, id);
        const early = first.append([draft('a')]);
        const second = await log.claim(id);
        expect(await early).toBe(1);
        await expect(first.append([draft('x')])).rejects.toMatchObject({ name: 'LogError', failure: 'fenced' });
        await expect(first.amend({})).rejects.toMatchObject({ failure: 'fenced' });
        expect(await second.append([draft('b')])).toBe(2);
        expect((await second.reader.read(0, everything)).map(text)).toEqual(['a', 'b']);
      });

      it('leaves the record that a claim brings, or else the one that was there', async () => {
        const id = v7();
        const first = await create(forever, id);
        await first.amend({ owner: 'one' });
        await log.claim(id, undefined, { owner: 'two' });
        expect(await log.record(id)).toEqual({ owner: 'two' });
        await log.claim(id);
        expect(await log.record(id)).toEqual({ owner: 'two' });
      });

      it('lets a fenced writer release without disturbing the new one', async () => {
        const id = v7();
        const first = await create(forever, id);
        const second = await log.claim(id);
        await first.release();
        expect(await second.append([draft('a')])).toBe(1);
      });

      it('takes what was appended before a release, and nothing after', async () => {
        const id = v7();
        const writer = await create(forever, id);
        const last = writer.append([draft('a')]);
        await writer.release();
        expect(await last).toBe(1);
        await expect(writer.append([draft('b')])).rejects.toMatchObject({ failure: 'fenced' });
        expect((await (await log.reader(id)).read(0, everything)).map(text)).toEqual(['a']);
        expect(await (await log.claim(id)).append([draft('c')])).toBe(2);
      });

      it('refuses to begin a session twice', async () => {
        const id = v7();
        await create(forever, id);
        await expect(create(forever, id)).rejects.toMatchObject({ failure: 'exists' });
      });

      it('lets only one of two begin a session', async () => {
        const id = v7();
        const both = await Promise.allSettled([create(forever, id), create(forever, id)]);
        expect(both.map((one) => one.status).sort()).toEqual(['fulfilled', 'rejected']);
      });

      it('does not know a session that was never begun', async () => {
        await expect(log.claim(v7())).rejects.toMatchObject({ failure: 'unknown_session' });
        await expect(log.reader(v7())).rejects.toMatchObject({ failure: 'unknown_session' });
        expect(await log.record(v7())).toBeUndefined();
        expect([log.trouble(), log.damaged()]).toEqual([undefined, []]);
      });

      it('does not know ids that no store could hold, and stays well', async () => {
        for (const id of ['', '.', '..', '../..', 'a/b', 'x'.repeat(5_000), '\0', '\ud800']) {
          await expect(log.reader(id)).rejects.toMatchObject({ failure: 'unknown_session' });
        }
        expect([log.trouble(), log.damaged()]).toEqual([undefined, []]);
      });
    });

    describe('records', () => {
      it('are listed by id, as last amended', async () => {
        const ids = Array.from({ length: 20 }, () => v7()).sort();
        const writers = await Promise.all(ids.toReversed().map((id) => create(forever, id)));
        await writers[0]?.amend({ title: 'ünïcode', nested: { list: [1, null] } });
        const records = await log.records();
        expect(records.map((one) => one.sessionId)).toEqual(ids);
        expect(records.at(-1)?.record).toEqual({ title: 'ünïcode', nested: { list: [1, null] } });
        expect(await log.record(ids[0] as string)).toEqual({ id: ids[0] });
      });

      it('end as the last of many amendments', async () => {
        const id = v7();
        const writer = await create(forever, id);
        await Promise.all(Array.from({ length: 30 }, (_, n) => writer.amend({ n })));
        expect(await log.record(id)).toEqual({ n: 29 });
      });

      it('go with their session when it is removed', async () => {
        const id = v7();
        const writer = await create(forever, id);
        await writer.append([draft('a')]);
        await log.remove(id);
        expect(await log.record(id)).toBeUndefined();
        expect(await log.records()).toEqual([]);
        await expect(log.reader(id)).rejects.toMatchObject({ failure: 'unknown_session' });
        await expect(writer.append([draft('b')])).rejects.toMatchObject({ name: 'LogError' });
        await log.remove(id);
      });
    });

    describe('opened again', () => {
      it('has everything that was taken, and goes on with the next number', async () => {
        const id = v7();
        const writer = await create(forever, id);
        await writer.append([draft('a'), draft('k', 'Keyframe'), nobody]);
        await writer.amend({ title: 'kept' });
        log = await bench.reopen();
        const again = await log.claim(id);
        expect(again.reader.extent()).toEqual({ oldest: 1, current: 3 });
        expect(text(await again.reader.latest('Keyframe'))).toBe('k');
        expect(await log.record(id)).toEqual({ title: 'kept' });
        expect(await again.append([draft('b')])).toBe(4);
        expect((await again.reader.read(0, everything)).map(text)).toEqual(['a', 'k', 'b']);
      });

      it('has what was still under way when it was closed', async () => {
        const id = v7();
        const writer = await create(forever, id);
        const appends = Array.from({ length: 50 }, (_, n) => writer.append([draft(`${n}`)]));
        log = await bench.reopen();
        expect((await Promise.all(appends)).length).toBe(50);
        expect((await log.reader(id)).extent().current).toBe(50);
      });

      it('does not know what was removed', async () => {
        const id = v7();
        await create(forever, id);
        await log.remove(id);
        log = await bench.reopen();
        expect(await log.records()).toEqual([]);
      });
    });
  });
}
