// What one controller has typed, in numbers, so that the audit can tell whose input was when (pty-ext §10). Never sees the input itself.

export class Attribution {
  #frames = 0;
  #bytes = 0;
  #answers = 0;
  #first = 0;
  #last = 0;
  readonly #now: () => number;

  /** `now` is in milliseconds since 1970. */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** The session took a frame of so many bytes. */
  typed(bytes: number): void {
    this.#last = this.#now();
    if (this.#frames === 0) this.#first = this.#last;
    this.#frames++;
    this.#bytes += bytes;
  }

  /** What the terminal of an observer answers by itself was refused: nobody has typed it, and the gateway has answered. */
  answered(): void {
    this.#answers++;
  }

  /** All since the last time, in words; undefined if there was nothing. */
  take(): string | undefined {
    const told = [this.#tellTyped(), this.#answers > 0 && `${this.#answers} answers of its terminal dropped`].filter(Boolean);
    this.#frames = this.#bytes = this.#answers = 0;
    return told.length > 0 ? told.join(', ') : undefined;
  }

  #tellTyped(): string | undefined {
    if (this.#frames === 0) return undefined;
    const [first, last] = [this.#first, this.#last].map((ms) => new Date(ms).toISOString());
    return `typed ${this.#bytes} bytes in ${this.#frames} frames from ${first} to ${last}`;
  }
}
