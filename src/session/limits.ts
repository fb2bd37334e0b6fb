// Ends a session that is idle for too long or too old. Knows nothing of what it ends.

/** Longest delay that a timer takes, in milliseconds. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface TimeLimits {
  /** Seconds without input and output; null for none. */
  readonly idleSeconds: number | null;
  /** Seconds of life; null for none. */
  readonly ageSeconds: number | null;
}

export class TimeLimit {
  readonly #limits: TimeLimits;
  readonly #over: () => void;
  readonly #born: number;
  #touched = performance.now();
  #timer: NodeJS.Timeout | undefined;

  /** `over` is called once, when a limit is passed, which may be at once. `ageMs`: how old it is already. */
  constructor(limits: TimeLimits, over: () => void, ageMs = 0) {
    this.#limits = limits;
    this.#over = over;
    this.#born = performance.now() - Math.max(0, ageMs);
    this.#watch();
  }

  /** Something was typed or printed. */
  touch(): void {
    this.#touched = performance.now();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #watch(): void {
    const left = this.#leftMs();
    if (left <= 0) this.#over();
    else if (left !== Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.#watch(), Math.min(left, LONGEST_TIMER_MS)).unref();
  }

  #leftMs(): number {
    const until = (from: number, seconds: number | null) =>
      seconds === null ? Number.POSITIVE_INFINITY : from + seconds * 1000 - performance.now();
    return Math.min(until(this.#touched, this.#limits.idleSeconds), until(this.#born, this.#limits.ageSeconds));
  }
}
