// The files of one session: what is in them, writing at their end, reading from any place, trimming at their beginning.
// Knows no writer, follower or promise to a caller; it is used by one at a time for writing, by many for reading.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Draft, isEntry, LogError, type Numbered, type Retention } from '../log.js';
import { type Disk, errorCode, explain, syncFolder, writeAll } from './disk.js';
import { byteLength, decode, encode, recordType, type Stored, type Unplaced } from './framing.js';
import type { Handles } from './handles.js';
import { placeOf, type Recovered } from './recovery.js';
import { Retained } from './retained.js';
import { Scratch } from './scratch.js';
import { freshSegment, note, type Place, readStretch, type Segment, type Start, seek, segmentName } from './segment.js';

/** The newest segments keep their sparse index: at most 8 × 128 marks a session. */
const INDEXED_SEGMENTS = 8;
/** Ends of reads remembered, so that the next read of the same cursor need not search. */
const MAX_HINTS = 64;
/** What is trimmed without a write is older than it need be by so much, in milliseconds, lest a clock that is set back before the next write has it missed. */
const CLOCK_SLACK_MS = 60_000;
const MIN_READ_BYTES = 64 * 1024;
const MAX_READ_BYTES = 1024 * 1024;

export interface Limit {
  readonly frames: number;
  readonly bytes: number;
}

/** What a write will do, decided before the disk is asked, so that trying again does the same. */
export interface Plan {
  readonly segment: Segment;
  readonly fresh: boolean;
  readonly at: number;
  readonly bytes: Buffer;
  readonly records: readonly Stored[];
  /** For each append: its first number, its kept entries, the last number given. */
  readonly calls: ReadonlyArray<{ readonly first: number; readonly last: number; readonly entries: readonly Numbered[] }>;
  readonly clock: number;
}

/** For the bytes of all plans, of all sessions. */
const scratch = new Scratch();

interface Gathering {
  sequence: number;
  at: number;
  readonly clock: number;
  readonly records: Stored[];
}

/** Where a session's files are, and what is to be done with them. */
export interface Home {
  readonly folder: string;
  readonly disk: Disk;
  readonly handles: Handles;
  readonly segmentBytes: number;
  readonly retention: Retention;
}

export class SessionFiles {
  private readonly home: Home;
  private readonly segments: Segment[];
  private readonly latest: Map<string, Place>;
  private readonly retained: Retained;
  private readonly hints = new Map<number, { readonly base: number; readonly offset: number }>();
  /** The last number written, and the entries ever written. */
  private written: number;
  private total: number;
  private clock: number;
  /** Set until a segment is begun above a loss. */
  private lost: boolean;
  private dead: readonly number[];
  /** The end of the last segment may hold a part of a write. */
  private tailUnsure = true;
  /** Resolves when the segment before the last is on the disk. */
  private turned: Promise<void> = Promise.resolve();

  constructor(home: Home, found: Recovered) {
    this.home = home;
    this.segments = found.segments;
    this.latest = found.latest;
    this.written = found.current;
    const last = found.segments.at(-1);
    this.total = last ? last.before + last.entries : 0;
    this.clock = found.clock;
    this.lost = found.lost;
    this.dead = found.dead;
    this.retained = new Retained(home.retention, found.segments, this.floor(), (after, most) => this.heads(after, most));
  }

  /** The lowest number that may be kept, whatever was trimmed. */
  private floor(): { oldest: number; before: number } {
    if (this.lost) return { oldest: this.written + 1, before: this.total };
    const first = this.segments[0];
    return first?.lost ? { oldest: first.base, before: first.before } : { oldest: 1, before: 0 };
  }

  get current(): number {
    return this.written;
  }

  /** Numbers the drafts of some appends and lays them out, from the last number written on. */
  plan(appends: ReadonlyArray<readonly Draft[]>, now: number): Plan {
    const active = this.segments.at(-1);
    const fresh = !active || this.lost || active.end >= this.home.segmentBytes;
    const segment = fresh ? freshSegment(this.written + 1, this.total, this.lost) : active;
    const gathering: Gathering = { sequence: this.written, at: segment.end, clock: Math.max(this.clock, now), records: [] };
    if (fresh) add(gathering, { ...nothing, type: recordType.start, body: Buffer.from(JSON.stringify(this.start())) });
    const calls = appends.map((drafts) => {
      const first = gathering.sequence + 1;
      const entries = number(drafts, gathering);
      return { first, entries, last: gathering.sequence };
    });
    const bytes = scratch.take(gathering.at - segment.end);
    for (const record of gathering.records) encode(record, bytes, record.offset - segment.end);
    return { segment, fresh, at: segment.end, bytes, records: gathering.records, calls, clock: gathering.clock };
  }

