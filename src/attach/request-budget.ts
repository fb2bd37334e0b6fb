// How much of what one connection asks may be in flight, and how often it may ask in vain. Knows no socket.
import { CROWDED_PART, MAX_BYTES_IN_FLIGHT, MAX_REQUESTS_IN_FLIGHT, REFUSAL_PATIENCE, REFUSALS_FORGOTTEN_PER_SECOND } from './limits.js';

export type Verdict = 'take' | 'refuse' | 'dismiss';

/** A peer that asks and never reads the answers has ever more in flight: it is refused, and sent away when it does not stop. */
export class RequestBudget {
  readonly #now: () => number;
  #refusals = 0;
  #refusedAt: number;
  #requests = 0;
  #bytes = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#refusedAt = now();
  }

  /** A frame of so many bytes has come. After `take`, call `done` once with the same size. */
  admit(bytes: number): Verdict {
    if (this.#isFull(bytes)) return this.#refuse();
    this.#requests += 1;
    this.#bytes += bytes;
    return 'take';
  }

  done(bytes: number): void {
    this.#requests -= 1;
    this.#bytes -= bytes;
  }

  /** Whether it is better to read no more for now. */
  get isCrowded(): boolean {
    return this.#requests > MAX_REQUESTS_IN_FLIGHT * CROWDED_PART || this.#bytes > MAX_BYTES_IN_FLIGHT * CROWDED_PART;
  }

  #isFull(bytes: number): boolean {
    return this.#requests >= MAX_REQUESTS_IN_FLIGHT || (this.#requests > 0 && this.#bytes + bytes > MAX_BYTES_IN_FLIGHT);
  }

  #refuse(): Verdict {
    const now = this.#now();
    this.#refusals = Math.max(0, this.#refusals - ((now - this.#refusedAt) / 1000) * REFUSALS_FORGOTTEN_PER_SECOND) + 1;
    this.#refusedAt = now;
    return this.#refusals > REFUSAL_PATIENCE ? 'dismiss' : 'refuse';
  }
}
