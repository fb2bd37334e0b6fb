// A redactor with a clock: what it holds goes out in time, and if it fails nothing goes out any more. Knows no session.
import type { Redactor } from './redactor.js';

/** Milliseconds that a byte is held at most; with what joins pieces before it and the imprecision of timers it stays below 20. */
export const HOLD_MS = 14;

/** Milliseconds that much of a leased secret waits for its next letter, as one that is typed comes; and that any byte of it waits in all. */
export const LETTER_MS = 1000;
export const TYPED_MS = 10_000;

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
  readonly at: number;
}

export class RedactedStream {
  readonly #redactor: Redactor;
  readonly #failed: (error: unknown) => void;
  readonly #clock: Clock;
  /** Of what is held, the oldest first. */
  #arrivals: Arrival[] = [];
  /** Settled briefly is what had come by then; what is still held of it has been found worth to wait for. */
  #briefly = Number.NEGATIVE_INFINITY;
  #alarm: { readonly at: number; readonly cancel: () => void } | undefined;
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
    if (held > 0) this.#arrivals.push({ upTo: left + held, at: this.#clock.now() });
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
    this.#alarm?.cancel();
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
    while (this.#arrivals[0] && (held === 0 || this.#arrivals[0].upTo <= left)) this.#arrivals.shift();
    const at = this.#isBroken ? undefined : this.#due();
    if (this.#alarm?.at === at) return;
    this.#alarm?.cancel();
    this.#alarm = at === undefined ? undefined : { at, cancel: this.#clock.after(at - this.#clock.now(), () => this.#ring()) };
  }

  /** When something of what is held is to go out; undefined if nothing is held. */
  #due(): number | undefined {
    const [oldest, newest] = [this.#arrivals[0], this.#arrivals.at(-1)];
    if (!oldest || !newest) return undefined;
    const fresh = this.#arrivals.find(({ at }) => at > this.#briefly);
    const brief = fresh ? fresh.at + HOLD_MS : Number.POSITIVE_INFINITY;
    return oldest === fresh ? brief : Math.min(brief, newest.at + LETTER_MS, oldest.at + TYPED_MS);
  }

  #ring(): void {
    this.#alarm = undefined;
    const now = this.#clock.now();
    const [oldest, newest] = [this.#arrivals[0], this.#arrivals.at(-1)];
    if (!oldest || !newest) return;
    if (now >= newest.at + LETTER_MS || now >= oldest.at + TYPED_MS) this.#do(() => this.#redactor.settle());
    else {
      this.#briefly = now - HOLD_MS;
      this.#do(() => this.#redactor.settleBriefly());
    }
    this.#watch();
  }
}
