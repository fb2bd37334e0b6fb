// Whether a program prints so much that somebody should know which it is. Knows no terminal, no log and no clock of its own.

/** What a program may print in a minute without being told of, in bytes. */
export const LOUD_BYTES = 16 * 1024 * 1024;
const LOUD_MS = 60_000;
/** After which it is told again, in milliseconds. */
export const TOLD_AGAIN_MS = 600_000;

export class Loudness {
  readonly #tell: (bytesPerSecond: number) => void;
  readonly #now: () => number;
  /** Printed since then. */
  #bytes = 0;
  #since: number;
  #toldAt = Number.NEGATIVE_INFINITY;

  /** `tell` is called at once when LOUD_BYTES were printed within a minute, and at most every TOLD_AGAIN_MS. */
  constructor(tell: (bytesPerSecond: number) => void, now: () => number = () => performance.now()) {
    this.#tell = tell;
    this.#now = now;
    this.#since = now();
  }

  /** The clock is asked only when it might be too much: this is called for each piece of output. */
  printed(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes >= LOUD_BYTES) this.#judge(this.#now());
  }

  #judge(now: number): void {
    const [bytes, ms] = [this.#bytes, now - this.#since];
    this.#bytes = 0;
    this.#since = now;
    if (ms > LOUD_MS || now - this.#toldAt < TOLD_AGAIN_MS) return;
    this.#toldAt = now;
    this.#tell(Math.round((bytes * 1000) / Math.max(ms, 1)));
  }
}
