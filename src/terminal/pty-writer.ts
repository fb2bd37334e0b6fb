// Types bytes into a PTY: in order, at once if the kernel has room, and waiting without cost if it has none. Knows no process.
import { writeSync } from 'node:fs';
import { TerminalError } from './terminal.js';

/** Bytes that may wait for a program that does not read; a write beyond is refused. */
export const MAX_UNWRITTEN_BYTES = 4 * 1024 * 1024;
/** Bytes handed to the kernel in one call (its own queue takes about as many). */
const PIECE_BYTES = 4 * 1024;
/** Bytes written in one turn of the event loop at most. */
const TURN_BYTES = 64 * 1024;
/** Milliseconds between attempts while the kernel has no room: the first, and the longest after doubling. */
const FIRST_WAIT_MS = 1;
const LONGEST_WAIT_MS = 32;

interface Job {
  readonly bytes: Uint8Array;
  written: number;
  resolve(): void;
  reject(error: TerminalError): void;
}

/** The writing side of a descriptor that does not block. */
export class PtyWriter {
  readonly #fd: number;
  readonly #jobs: Job[] = [];
  #waiting = 0;
  #waitMs = FIRST_WAIT_MS;
  #retry: NodeJS.Timeout | undefined;
  #closed: TerminalError | undefined;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Resolves when the kernel has all of `bytes`. Rejects with TerminalError: `write` if too many wait already; `ended` if the kernel refused, or it was closed meanwhile. */
  write(bytes: Uint8Array): Promise<void> {
    if (this.#closed) return Promise.reject(this.#closed);
    if (this.#waiting + bytes.length > MAX_UNWRITTEN_BYTES) return Promise.reject(tooMuch(this.#waiting, bytes.length));
    return new Promise((resolve, reject) => {
      this.#waiting += bytes.length;
      this.#jobs.push({ bytes, written: 0, resolve, reject });
      if (this.#jobs.length === 1) this.#drain();
    });
  }

  /** Refuses what waits and what comes; the descriptor is not touched again. */
  close(reason: TerminalError): void {
    if (this.#closed) return;
    this.#closed = reason;
    clearTimeout(this.#retry);
    this.#retry = undefined;
    this.#waiting = 0;
    for (const job of this.#jobs.splice(0)) job.reject(reason);
  }

  #drain(): void {
    clearTimeout(this.#retry);
    this.#retry = undefined;
    let left = TURN_BYTES;
    for (let job = this.#jobs[0]; job && left > 0; job = this.#jobs[0]) {
      const count = this.#writePiece(job);
      if (count === undefined) return;
      left -= count;
    }
    if (this.#jobs.length > 0) this.#again(0);
  }

  /** Bytes that the kernel took; undefined if it took none and nothing is to be done now. */
  #writePiece(job: Job): number | undefined {
    try {
      const count = writeSync(this.#fd, job.bytes, job.written, Math.min(PIECE_BYTES, job.bytes.length - job.written));
      this.#wrote(job, count);
      return count;
    } catch (error) {
      this.#failed(error as NodeJS.ErrnoException);
      return undefined;
    }
  }

  #wrote(job: Job, count: number): void {
    job.written += count;
    this.#waiting -= count;
    this.#waitMs = FIRST_WAIT_MS;
    if (job.written === job.bytes.length) this.#jobs.shift()?.resolve();
  }

  #failed(error: NodeJS.ErrnoException): void {
    if (error.code === 'EAGAIN') {
      this.#again(this.#waitMs);
      this.#waitMs = Math.min(this.#waitMs * 2, LONGEST_WAIT_MS);
    } else this.close(new TerminalError('ended', 'the terminal takes no more input', { cause: error }));
  }

  #again(ms: number): void {
    this.#retry = setTimeout(() => this.#drain(), ms);
  }
}

function tooMuch(waiting: number, more: number): TerminalError {
  const text = `the program does not read: ${waiting} bytes wait already, and ${more} more would exceed ${MAX_UNWRITTEN_BYTES}`;
  return new TerminalError('write', text);
}
