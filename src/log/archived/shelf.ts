// What an archive has of one session: which segments there are, and reading from them. Knows no log and writes nothing.
import { LogError, type Numbered, type Stretch } from '../log.js';
import type { Access } from './access.js';
import { readSegmentName, type SegmentName, segmentsOf } from './names.js';
import type { Newest } from './segment.js';

interface Limit {
  readonly frames: number;
  readonly bytes: number;
}

export interface Keeping {
  /** For how many seconds an entry is kept, from its time on. */
  readonly seconds: number;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Numbers that are kept without a gap, until the first of them expires in milliseconds since the epoch. */
interface Run {
  readonly from: number;
  readonly to: number;
  readonly until: number;
}

/**
 * Segments may overlap where two owners archived the same numbers: one number is one entry for ever, so that it does not matter whose is
 * read. One whose newest entry is older than what is kept is there no more, whether it was deleted yet or not.
 */
export class Shelf {
  readonly id: string;
  readonly #access: Access;
  readonly #keeping: Keeping;
  /** By their last number, ascending. */
  #segments: SegmentName[] = [];
  #newest: Newest | undefined;
  #covered = 0;
  #begin = 1;
  #given = Number.POSITIVE_INFINITY;
  #run: Run | undefined;
  #loadedAt = Number.NEGATIVE_INFINITY;
  #loading: Promise<void> | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(id: string, access: Access, keeping: Keeping) {
    this.id = id;
    this.#access = access;
    this.#keeping = keeping;
  }

  /** Of a session that has just begun: there is nothing to ask for. */
  static empty(id: string, access: Access, keeping: Keeping): Shelf {
    const shelf = new Shelf(id, access, keeping);
    shelf.#loadedAt = performance.now();
    shelf.#newest = {};
    return shelf;
  }

  /** The last number that is in a segment. */
  get end(): number {
    return this.#last()?.to ?? 0;
  }

  /** The log has given no number above this one: a name that says it keeps one was not written by a gateway, and nothing is taken for archived on its account. */
  given(current: number): void {
    this.#given = Number.isFinite(this.#given) ? Math.max(this.#given, current) : current;
  }

