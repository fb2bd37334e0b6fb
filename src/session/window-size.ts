// The size of a session's terminal: whose wish counts, and what of it is news (protocol R12). Knows no terminal and no member.
import { entry, type Unnumbered } from '../protocol/make-frames.js';
import type { Size } from '../terminal/terminal.js';

export class WindowSize {
  readonly #fit: (size: Size) => void;
  #now: Size;
  /** The first controller's hints have been heard. */
  #isSettled = false;

  /** `fit` gives the terminal a size; what it throws is whoever's who asked for the size, and nothing has changed then. */
  constructor({ cols, rows }: Size, fit: (size: Size) => void) {
    this.#now = { cols, rows };
    this.#fit = fit;
  }

  get now(): Size {
    return this.#now;
  }

  /** The size that the session had with its owner before. */
  restore(size: Size): void {
    this.#now = size;
    this.#isSettled = true;
  }

  /** A controller has come. What the first one would like is taken if it can be; the Resize that tells of it. */
  first(hint: Partial<Size> | undefined): Unnumbered | undefined {
    const isFirst = !this.#isSettled;
    this.#isSettled = true;
    if (!isFirst || !hint) return undefined;
    try {
      return this.change({ ...this.#now, ...hint });
    } catch {
      return undefined; // it is a hint
    }
  }

  /** The Resize that tells of it; a size that is the same is no event. */
  change({ cols, rows }: Size): Unnumbered | undefined {
    if (cols === this.#now.cols && rows === this.#now.rows) return undefined;
    this.#fit({ cols, rows });
    this.#now = { cols, rows };
    return entry('Resize', { cols, rows });
  }
}
