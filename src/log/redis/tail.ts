// What a writer was told is taken, for a while: a store that fails over may have lost the last of it. Knows no store.
import type { Draft } from '../log.js';
import { bytesOf } from './batch.js';

/** Most that one writer keeps: bytes of bodies, numbers, and milliseconds since it was taken. */
const TAIL_BYTES = 8 * 1024 * 1024;
const TAIL_NUMBERS = 4_096;
const TAIL_MS = 30_000;
/** Most bytes of bodies that all writers of a process keep. */
const TAILS_BYTES = 256 * 1024 * 1024;

/** What the tails of a process hold together. */
export interface TailBudget {
  bytes: number;
}

interface Piece {
  readonly first: number;
  readonly drafts: readonly Draft[];
  readonly bytes: number;
  readonly takenAt: number;
}

export class AcknowledgedTail {
  readonly #budget: TailBudget;
  readonly #pieces: Piece[] = [];
  #bytes = 0;
  #last: number;

  /** `last`: the last number taken. */
  constructor(budget: TailBudget, last: number) {
    this.#budget = budget;
    this.#last = last;
  }

  /** All numbers above it, up to the last, can be written again. */
  get after(): number {
    const [first] = this.#pieces;
    return first ? first.first - 1 : this.#last;
  }

  push(first: number, drafts: readonly Draft[]): void {
    if (drafts.length === 0) return;
    const piece = { first, drafts, bytes: bytesOf(drafts), takenAt: performance.now() };
    this.#pieces.push(piece);
    this.#last = first + drafts.length - 1;
    this.#bytes += piece.bytes;
    this.#budget.bytes += piece.bytes;
    this.prune();
  }

  /** Lets go of what is too old or too much. */
  prune(): void {
    while (this.#pieces.length > 0 && this.#isTooMuch()) this.#drop();
  }

  #isTooMuch(): boolean {
    const old = performance.now() - (this.#pieces[0]?.takenAt ?? 0) > TAIL_MS;
    return old || this.#bytes > TAIL_BYTES || this.#last - this.after > TAIL_NUMBERS || this.#budget.bytes > TAILS_BYTES;
  }

  #drop(): void {
    const bytes = this.#pieces.shift()?.bytes ?? 0;
    this.#bytes -= bytes;
    this.#budget.bytes -= bytes;
  }

  /** The drafts with a number above one that is not below `after`, in pieces. */
  above(number: number): Array<readonly Draft[]> {
    return this.#pieces
      .filter(({ first, drafts }) => first + drafts.length - 1 > number)
      .map(({ first, drafts }) => (first > number ? drafts : drafts.slice(number + 1 - first)));
  }

  /** Lets go of all; `last` is the last number taken from now on. */
  forget(last = this.#last): void {
    while (this.#pieces.length > 0) this.#drop();
    this.#last = last;
  }
}
