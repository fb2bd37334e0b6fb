// How fast and how much one connection may ask: a bucket of frames, and a bound on what is in flight. Knows no socket.
import { FRAME_BURST, FRAME_PATIENCE, FRAMES_PER_SECOND, MAX_BYTES_IN_FLIGHT, MAX_REQUESTS_IN_FLIGHT } from './limits.js';

export type Verdict = 'take' | 'refuse' | 'dismiss';

/**
 * The bucket fills with time and each frame takes one from it. It may go into debt: who is in debt is refused, and who is
 * deeper in debt than patience reaches is sent away. A refusal for too much in flight costs as many frames as it would
 * take to lose patience in a hundred of them, so that a peer that asks and never reads is sent away soon.
 */
export class FrameBudget {
  readonly #now: () => number;
  #level = FRAME_BURST;
  #since: number;
  #requests = 0;
  #bytes = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#since = now();
  }

  /** A frame of so many bytes has come. After `take`, call `done` once with the same size. */
  admit(bytes: number): Verdict {
    this.#refill();
    this.#level -= this.#isCrowded(bytes) ? (FRAME_BURST + FRAME_PATIENCE) / 100 : 1;
    if (this.#level < -FRAME_PATIENCE) return 'dismiss';
    if (this.#level < 0 || this.#isCrowded(bytes)) return 'refuse';
    this.#requests += 1;
    this.#bytes += bytes;
    return 'take';
  }

  done(bytes: number): void {
    this.#requests -= 1;
    this.#bytes -= bytes;
  }

  #isCrowded(bytes: number): boolean {
    return this.#requests >= MAX_REQUESTS_IN_FLIGHT || (this.#requests > 0 && this.#bytes + bytes > MAX_BYTES_IN_FLIGHT);
  }

  #refill(): void {
    const now = this.#now();
    this.#level = Math.min(FRAME_BURST, this.#level + ((now - this.#since) / 1000) * FRAMES_PER_SECOND);
    this.#since = now;
  }
}