  private start(): Start {
    const active = this.segments.at(-1);
    const newest = active && Number.isFinite(active.newest) ? active.newest : null;
    const previous = active && !this.lost ? { base: active.base, end: active.end, newest } : null;
    return { before: this.total, lost: this.lost, previous, latest: Object.fromEntries(this.latest) };
  }

  /** Writes a plan. After a failure the same plan may be written again: what a failed try left is cut off first. */
  async write(plan: Plan): Promise<void> {
    if (plan.fresh) await this.turned;
    const unsure = this.tailUnsure || plan.fresh;
    this.tailUnsure = true;
    await this.home.handles.use(this.path(plan.segment), plan.fresh ? 'w+' : 'r+', async (file) => {
      if (unsure) await file.truncate(plan.at);
      await writeAll(file, plan.bytes, plan.at);
    });
    this.tailUnsure = false;
  }

  /** Takes a written plan into account; its bytes are no longer its own. */
  took(plan: Plan): void {
    scratch.giveBack(plan.bytes);
    const before = this.segments.at(-1);
    if (plan.fresh) this.turn(plan.segment, before);
    for (const record of plan.records) {
      note(plan.segment, record);
      if (record.type !== recordType.entry) continue;
      this.total++;
      this.latest.set(record.kind, placeOf(record, plan.segment.base));
    }
    this.written = plan.calls.at(-1)?.last ?? this.written;
    this.clock = plan.clock;
  }

  /**
   * Goes on in a new segment. It waits for the one before the one that it follows to be on the disk (`turned`), so that after
   * a fall of the machine at most the last two can have holes.
   */
  private turn(next: Segment, before: Segment | undefined): void {
    this.segments.push(next);
    this.lost = false;
    const unindexed = this.segments.at(-1 - INDEXED_SEGMENTS);
    if (unindexed) unindexed.marks = [];
    this.turned = before ? this.settle(before) : Promise.resolve();
  }

  private async settle(segment: Segment): Promise<void> {
    try {
      await this.home.handles.use(this.path(segment), 'r+', (file) => file.sync());
      await syncFolder(this.home.disk, this.home.folder);
    } catch {
      // A segment that was trimmed meanwhile is gone; any other trouble shows in the sync of the last one.
    }
  }

  /** Makes all that was written durable. */
  async sync(): Promise<void> {
    const active = this.segments.at(-1);
    await this.turned;
    if (active && !this.lost) await this.home.handles.use(this.path(active), 'r+', (file) => file.sync());
  }

  /** Trims as of the last write, seen from an append after which `entriesAfter` more were written and `current` was the last number. Resolves with the lowest number kept. */
  async trim(entriesAfter: number, current: number): Promise<number> {
    return this.discardBelow(await this.retained.trim(this.segments, this.total - entriesAfter, current, this.clock));
  }

  /**
   * Trims as of `now` (milliseconds since the epoch) what frees a full disk: whole segments. Nothing is written that would tell a restart of
   * this `now`: a part of a segment would be back then. Resolves with the lowest number kept.
   */
  async makeRoom(now: number): Promise<number> {
    const clock = Math.max(this.clock, now - CLOCK_SLACK_MS);
    return this.discardBelow(await this.retained.trim(this.segments.slice(0, -1), this.total, this.written, clock, true));
  }

  private discardBelow(oldest: number): number {
    while (this.segments.length > 1 && (this.segments[0] as Segment).last < oldest) this.discard((this.segments.shift() as Segment).base);
    for (const base of this.dead) this.discard(base);
    this.dead = [];
    return oldest;
  }

  private discard(base: number): void {
    const path = join(this.home.folder, segmentName(base));
    this.home.handles.forget(path);
    // What cannot be deleted now is below `oldest` for ever, and is tried again after a restart.
    rm(path, { force: true }).catch(() => undefined);
  }

  /** The entries with a number above `after` and at most `until`. */
  async read(after: number, until: number, limit: Limit): Promise<Numbered[]> {
    const found: Numbered[] = [];
    let room = limit.bytes;
    await this.walk(after, until, limit.bytes, (record, segment) => {
      if (found.length >= limit.frames || (found.length > 0 && record.body.length > room)) {
        this.hint(found.at(-1)?.sequence ?? after, segment.base, record.offset);
        return false;
      }
      found.push(entryOf(record));
      room -= record.body.length;
      return true;
    });
    return found;
  }

  /** What one reading of the file finds of them: bodies are large where much is printed. */
  private async heads(after: number, most: number): Promise<Array<{ sequence: number; ts: number }>> {
    const heads: Array<{ sequence: number; ts: number }> = [];
    let first: { readonly base: number; readonly offset: number } | undefined;
    await this.walk(after, Number.POSITIVE_INFINITY, MIN_READ_BYTES, (record, { base }) => {
      first ??= { base, offset: record.offset };
      const isFar = base !== first.base || record.offset - first.offset >= MIN_READ_BYTES;
      if (heads.length > 0 && (heads.length >= most || isFar)) {
        this.hint(heads.at(-1)?.sequence ?? after, base, record.offset);
        return false;
      }
      heads.push({ sequence: record.sequence, ts: record.ts });
      return true;
    });
    return heads;
  }