  #last(): SegmentName | undefined {
    return this.#segments.findLast(({ to }) => to <= this.#given);
  }

  /** Up to here nothing is left to archive: behind the last segment there may be numbers that keep nothing. */
  get covered(): number {
    return Math.max(this.#covered, this.end);
  }

  cover(upTo: number): void {
    this.#covered = Math.max(this.#covered, upTo);
  }

  /** The first number of the next segment. */
  get next(): number {
    return Math.max(this.#begin, this.end + 1);
  }

  /** What comes before is lost: the next segment does not stand for it. */
  beginAt(from: number): void {
    this.#begin = from;
    this.cover(from - 1);
  }

  get isLoaded(): boolean {
    return Number.isFinite(this.#loadedAt);
  }

  /** Asks the store which segments there are, unless that was done within `ageMs` milliseconds. */
  async load(ageMs: number): Promise<void> {
    if (performance.now() - this.#loadedAt <= ageMs) return;
    this.#loading ??= this.#list().finally(() => {
      this.#loading = undefined;
    });
    await this.#loading;
  }

  async #list(): Promise<void> {
    const names = await this.#access.list(segmentsOf(this.id));
    const before = this.#segments;
    this.#segments = [];
    this.#run = undefined;
    for (const segment of names.flatMap((name) => readSegmentName(name) ?? [])) this.#insert(segment);
    // What was added while the list was made may not be on it.
    for (const segment of before) if (!names.includes(segment.name) && segment.to > this.end) this.#insert(segment);
    this.#loadedAt = performance.now();
  }

  add(segment: SegmentName, newest: Newest): void {
    this.given(segment.to);
    this.#insert(segment);
    this.#newest = newest;
  }

  #insert(segment: SegmentName): void {
    const at = this.#segments.findLastIndex(({ to }) => to <= segment.to) + 1;
    this.#segments.splice(at, 0, segment);
    this.#run = undefined;
  }

  /** The lowest number from which on nothing is missing, where the log has all from `oldest` on. */
  reach(oldest: number): number {
    const { from, to } = this.#whole();
    return to >= oldest - 1 ? Math.min(from, oldest) : oldest;
  }

  /** The numbers up to the end of the archive that it has without a gap. */
  #whole(): Run {
    const now = this.#keeping.now();
    if (this.#run === undefined || now >= this.#run.until) this.#run = this.#findRun();
    return this.#run;
  }

  #findRun(): Run {
    const run = { from: Number.POSITIVE_INFINITY, to: 0, until: Number.POSITIVE_INFINITY };
    for (const segment of this.#segments.toReversed()) {
      if (segment.to < run.from - 1 && run.to > 0) break;
      if (!this.#isKept(segment)) break;
      run.from = Math.min(run.from, segment.from);
      run.to = Math.max(run.to, segment.to);
      run.until = Math.min(run.until, segment.newestMs + this.#keeping.seconds * 1000);
    }
    return run;
  }

  /** The numbers that are not kept, where the log has all from `oldest` on. */
  missing(oldest: number): Stretch[] {
    const kept: Stretch[] = this.#segments.filter((segment) => this.#isKept(segment)).sort((a, b) => a.from - b.from);
    const gaps: Stretch[] = [];
    let end = 0;
    for (const { from, to } of [...kept, { from: oldest, to: oldest }]) {
      if (from > end + 1) gaps.push({ from: end + 1, to: from - 1 });
      end = Math.max(end, to);
    }
    return gaps;
  }

  /** What is kept of the numbers above `after` and below `below`, ascending; empty where that is nothing. */
  async read(after: number, below: number, limit: Limit): Promise<Numbered[]> {
    for (let at = after; ; ) {
      const segment = this.#next(at, below);
      if (!segment) return [];
      const found = await this.#access.segment(this.id, segment.name);
      if (!found) this.forget([segment]);
      const entries = found?.entries.filter(({ sequence }) => sequence > at && sequence < below) ?? [];
      if (entries.length > 0) return within(entries, limit);
      if (found) at = segment.to;
    }
  }

  /** The newest entry of a kind. */
  async latest(kind: string): Promise<Numbered | undefined> {
    const sequence = (await this.newest())[kind];
    if (sequence === undefined) return undefined;
    const [entry] = await this.read(sequence - 1, sequence + 1, { frames: 1, bytes: 0 });
    return entry?.kind === kind ? entry : undefined;
  }

  /** Where the newest entry of each kind is. */
  async newest(): Promise<Newest> {
    const last = this.#last();
    if (!last) return {};
    this.#newest ??= (await this.#access.segment(this.id, last.name))?.newest;
    return this.#newest ?? {};
  }

  /** Those of which nothing has to be kept any more. */
  expired(): SegmentName[] {
    return this.#segments.filter((segment) => !this.#isKept(segment));
  }

  forget(gone: readonly SegmentName[]): void {
    this.beginAt(this.next);
    this.#segments = this.#segments.filter((segment) => !gone.includes(segment));
    this.#run = undefined;
  }

  /** Work of which one comes after the other. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  #isKept({ newestMs }: { readonly newestMs: number }): boolean {
    return newestMs > this.#keeping.now() - this.#keeping.seconds * 1000;
  }

  /** The one that has the most of what follows `after`, or else the first behind it. */
  #next(after: number, below: number): SegmentName | undefined {
    let best: SegmentName | undefined;
    for (const segment of this.#segments) {
      if (segment.to <= after || segment.from >= below || !this.#isKept(segment)) continue;
      if (!best || Math.max(segment.from, after + 1) <= Math.max(best.from, after + 1)) best = segment;
    }
    return best;
  }
}

/** At most so many entries and, past the first, bytes of bodies. */
function within(entries: readonly Numbered[], { frames, bytes }: Limit): Numbered[] {
  let sum = 0;
  const end = entries.findIndex(({ body }, i) => {
    sum += body.length;
    return i >= frames || (i > 0 && sum > bytes);
  });
  return entries.slice(0, end < 0 ? entries.length : end);
}

export const isCorrupt = (error: unknown): error is LogError => error instanceof LogError && error.failure === 'corrupt';
