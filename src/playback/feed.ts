// The moments of a recording from one number on, read a little ahead of who takes them. Knows no clock.
import type { Moment, Recording } from './recording.js';

/** Bytes that are read ahead before reading waits. */
export const AHEAD_BYTES = 2 * 1024 * 1024;
/** Moments that are done with and not let go of yet. */
const MAX_DONE = 1000;

export class Feed {
  /** Why reading ended before its time. */
  trouble: unknown;
  /** Nothing more comes. */
  isOver = false;
  readonly #closing = new AbortController();
  #moments: Moment[] = [];
  #at = 0;
  #bytes = 0;
  #hungry: (() => void) | undefined;

  constructor(recording: Recording, from: number) {
    void this.#read(recording, from);
  }

  /** The next moment, which stays; undefined if it has not come yet, or none will. */
  peek(): Moment | undefined {
    return this.#moments[this.#at];
  }

  /** The next moment is done with. */
  drop(): void {
    const moment = this.#moments[this.#at++];
    this.#bytes -= sizeOf(moment);
    if (this.#at === this.#moments.length || this.#at >= MAX_DONE) {
      this.#moments = this.#moments.slice(this.#at);
      this.#at = 0;
    }
    if (this.#bytes < AHEAD_BYTES) this.#hungry?.();
  }

  close(): void {
    this.#closing.abort();
    this.#hungry?.();
  }

  async #read(recording: Recording, from: number): Promise<void> {
    const { signal } = this.#closing;
    try {
      for await (const piece of recording.read(from, signal)) {
        if (signal.aborted) return;
        this.#take(piece);
        if (this.#bytes >= AHEAD_BYTES) await this.#hunger();
        if (signal.aborted) return;
      }
    } catch (error) {
      if (!signal.aborted) this.trouble = error;
    } finally {
      this.isOver = true;
    }
  }

  #take(piece: readonly Moment[]): void {
    this.#moments.push(...piece);
    for (const moment of piece) this.#bytes += sizeOf(moment);
  }

  #hunger(): Promise<void> {
    return new Promise((resolve) => {
      this.#hungry = resolve;
    });
  }
}

const sizeOf = (moment: Moment | undefined): number => (moment && 'bytes' in moment ? moment.bytes.length : 0);
