// Finds the exact end of what a process printed, by a mark set behind it. Pure: knows no PTY and no process.
import { randomInt } from 'node:crypto';

/** Digits: no output processing of any terminal changes them, and so many are not printed by chance. */
const MARK_DIGITS = 32;

/** A mark that nothing else will print. */
export function makeMark(): Buffer {
  return Buffer.from(Array.from({ length: MARK_DIGITS }, () => 48 + randomInt(10)));
}

/** Passes on what comes before the mark, however the stream is cut; the mark and all after it are dropped. */
export class UntilMark {
  readonly #mark: Buffer;
  /** The end of what came, which may be the beginning of the mark; shorter than the mark. */
  #held: Buffer = Buffer.alloc(0);
  #found = false;

  constructor(mark: Buffer) {
    this.#mark = mark;
  }

  /** Whether the mark has come. */
  get found(): boolean {
    return this.#found;
  }

  /** What of `bytes`, and of what was held before, is surely not the mark. */
  accept(bytes: Uint8Array): Uint8Array {
    if (this.#found) return new Uint8Array();
    const all = Buffer.concat([this.#held, bytes]);
    const at = all.indexOf(this.#mark);
    this.#found = at >= 0;
    const end = this.#found ? at : all.length - possibleMark(all, this.#mark);
    this.#held = this.#found ? Buffer.alloc(0) : all.subarray(end);
    return all.subarray(0, end);
  }

  /** The mark will not come: what was held, without the `written` first bytes of the mark if it ends in them. */
  giveUp(written: number): Uint8Array {
    const part = this.#mark.subarray(0, written);
    const held = this.#held;
    this.#held = Buffer.alloc(0);
    return written > 0 && held.equals(part) ? new Uint8Array() : held;
  }
}

/** How many bytes at the end of `all` are the beginning of `mark`. */
function possibleMark(all: Buffer, mark: Buffer): number {
  for (let length = Math.min(mark.length - 1, all.length); length > 0; length--) {
    if (all.subarray(all.length - length).equals(mark.subarray(0, length))) return length;
  }
  return 0;
}