  /** Visits entries in order until told to stop. */
  private async walk(after: number, until: number, want: number, visit: (record: Stored, segment: Segment) => boolean): Promise<void> {
    let from = after;
    for (let segment = this.segmentAfter(from); segment && from < until; segment = this.segmentAfter(from)) {
      const { last } = segment;
      try {
        if (!(await this.walkSegment(segment, from, until, want, visit))) return;
      } catch (error) {
        // A segment that was trimmed away while it was read has nothing to give.
        if (this.segments.includes(segment)) throw this.named(error, segment);
      }
      from = last;
    }
  }

  private async walkSegment(
    segment: Segment,
    after: number,
    until: number,
    want: number,
    visit: (record: Stored, segment: Segment) => boolean,
  ): Promise<boolean> {
    const hint = this.hints.get(after);
    const end = segment.end;
    const last = segment.last;
    let at = hint?.base === segment.base ? hint.offset : seek(segment, after);
    while (at < end) {
      const size = Math.min(Math.max(want, MIN_READ_BYTES), MAX_READ_BYTES);
      const stretch = await this.home.handles.use(this.path(segment), 'r+', (file) => readStretch(file, at, end, size));
      for (const record of stretch.records) {
        if (record.type !== recordType.entry || record.sequence <= after) continue;
        if (record.sequence > Math.min(until, last) || !visit(record, segment)) return false;
      }
      if (stretch.stop) throw new LogError('corrupt', `${this.path(segment)} is damaged at byte ${stretch.next}: ${stretch.stop.why}`);
      at = stretch.next;
    }
    return true;
  }

  /** The newest entry of a kind, whether it is kept or not. */
  async newest(kind: string): Promise<Numbered | undefined> {
    const place = this.latest.get(kind);
    const segment = place && this.segments.find((one) => one.base === place.base);
    if (!place || !segment) return undefined;
    try {
      const bytes = Buffer.allocUnsafe(place.bytes);
      await this.home.handles.use(this.path(segment), 'r+', (file) => file.read(bytes, place.offset));
      const found = decode(bytes, 0, place.offset);
      if (found.is === 'whole') return entryOf(found.record);
      throw new LogError('corrupt', `${this.path(segment)} is damaged at byte ${place.offset}`);
    } catch (error) {
      throw this.named(error, segment);
    }
  }

  private segmentAfter(after: number): Segment | undefined {
    let low = 0;
    let high = this.segments.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.segments[middle] as Segment).last > after) high = middle;
      else low = middle + 1;
    }
    return this.segments[low];
  }

  private hint(after: number, base: number, offset: number): void {
    this.hints.delete(after);
    this.hints.set(after, { base, offset });
    if (this.hints.size > MAX_HINTS) this.hints.delete(this.hints.keys().next().value as number);
  }

  private named(error: unknown, segment: Segment): LogError {
    if (error instanceof LogError) return error;
    const failure = errorCode(error) === 'ENOENT' ? 'corrupt' : 'unavailable';
    return new LogError(failure, `${this.path(segment)} cannot be read: ${explain(error)}`, { cause: error });
  }

  private path(segment: Segment): string {
    return join(this.home.folder, segmentName(segment.base));
  }
}

const nothing = { sequence: 0, ts: 0, kind: '', id: '', body: new Uint8Array() };

/** Gives the drafts their numbers. Numbers that keep nothing are noted once for all that follow each other. */
function number(drafts: readonly Draft[], gathering: Gathering): Numbered[] {
  const entries: Numbered[] = [];
  drafts.forEach((draft, index) => {
    gathering.sequence++;
    const next = drafts[index + 1];
    if (!isEntry(draft)) {
      if (!next || isEntry(next)) add(gathering, { ...nothing, type: recordType.taken });
      return;
    }
    entries.push({ sequence: gathering.sequence, kind: draft.kind, id: draft.id, ts: draft.ts, body: draft.body });
    add(gathering, { ...draft, type: recordType.entry });
  });
  return entries;
}

function add(gathering: Gathering, given: Omit<Unplaced, 'sequence' | 'takenAt'>): void {
  const { type, ts, kind, id, body } = given;
  const record = { type, sequence: gathering.sequence, ts, takenAt: gathering.clock, kind, id, body };
  const bytes = byteLength(record);
  gathering.records.push({ ...record, offset: gathering.at, bytes });
  gathering.at += bytes;
}

const entryOf = ({ sequence, kind, id, ts, body }: Stored): Numbered => ({ sequence, kind, id, ts, body });
