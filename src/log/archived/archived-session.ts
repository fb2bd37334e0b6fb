// One session whose entries are in a log while they are new, and in an archive from then on: read as one. Knows no store.
import type { Damages } from '../damages.js';
import type { Draft, Extent, Follower, LogReader, LogWriter, Numbered, SessionRecord, Stretch } from '../log.js';
import { isCorrupt, type Shelf } from './shelf.js';

/** How old in milliseconds the list of segments may be when one is missing in it: another process may have written it since. */
const STALE_MS = 2_000;
/** The same where nobody waits for it. */
const LIST_AGE_MS = 60_000;
/** How often a place is read again that leaves the log while it is read. */
const READ_TRIES = 8;

type Limit = Parameters<LogReader['read']>[1];

export class ArchivedReader implements LogReader {
  readonly onGap?: NonNullable<LogReader['onGap']>;
  readonly #inner: LogReader;
  readonly #shelf: Shelf;
  readonly #damages: Damages;

  constructor(inner: LogReader, shelf: Shelf, damages: Damages) {
    this.#inner = inner;
    this.#shelf = shelf;
    this.#damages = damages;
    if (inner.onGap) this.onGap = (listener) => (inner.onGap as NonNullable<LogReader['onGap']>)(listener);
  }

  /** From `oldest` on nothing is missing. Behind a gap in the archive older entries may be kept: they are read, but no cursor goes on from there. */
  extent(): Extent {
    return this.#whole(this.#inner.extent());
  }

  /** What leaves the log while it is read is in the archive by then, or is lost. */
  async read(after: number, limit: Limit): Promise<Numbered[]> {
    for (let triesLeft = READ_TRIES; ; triesLeft--) {
      const archived = await this.#readArchive(after, limit);
      if (archived.length > 0) return archived;
      const from = Math.max(after, this.#inner.extent().oldest - 1);
      const entries = await this.#inner.read(from, limit);
      const hasLeft = this.#inner.extent().oldest - 1 > from && entries[0]?.sequence !== from + 1;
      if (!hasLeft || triesLeft === 0) return entries;
    }
  }

  async latest(kind: string, where?: 'log'): Promise<Numbered | undefined> {
    const entry = await this.#inner.latest(kind);
    if (entry || where === 'log' || this.#inner.extent().oldest === 1) return entry;
    return this.#noting(async () => {
      await this.#lookAgain();
      return this.#shelf.latest(kind);
    });
  }

  async missing(): Promise<readonly Stretch[]> {
    const { oldest } = this.#inner.extent();
    if (oldest === 1) return [];
    await this.#lookAgain();
    return this.#shelf.missing(oldest);
  }

  follow(follower: Follower): () => void {
    return this.#inner.follow((entries, extent, places) => follower(entries, this.#whole(extent), places));
  }

  #whole({ oldest, current }: Extent): Extent {
    if (oldest === 1) return { oldest, current };
    if (this.#shelf.covered < oldest - 1) this.#shelf.load(LIST_AGE_MS).catch(() => undefined);
    return { oldest: this.#shelf.reach(oldest), current };
  }

  async #readArchive(after: number, limit: Limit): Promise<Numbered[]> {
    const below = this.#inner.extent().oldest;
    if (after >= below - 1) return [];
    return this.#noting(async () => {
      await this.#lookAgain();
      return this.#shelf.read(after, below, limit);
    });
  }

  async #lookAgain(): Promise<void> {
    const { oldest, current } = this.#inner.extent();
    this.#shelf.given(current);
    const isWhole = this.#shelf.covered >= oldest - 1;
    await this.#shelf.load(isWhole ? Number.POSITIVE_INFINITY : STALE_MS);
  }

  async #noting<T>(read: () => Promise<T>): Promise<T> {
    try {
      return await read();
    } catch (error) {
      if (isCorrupt(error)) this.#damages.note(this.#shelf.id, error.message);
      throw error;
    }
  }
}

interface WriterEvents {
  amended(): void;
  released(): void;
}

export class ArchivedWriter implements LogWriter {
  readonly reader: LogReader;
  readonly #inner: LogWriter;
  readonly #events: WriterEvents;

  constructor(inner: LogWriter, reader: LogReader, events: WriterEvents) {
    this.reader = reader;
    this.#inner = inner;
    this.#events = events;
  }

  append(drafts: readonly Draft[]): Promise<number> {
    return this.#inner.append(drafts);
  }

  async amend(record: SessionRecord): Promise<void> {
    await this.#inner.amend(record);
    this.#events.amended();
  }

  /** Whoever has it next need not wait for what is still to be archived. */
  async release(): Promise<void> {
    await this.#inner.release();
    this.#events.released();
  }
}
