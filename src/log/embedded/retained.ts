// Which entries of a session are still kept: the prefix that neither the count nor the age protects is gone (pty-ws §8). Knows no file.
import type { Retention } from '../log.js';
import type { Segment } from './segment.js';

/** Entries looked ahead at once. */
const AHEAD = 256;

/** What is known of an entry without its body. */
export interface Head {
  readonly sequence: number;
  readonly ts: number;
}

/** The next stored entries with a number above `after`, at most `most`. */
type HeadsAfter = (after: number, most: number) => Promise<readonly Head[]>;

/** A place in the row of entries. Memory: `AHEAD` heads, however long the row is. */
export class Retained {
  private readonly retention: Retention;
  private readonly headsAfter: HeadsAfter;
  /** What `oldest` is until an entry after the first `untouched` goes. */
  private readonly floor: number;
  private readonly untouched: number;
  /** How many entries of the session are gone, and a number that all of them are at or below. */
  private gone: number;
  private goneUpTo: number;
  /** The lowest entries kept, from `at` on; none if they have not been looked at. */
  private ahead: readonly Head[] = [];
  private at = 0;

  /** `segments`: what is stored; all before the first is gone. `floor`: the lowest number not trimmed away, and how many entries lie before it. */
  constructor(
    retention: Retention,
    segments: readonly Segment[],
    floor: { readonly oldest: number; readonly before: number },
    headsAfter: HeadsAfter,
  ) {
    this.retention = retention;
    this.headsAfter = headsAfter;
    this.floor = floor.oldest;
    this.untouched = floor.before;
    this.gone = Math.max(segments[0]?.before ?? 0, floor.before);
    this.goneUpTo = Math.max((segments[0]?.base ?? 1) - 1, floor.oldest - 1);
  }

  /**
   * Trims as of `clock` when `total` entries were ever taken and `current` is the last number; with `wholeOnly` no part of a segment.
   * Resolves with the lowest number not trimmed away.
   */
  async trim(segments: readonly Segment[], total: number, current: number, clock: number, wholeOnly = false): Promise<number> {
    const youngestOld = clock - this.retention.seconds * 1000;
    const beyondCount = total - this.retention.frames;
    while (this.gone < beyondCount) {
      const segment = segments.find((one) => one.before + one.entries > this.gone);
      if (segment && segment.before + segment.entries <= beyondCount && segment.newest <= youngestOld) {
        this.drop(segment);
        continue;
      }
      if (wholeOnly) break;
      const head = await this.head();
      if (!head || head.ts > youngestOld) break;
      this.step(head);
    }
    if (this.gone === this.untouched) return this.floor;
    return Math.min((await this.head())?.sequence ?? current + 1, current + 1);
  }

  private drop(segment: Segment): void {
    this.gone = segment.before + segment.entries;
    this.goneUpTo = segment.last;
    this.ahead = [];
    this.at = 0;
  }

  private step(head: Head): void {
    this.gone++;
    this.goneUpTo = head.sequence;
    this.at++;
  }

  private async head(): Promise<Head | undefined> {
    if (this.at >= this.ahead.length) {
      this.ahead = await this.headsAfter(this.goneUpTo, AHEAD);
      this.at = 0;
    }
    return this.ahead[this.at];
  }
}
