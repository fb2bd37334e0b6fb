// What a client did not see live, from where to where, and whether it got it all the same. Knows numbers alone.

/**
 * A stretch of the session that was not seen live. `reconnect`: the connection was cut, or the client began with `replayFrom`; `lagged`: this connection
 * was too slow for the gateway (pty-ext §7.7); `out_of_range`: what came after the cursor is not kept any more (pty-ext §8); `slow_reader`: whoever
 * reads `frames()` was.
 */
export interface Missed {
  readonly cause: 'reconnect' | 'lagged' | 'out_of_range' | 'slow_reader';
  /** The first number that was not seen live. */
  readonly from: number;
  /** The last one: what has a higher number is live again. */
  readonly to: number;
  /** True: all that the session did in between has been given as `output`, `resize` and so on. False: it never will be. */
  readonly replayed: boolean;
  /** The number of the Keyframe from which the screen goes on where nothing was replayed; absent if none could be made. */
  readonly keyframe?: number;
}

/** At most one stretch is open at a time: a cut within one makes it longer. */
export class Gap {
  #cause: Missed['cause'] | undefined;
  /** The last number that was seen before it. */
  #after = 0;
  #lost = false;

  /** A connection is about to join from a cursor, so that all that is behind it will be replayed. */
  resume(after: number): void {
    if (this.#cause === undefined || this.#lost) this.#after = after;
    this.#cause = 'reconnect';
    this.#lost = false;
  }

  /** What follows `after` will not come. What was replayed up to there is a stretch of its own. */
  lose(cause: 'lagged' | 'out_of_range', after: number): Missed | undefined {
    if (this.#lost) return undefined;
    const replayed = after > this.#after ? this.end(after, undefined) : undefined;
    this.#after = after;
    this.#cause = cause;
    this.#lost = true;
    return replayed;
  }

  /** All up to `to` is there, by replay or by that Keyframe. Undefined if nothing was missed. */
  end(to: number, keyframe: number | undefined): Missed | undefined {
    const cause = this.#cause;
    this.#cause = undefined;
    if (cause === undefined) return undefined;
    const replayed = !this.#lost;
    this.#lost = false;
    return { cause, from: this.#after + 1, to, replayed, ...(!replayed && keyframe !== undefined && { keyframe }) };
  }
}
