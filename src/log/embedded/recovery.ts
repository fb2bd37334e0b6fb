// What a session's folder says after a restart: which numbers were given, what is kept, and whether anything was lost. Writes nothing.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LogError } from '../log.js';
import { sameBoot } from './boot.js';
import { type Disk, type DiskFile, explain, withFile } from './disk.js';
import { decode, HEADER_BYTES, recordType, type Stored } from './framing.js';
import type { Contents } from './record-file.js';
import { baseOf, freshSegment, note, type Place, readStretch, type Segment, type Start, segmentName } from './segment.js';

/** How far the numbers jump when some that were given may have been lost: more than a machine can have shown and not yet synced. */
export const LOSS_JUMP = 2 ** 20;

const START_READ_BYTES = 4096;
const SCAN_READ_BYTES = 1024 * 1024;

export interface Recovered {
  /** Ascending; the last one is written on. */
  readonly segments: Segment[];
  readonly latest: Map<string, Place>;
  /** The last number given. */
  readonly current: number;
  /** Milliseconds since the epoch: the latest time at which entries were taken. */
  readonly clock: number;
  /** Something that was shown may be gone: writing goes on in a new segment, and nothing before is readable. */
  readonly lost: boolean;
  /** Bases of files from before an earlier loss, which nobody can read. */
  readonly dead: readonly number[];
}

/** `now`: milliseconds since the epoch. LogError `corrupt`, naming the file and the place, where what is stored does not hold together. */
export async function recover(disk: Disk, folder: string, contents: Contents, boot: string, now: number): Promise<Recovered> {
  try {
    return await new Recovery(disk, folder, contents, boot, now).run();
  } catch (error) {
    if (error instanceof LogError) throw error;
    throw new LogError('unavailable', `${folder} cannot be read: ${explain(error)}`, { cause: error });
  }
}

class Recovery {
  private readonly disk: Disk;
  private readonly folder: string;
  private readonly contents: Contents;
  /** The machine fell while this was being written: what was not synced may be missing, in any place. */
  private readonly fell: boolean;
  private readonly now: number;
  private readonly latest = new Map<string, Place>();
  private clock = 0;
  private first: Start | undefined;
  private dead: number[] = [];
  /** All numbers up to it were given, since a segment begins above it. */
  private named = 0;

  constructor(disk: Disk, folder: string, contents: Contents, boot: string, now: number) {
    this.now = now;
    this.disk = disk;
    this.folder = folder;
    this.contents = contents;
    this.fell = contents.writing !== null && !sameBoot(contents.writing, boot);
  }

  async run(): Promise<Recovered> {
    const segments = await this.outline();
    // At most the last segment and the one before it were not on the disk yet (see SessionFiles.turn).
    const suspects = this.fell ? segments.slice(-2) : segments.slice(-1);
    for (const segment of suspects) {
      const whole = await this.scan(segment);
      if (!whole) segments.splice(segments.indexOf(segment) + 1);
      if (!whole) break;
    }
    const current = segments.at(-1)?.last ?? 0;
    if (this.fell || current < this.contents.current) {
      const jumped = Math.max(current, this.contents.current, this.named) + LOSS_JUMP;
      return { segments, latest: new Map(), current: jumped, clock: this.clock, lost: true, dead: this.dead };
    }
    this.demandAllKept(segments);
    return { segments, latest: this.latest, current, clock: this.clock, lost: false, dead: this.dead };
  }

  /** The segments as their starts tell of them: each says how the one before it ended. Nothing before a loss counts. */
  private async outline(): Promise<Segment[]> {
    const bases = (await readdir(this.folder)).map(baseOf).filter((base) => base !== undefined);
    if (bases.length === 0) throw new LogError('corrupt', `${this.folder} holds no segment file`);
    bases.sort((a, b) => a - b);
    this.named = (bases.at(-1) as number) - 1;
    const starts = await this.starts(bases);
    this.first = starts[0]?.start;
    const segments: Segment[] = [];
    for (const { base, start } of starts) {
      this.join(segments.at(-1), start, base);
      segments.push(freshSegment(base, start.before, start.lost));
      for (const [kind, place] of Object.entries(start.latest)) this.latest.set(kind, place);
    }
    this.dead = bases.filter((base) => base < (segments[0]?.base ?? 0));
    return segments;
  }

  /** From the last back to the beginning or a loss. What follows a start that is not whole is not there either. */
  private async starts(bases: readonly number[]): Promise<Array<{ base: number; start: Start }>> {
    const suspect = bases.at(this.fell ? -2 : -1) ?? 0;
    const starts: Array<{ base: number; start: Start }> = [];
    for (const base of bases.toReversed()) {
      const start = await this.start(base, base >= suspect);
      if (start) starts.unshift({ base, start });
      else starts.length = 0;
      if (start?.lost) break;
    }
    return starts;
  }

