// A log in memory, for tests of what reads one. Trims only when told to.
import {
  type Draft,
  type Extent,
  type Follower,
  isEntry,
  type LogReader,
  type Numbered,
  type Placed,
  placesOf,
} from '../../src/log/log.js';

export class MemoryLog implements LogReader {
  #entries: Numbered[] = [];
  #oldest = 1;
  #current = 0;
  readonly #followers = new Set<Follower>();
  /** How often `read` was called. */
  reads = 0;

  extent(): Extent {
    return { oldest: this.#oldest, current: this.#current };
  }

  async read(after: number, limit: { frames: number; bytes: number }): Promise<Numbered[]> {
    this.reads += 1;
    let bytes = 0;
    const from = this.#entries.filter((entry) => entry.sequence > after).slice(0, limit.frames);
    const end = from.findIndex((entry, i) => {
      bytes += entry.body.length;
      return i > 0 && bytes > limit.bytes;
    });
    return end === -1 ? from : from.slice(0, end);
  }

  async latest(kind: string): Promise<Numbered | undefined> {
    return this.#entries.findLast((entry) => entry.kind === kind);
  }

  follow(follower: Follower): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  get followers(): number {
    return this.#followers.size;
  }

  /** Returns the number of the first draft; the followers are told when `tell` is called, of other places than these if need be. */
  append(drafts: readonly Draft[]): { first: number; kept: Numbered[]; tell(places?: readonly Placed[]): void } {
    const first = this.#current + 1;
    this.#current += drafts.length;
    const kept = drafts.flatMap((draft, i) => (isEntry(draft) ? [{ ...draft, sequence: first + i }] : []));
    this.#entries.push(...kept);
    const extent = this.extent();
    const tell = (places: readonly Placed[] = placesOf(drafts, first)) => {
      for (const follower of this.#followers) follower(kept, extent, places);
    };
    return { first, kept, tell };
  }

  /** Loses its end: the next number is above a hole, and nothing below it is kept. */
  fall(hole: number): void {
    this.#current += hole;
    this.#oldest = this.#current + 1;
    this.#entries = [];
  }

  /** Forgets all entries below a number. */
  trim(below: number): void {
    this.#entries = this.#entries.filter((entry) => entry.sequence >= below);
    this.#oldest = Math.max(this.#oldest, this.#entries[0]?.sequence ?? below);
  }
}
