// Whether a write may be done in the turn in which it is asked for, as long as the disk takes it as fast as memory. Knows no file.

/** Bytes of one write that may; the system copies so many in some 30 microseconds. */
const MAX_BYTES = 256 * 1024;
/** Milliseconds from which on a write has held up the event loop, and those for which none may after it. */
const SLOW_MS = 20;
const CALM_MS = 5_000;

/** Milliseconds, from any place on. */
export type Now = () => number;

/** A write that the system only notes costs a hundredth of its way through another thread. One that waits for the disk would stop everyone. */
export class AtOnce {
  readonly #now: Now;
  #syncing = 0;
  #notBefore = Number.NEGATIVE_INFINITY;

  constructor(now: Now = () => performance.now()) {
    this.#now = now;
  }

  /** While something is being synced, the system may let a writer wait for it. */
  may(bytes: number): boolean {
    return bytes <= MAX_BYTES && this.#syncing === 0 && this.#now() >= this.#notBefore;
  }

  /** Does it, and looks how long it took. */
  do<T>(write: () => T): T {
    const begun = this.#now();
    try {
      return write();
    } finally {
      const ended = this.#now();
      if (ended - begun >= SLOW_MS) this.#notBefore = ended + CALM_MS;
    }
  }

  async syncing<T>(sync: Promise<T>): Promise<T> {
    this.#syncing++;
    try {
      return await sync;
    } finally {
      this.#syncing--;
    }
  }
}
