// The owner's part: watches one session's log and has it copied in time. Knows no format, and holds nobody up.
//
// What is appended is copied at the latest SEGMENT_MS later, and a segment's worth of it at once; the log keeps everything for longer than
// that (HOT_SECONDS). While the store is away it is tried again and again, and the log goes on trimming as if there were no archive.
import type { Extent, Numbered } from '../log.js';
import { SEGMENT } from './copy.js';

/** How long entries wait for others to share a segment, in milliseconds. */
export const SEGMENT_MS = 300_000;
/** Until a store that failed is tried again, in milliseconds: doubled each time, up to the longest. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** How long a session that is let go of waits for its last segment, in milliseconds; what is not kept then, the next who has it keeps. */
const LAST_PATIENCE_MS = 5_000;

export interface ArchiverParts {
  readonly segmentMs: number;
  /** Copies all that there is. Rejects if the store refuses. */
  copy(): Promise<void>;
  /** Everything was archived up to here before what is told now. */
  covered(upTo: number): void;
  isCovered(upTo: number): boolean;
}

export class Archiver {
  readonly #parts: ArchiverParts;
  readonly #unfollow: () => void;
  #current: number;
  #hasNews = false;
  #waitingBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #isFailing = false;
  #copying: Promise<void> | undefined;
  #isOver = false;

  constructor(
    reader: { extent(): Extent; follow(follower: (entries: readonly Numbered[], extent: Extent) => void): () => void },
    parts: ArchiverParts,
  ) {
    this.#parts = parts;
    this.#current = reader.extent().current;
    this.#unfollow = reader.follow((entries, extent) => this.#told(entries, extent));
    if (!parts.isCovered(this.#current)) this.stir();
  }

  /** There is something to archive by and by. */
  stir(): void {
    this.#hasNews = true;
    if (this.#isOver || this.#timer || this.#copying) return;
    this.#timer = setTimeout(() => this.#begin(), this.#isFailing ? this.#pauseMs : this.#parts.segmentMs).unref();
  }

  /** Copies what is there, but waits no longer than a few seconds. Nothing is archived here afterwards. */
  async finish(): Promise<void> {
    if (this.#isOver) return;
    this.#end();
    if (this.#isFailing) return;
    await within(
      LAST_PATIENCE_MS,
      (this.#copying ?? Promise.resolve()).then(() => this.#parts.copy()),
    );
  }

  /** Resolves when nothing is under way any more, and nothing will be. */
  async stop(): Promise<void> {
    this.#end();
    await this.#copying;
  }

  #end(): void {
    this.#isOver = true;
    this.#unfollow();
    clearTimeout(this.#timer);
  }

  #told(entries: readonly Numbered[], extent: Extent): void {
    if (this.#parts.isCovered(this.#current)) this.#parts.covered((entries[0]?.sequence ?? extent.current + 1) - 1);
    this.#current = extent.current;
    for (const { body } of entries) this.#waitingBytes += body.length;
    if (entries.length > 0) this.#goOn();
  }

  #goOn(): void {
    if (this.#waitingBytes >= SEGMENT.bytes && !this.#isFailing) this.#begin();
    else this.stir();
  }

  #begin(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#copying ??= this.#copy().finally(() => {
      this.#copying = undefined;
      if (this.#hasNews && !this.#isOver) this.#goOn();
    });
  }

  async #copy(): Promise<void> {
    this.#hasNews = false;
    this.#waitingBytes = 0;
    try {
      await this.#parts.copy();
      this.#isFailing = false;
      this.#pauseMs = FIRST_PAUSE_MS;
    } catch {
      this.#pauseMs = this.#isFailing ? Math.min(2 * this.#pauseMs, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
      this.#isFailing = true;
      this.#hasNews = true;
    }
  }
}

/** Waits for it, but not for longer, and not for its error. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((late) => {
    timer = setTimeout(late, ms);
  });
  await Promise.race([work.catch(() => undefined), patience]);
  clearTimeout(timer);
}