  /** Undefined if the start was never whole, where that may be: then nothing in the segment was ever acknowledged, or it was lost. */
  private async start(base: number, mayBeTorn: boolean): Promise<Start | undefined> {
    const path = this.path(base);
    const record = await withFile(this.disk, path, 'r', async (file) => {
      const size = await file.size();
      const stretch = await readStretch(file, 0, size, START_READ_BYTES);
      if (stretch.records.length === 0 && mayBeTorn && (this.fell || (await this.torn(file, 0, size, base - 1, stretch.stop?.is))))
        return undefined;
      return stretch.records[0] ?? this.damage(base, 0, stretch.stop?.why ?? 'it is empty');
    });
    if (!record) return undefined;
    if (record.type !== recordType.start || record.sequence !== base - 1)
      return this.damage(base, 0, 'it begins with another number than its name');
    this.clock = Math.max(this.clock, record.takenAt);
    return JSON.parse(Buffer.from(record.body).toString()) as Start;
  }

  private join(before: Segment | undefined, start: Start, base: number): void {
    if (!before || start.lost) return;
    if (start.previous?.base !== before.base) {
      throw new LogError(
        'corrupt',
        `${this.folder}: the segment ${segmentName(start.previous?.base ?? 1)} is missing, before ${segmentName(base)}`,
      );
    }
    before.end = start.previous.end;
    before.newest = start.previous.newest ?? Number.NEGATIVE_INFINITY;
    before.entries = start.before - before.before;
    before.last = base - 1;
  }

  /** Reads all of a segment. False if its end is not there: cut, or torn while it was written. */
  private async scan(segment: Segment): Promise<boolean> {
    const told = segment.end;
    Object.assign(segment, freshSegment(segment.base, segment.before, segment.lost));
    return withFile(this.disk, this.path(segment.base), 'r', async (file) => {
      const size = told || (await file.size());
      while (segment.end < size) {
        const stretch = await readStretch(file, segment.end, size, SCAN_READ_BYTES);
        const stray = stretch.records.find((record) => !this.follow(segment, record));
        const stop = stray ? ({ is: 'damaged', why: 'its number does not follow' } as const) : stretch.stop;
        if (!stop) continue;
        if (this.fell || (await this.torn(file, segment.end, size, segment.last, stop.is))) return false;
        return this.damage(segment.base, segment.end, stop.why);
      }
      return true;
    });
  }

  private follow(segment: Segment, record: Stored): boolean {
    const fits =
      record.type === recordType.start
        ? record.offset === 0
        : record.type === recordType.entry
          ? record.sequence === segment.last + 1
          : record.type === recordType.taken && record.sequence > segment.last;
    if (!fits || record.offset !== segment.end) return false;
    note(segment, record);
    this.clock = Math.max(this.clock, record.takenAt);
    if (record.type === recordType.entry) this.latest.set(record.kind, placeOf(record, segment.base));
    return true;
  }

  /** A process that is killed leaves a beginning of its last write. Anything whole behind a bad place shows that it was not that. */
  private async torn(file: DiskFile, from: number, size: number, last: number, stop: string | undefined): Promise<boolean> {
    if (stop === 'damaged') return false;
    const rest = Buffer.alloc(size - from);
    await file.read(rest, from);
    for (let at = 1; at + HEADER_BYTES <= rest.length; at++) {
      const length = rest.readUInt32LE(at);
      if (length < HEADER_BYTES - 8 || at + length > rest.length) continue;
      const found = decode(rest, at, 0);
      if (found.is === 'whole' && found.record.sequence > last) return false;
    }
    return true;
  }

  /** A segment may be gone only if all in it might be trimmed (pty-ws §8): as of the last write, or by now, where a full disk took no write after it. */
  private demandAllKept(segments: readonly Segment[]): void {
    const first = segments[0];
    const last = segments.at(-1);
    if (!first || !last || first.lost || first.base === 1) return;
    const { frames, seconds } = this.contents.retention;
    const byCount = first.before <= last.before + last.entries - frames;
    const byAge = Math.max(this.clock, this.now) - (this.first?.previous?.newest ?? Number.NEGATIVE_INFINITY) >= seconds * 1000;
    if (byCount && byAge) return;
    throw new LogError('corrupt', `${this.folder}: the segment before ${segmentName(first.base)} is missing`);
  }

  private path(base: number): string {
    return join(this.folder, segmentName(base));
  }

  private damage(base: number, offset: number, why: string): never {
    throw new LogError('corrupt', `${this.path(base)} is damaged at byte ${offset}: ${why}`);
  }
}

export const placeOf = (record: Stored, base: number): Place => ({
  sequence: record.sequence,
  base,
  offset: record.offset,
  bytes: record.bytes,
});
