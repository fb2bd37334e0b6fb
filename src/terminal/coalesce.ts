// Joins the small pieces that a PTY gives into fewer, larger ones, without copying. Knows no PTY and no clock but the timer it is given.

/** Bytes: the most that one call of `emit` gets. */
export const MAX_JOINED_BYTES = 64 * 1024;
/** Bytes of the first block that is read into, and of each that follows it: who prints much fills many, and few pieces end where a block does. */
const FIRST_BLOCK_BYTES = 64 * 1024;
const BLOCK_BYTES = 256 * 1024;
/** Milliseconds: the most that a byte waits for others. */
export const MAX_WAIT_MS = 4;
/** Pieces: how many go out at once after silence or after input. One is an echo; a few are the answer to a key. */
export const PROMPT_PIECES = 4;
/** Bytes: the room that is offered to one read. It is what a PTY of Linux gives at most: who reads is told by a full room that there may be more. */
export const READ_BYTES = 4095;

/** Calls back once, after so many milliseconds; returns what cancels it. */
export type Timer = (ms: number, callback: () => void) => () => void;

const realTimer: Timer = (ms, callback) => {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
};

/**
 * Bytes are read straight into `room()` and reported by `filled(n)`. They leave in order, as views of blocks that are never written again.
 * A burst begins after silence (nothing for MAX_WAIT_MS) or after `hurry()`: its first PROMPT_PIECES leave in the turn in which they came;
 * what follows is joined, and leaves when MAX_JOINED_BYTES are full or MAX_WAIT_MS are over.
 */
export class Coalescer {
  readonly #emit: (bytes: Uint8Array) => void;
  readonly #timer: Timer;
  #block = Buffer.allocUnsafeSlow(FIRST_BLOCK_BYTES);
  /** `#block` from `#start` to `#end` has been read and not yet emitted. */
  #start = 0;
  #end = 0;
  #promptLeft = PROMPT_PIECES;
  #heardSinceTick = false;
  #cancelTick: (() => void) | undefined;

  constructor(emit: (bytes: Uint8Array) => void, timer: Timer = realTimer) {
    this.#emit = emit;
    this.#timer = timer;
  }

  /** Where the next bytes are to be put: so many as one read can give. */
  room(): Uint8Array {
    if (this.#block.length - this.#end < READ_BYTES) this.#nextBlock();
    return this.#block.subarray(this.#end, this.#end + READ_BYTES);
  }

  /** The first `count` bytes of the last `room()` are there. Returns whether a full piece has left with them: enough for one turn of the event loop. */
  filled(count: number): boolean {
    if (count === 0) return false;
    this.#end += count;
    this.#heardSinceTick = true;
    this.#cancelTick ??= this.#timer(MAX_WAIT_MS, this.#tick);
    if (this.#promptLeft > 0) {
      this.#promptLeft--;
      this.flush();
    }
    const isFull = this.#end - this.#start > MAX_JOINED_BYTES - READ_BYTES;
    if (isFull) this.#flushFull();
    return isFull;
  }

  /** Somebody waits for what comes next (a key was pressed): a new burst begins. */
  hurry(): void {
    this.#promptLeft = PROMPT_PIECES;
  }

  /** What was joined so far leaves now. */
  flush(): void {
    if (this.#start === this.#end) return;
    const bytes = this.#block.subarray(this.#start, this.#end);
    this.#start = this.#end;
    this.#emit(bytes);
  }

  /** Flushes and stops the timer; nothing may be read after. */
  close(): void {
    this.#cancelTick?.();
    this.#cancelTick = undefined;
    this.flush();
  }

  #nextBlock(): void {
    this.#flushFull();
    this.#block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    this.#start = 0;
    this.#end = 0;
  }

  /** What comes next may wait as long again, since nothing waits any more: a flood leaves in full pieces. */
  #flushFull(): void {
    this.flush();
    this.#cancelTick?.();
    if (this.#cancelTick) this.#cancelTick = this.#timer(MAX_WAIT_MS, this.#tick);
  }

  readonly #tick = (): void => {
    this.#cancelTick = this.#heardSinceTick ? this.#timer(MAX_WAIT_MS, this.#tick) : undefined;
    if (!this.#heardSinceTick) this.#promptLeft = PROMPT_PIECES;
    this.#heardSinceTick = false;
    this.flush();
  };
}
