// What one connection types into its session, without what its terminal answers by itself. Knows no verb.
import type { Frame } from '../protocol/frames.js';
import { AnswerFilter, type Typed } from '../session/answer-filter.js';
import type { Remembered } from '../session/shown-queries.js';

/** Milliseconds that the beginning of what may be an answer waits for the rest of it; an Escape key waits as long, if an answer is expected. */
const HOLD_MS = 25;

export class Typing {
  readonly #type: (typed: Typed) => Promise<void>;
  readonly #filter = new AnswerFilter();
  #timer: NodeJS.Timeout | undefined;

  /** `type` gives bytes to the session, in the order of the calls. */
  constructor(type: (typed: Typed) => Promise<void>) {
    this.#type = type;
  }

  /** A frame of the session went out to this connection. */
  sent(frame: Frame, remembered?: Remembered): void {
    this.#filter.sent(frame, remembered);
  }

  /** Rejects with what the session says to any of it. */
  async type(bytes: Uint8Array): Promise<void> {
    clearTimeout(this.#timer);
    const typed = this.#filter.take(bytes);
    if (this.#filter.holds) this.#timer = setTimeout(() => this.#release(), HOLD_MS);
    await Promise.all(typed.map(this.#type));
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  /** Nobody waits for it any more: what was refused meanwhile is refused in silence. */
  #release(): void {
    for (const typed of this.#filter.release()) this.#type(typed).catch(() => {});
  }
}
