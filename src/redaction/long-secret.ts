// A secret that is longer than what it is recognised by, followed to its end at a constant cost per byte (Knuth–Morris–Pratt). Knows no stream.

export class LongSecret {
  readonly #bytes: Uint8Array;
  /** For each number of bytes that have come: the longest beginning, shorter than that, with which they end. */
  readonly #borders: Uint16Array;

  /** At most 65,535 bytes. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#borders = new Uint16Array(bytes.length + 1);
    for (let i = 1, border = 0; i < bytes.length; i++) {
      border = this.#after(border, bytes[i] as number);
      this.#borders[i + 1] = border;
    }
  }

  /** How many of its bytes have come after this one, if so many had come before it. */
  after(count: number, byte: number): number {
    return this.#after(count === this.#bytes.length ? (this.#borders[count] as number) : count, byte);
  }

  #after(count: number, byte: number): number {
    let had = count;
    while (had > 0 && this.#bytes[had] !== byte) had = this.#borders[had] as number;
    return this.#bytes[had] === byte ? had + 1 : 0;
  }
}
