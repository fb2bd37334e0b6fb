// A redactor with a clock: what it holds goes out in time, and if it fails nothing goes out any more. Knows no session.
import type { Redactor } from './redactor.js';

/** Milliseconds that a byte is held at most; with what joins pieces before it and the imprecision of timers it stays below 20. */
export const HOLD_MS = 14;

export interface Clock {
  /** Milliseconds. */
  now(): number;
  /** Calls back once, after so many milliseconds; returns what cancels it. */
  after(ms: number, callback: () => void): () => void;
}

/** What has arrived meanwhile is read first, so that a busy process does not cut a secret in two. */
const realClock: Clock = {
  now: () => performance.now(),
  after(ms, callback) {
    let immediate: NodeJS.Immediate | undefined;
    const timer = setTimeout(() => {
      immediate = setImmediate(callback);
    }, ms);
    return () => {
      clearTimeout(timer);
      clearImmediate(immediate);
    };
  },
};

interface Arrival {
  /** Bytes of the stream that were there then. */
  readonly upTo: number;
  readonly dueAt: number;
}

export class RedactedStream {
  readonly #redactor: Redactor;
  readonly #failed: (error: unknown) => void;
  readonly #clock: Clock;
  #arrivals: Arrival[] = [];
  #cancel: (() => void) | undefined;
  #isBroken = false;

  /** `failed` is called once, and then what comes is dropped. */
  constructor(redactor: Redactor, failed: (error: unknown) => void, clock: Clock = realClock) {
    this.#redactor = redactor;
    this.#failed = failed;
    this.#clock = clock;
  }

  push(bytes: Uint8Array): void {
    this.#do(() => this.#redactor.push(bytes));
    const { left, held } = this.#redactor;
    if (held > 0) this.#arrivals.push({ upTo: left + held, dueAt: this.#clock.now() + HOLD_MS });
    this.#watch();
  }

  /** What is held goes out. */
  settle(): void {
    this.#do(() => this.#redactor.settle());
    this.#watch();
  }

  /** Columns. What was printed before is told before. */
  resize(cols: number): void {
    this.settle();
    this.#redactor.resize(cols);
  }

  /** Settles, and holds nothing after. */
  end(): void {
    this.settle();
    this.#cancel?.();
  }

  #do(act: () => void): void {
    if (this.#isBroken) return;
    try {
      act();
    } catch (error) {
      this.#isBroken = true;
      this.#failed(error);
    }
  }

  #watch(): void {
    const { left, held } = this.#redactor;
    const oldest = this.#arrivals[0]?.dueAt;
    while (this.#arrivals[0] && (held === 0 || this.#arrivals[0].upTo <= left)) this.#arrivals.shift();
    const [next] = this.#arrivals;
    if (this.#cancel && next?.dueAt === oldest) return;
    this.#cancel?.();
    this.#cancel = undefined;
    if (!next || this.#isBroken) return;
    this.#cancel = this.#clock.after(next.dueAt - this.#clock.now(), () => {
      this.#cancel = undefined;
      this.settle();
    });
  }
}
