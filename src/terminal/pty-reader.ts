// Reads the master of a PTY: piece by piece in the event loop, and by the thread for floods while it prints without end. Knows no process.
import type { ConnectOpts, OnReadOpts, SocketConstructorOpts } from 'node:net';
import { ReadStream } from 'node:tty';
import { type FloodThread, floods } from './flood-thread.js';

/** A flood: so many full pieces within so many milliseconds. */
const FLOOD_PIECES = 8;
const FLOOD_MS = 100;

/** What becomes of what is read. */
export interface Reading {
  /** Where the next bytes are to be put. */
  room(): Uint8Array;
  /** The first `count` bytes of the last room are there. Returns whether they make a piece full, which is enough for one turn of the event loop. */
  filled(count: number, room: Uint8Array): boolean;
  /** A block that was read elsewhere, after all that has come so far. */
  block(bytes: Uint8Array): void;
  /** It cannot be read any more, and the descriptor is closed. */
  closed(): void;
}

/**
 * Owns `master`, and reads it from the first `resume()` on. Each byte is told once and in order, and none while it is paused.
 * What is lent to the thread is neither read nor closed here until the thread has returned it.
 */
export class PtyReader {
  readonly #master: number;
  readonly #reading: Reading;
  readonly #floods: FloodThread;
  readonly #stream: ReadStream;
  #isPaused = true;
  #isClosed = false;
  #isLent = false;
  /** Whether it is lent when it is read next. */
  #isFlood = false;
  #fullPieces = 0;
  #firstFullAt = 0;
  /** What has come from the thread while it was paused: at most as many blocks as were asked for. */
  #held: Uint8Array[] = [];
  #isReclaimed = false;
  #reclaimed: () => void = () => {};

  constructor(master: number, reading: Reading, thread: FloodThread = floods) {
    this.#master = master;
    this.#reading = reading;
    this.#floods = thread;
    this.#stream = readInto(master, () => reading.room(), this.#filled);
    this.#stream.once('close', () => {
      this.#isClosed = true;
      reading.closed();
    });
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  pause(): void {
    this.#isPaused = true;
    this.#stream.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#tellHeld();
    this.#goOn();
  }

  /** It is read in the event loop alone from when `reclaimed` is called: at once, or when the thread has returned it. What was read until then is told, paused or not. */
  reclaim(reclaimed: () => void): void {
    this.#isReclaimed = true;
    // A flood that waits to be lent, or was paused, would be lent after all.
    this.#isFlood = false;
    this.#reclaimed = reclaimed;
    this.#tellHeld();
    if (!this.#isLent) reclaimed();
  }

  /** After `reclaimed`. Nothing is told any more but that it is closed. */
  destroy(): void {
    this.#isClosed = true;
    this.#stream.destroy();
  }

  #goOn(): void {
    if (this.#isLent || this.#isPaused || this.#isClosed) return;
    if (this.#isFlood) this.#lend();
    else this.#stream.resume();
  }

  /** False: nothing more is read in this turn of the event loop, so that others have theirs between two pieces. */
  readonly #filled = (count: number, room: Uint8Array): boolean => {
    if (!this.#reading.filled(count, room)) return true;
    this.#isFlood = !this.#isReclaimed && this.#makesFlood();
    setImmediate(() => this.#goOn());
    return false;
  };

  #makesFlood(): boolean {
    const now = performance.now();
    if (now - this.#firstFullAt > FLOOD_MS) [this.#firstFullAt, this.#fullPieces] = [now, 0];
    this.#fullPieces++;
    return this.#fullPieces >= FLOOD_PIECES;
  }

  /** One of two who read would take what is the other's: whoever was told of a piece may have resumed in between. */
  #lend(): void {
    this.#isLent = true;
    this.#stream.pause();
    this.#floods.lend(this.#master, { block: this.#block, returned: this.#returned });
  }

  readonly #block = (bytes: Uint8Array): boolean => {
    this.#held.push(bytes);
    this.#tellHeld();
    return !this.#isPaused && !this.#isReclaimed;
  };

  readonly #returned = (isDry: boolean): void => {
    this.#isLent = false;
    this.#isFlood = !isDry && !this.#isReclaimed;
    this.#reclaimed();
    this.#goOn();
  };

  /** Whoever is told may pause it in between. */
  #tellHeld(): void {
    while (this.#held.length > 0 && (!this.#isPaused || this.#isReclaimed)) this.#reading.block(this.#held.shift() as Uint8Array);
  }
}

/** Reads `master` into what `room` offers, and closes it when it is destroyed or fails. */
function readInto(master: number, room: () => Uint8Array, filled: OnReadOpts['callback']): ReadStream {
  const options: SocketConstructorOpts & Pick<ConnectOpts, 'onread'> = { onread: { buffer: room, callback: filled } };
  const stream = new ReadStream(master, options);
  return stream.on('error', () => stream.destroy());
}
