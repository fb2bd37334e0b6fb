// Memory for what is being written, used again and again: a busy log would else have the collector run for it. Knows no file.

/** Bytes of one buffer that is kept; what is larger is made for its one use. */
const BUFFER_BYTES = 256 * 1024;
/** Bytes up to which a buffer of its own is cheaper. */
const SMALL_BYTES = 4 * 1024;
/** Buffers that are kept while nobody uses them. */
const MAX_SPARE = 8;

/** What lies in the memory is undefined when it is taken, and anybody's once it is given back. */
export class Scratch {
  readonly #spare: Buffer[] = [];

  take(bytes: number): Buffer {
    if (bytes <= SMALL_BYTES || bytes > BUFFER_BYTES) return Buffer.allocUnsafe(bytes);
    return (this.#spare.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES)).subarray(0, bytes);
  }

  /** Only what `take` gave, once, when nobody reads it any more. */
  giveBack(taken: Buffer): void {
    if (taken.buffer.byteLength !== BUFFER_BYTES || this.#spare.length >= MAX_SPARE) return;
    this.#spare.push(Buffer.from(taken.buffer));
  }
}
