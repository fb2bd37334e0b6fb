// Tells what happens at once, and what is the same only now and then, with how often it happened. Knows not what it tells, nor to whom.

/** Causes that are remembered. Beyond that the oldest is told for the last time, and forgotten. */
const CAUSES_LIMIT = 256;

/** `times`: how often it happened since it was told before. */
type Say = (times: number) => void;

interface Told {
  times: number;
  say: Say;
  readonly timer: NodeJS.Timeout;
}

export class Seldom {
  readonly #everyMs: number;
  readonly #told = new Map<string, Told>();

  /** The same cause is told once in so many milliseconds at most. */
  constructor(everyMs: number) {
    this.#everyMs = everyMs;
  }

  /** The first of a cause is told at once. What comes of it while that is fresh is told together, by the last `say`. */
  tell(cause: string, say: Say): void {
    const told = this.#told.get(cause);
    if (told) {
      told.times++;
      told.say = say;
      return;
    }
    say(1);
    this.#remember(cause, say);
    const [oldest] = this.#told.keys();
    if (this.#told.size > CAUSES_LIMIT && oldest !== undefined) this.#finish(oldest);
  }

  /** Tells what is still to be told. */
  close(): void {
    for (const cause of [...this.#told.keys()]) this.#finish(cause);
  }

  #remember(cause: string, say: Say): void {
    const timer = setTimeout(() => {
      if (this.#finish(cause)) this.#remember(cause, say);
    }, this.#everyMs).unref();
    this.#told.set(cause, { times: 0, say, timer });
  }

  /** Whether there was something to tell. */
  #finish(cause: string): boolean {
    const told = this.#told.get(cause);
    this.#told.delete(cause);
    clearTimeout(told?.timer);
    if (!told || told.times === 0) return false;
    told.say(told.times);
    return true;
  }
}
