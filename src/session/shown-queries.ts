// What is asked in the frames that one terminal is shown. Knows no answer, and not who else is shown them.
import type { Frame, Keyframe } from '../protocol/frames.js';
import { readPayload } from '../protocol/make-frames.js';
import { type AskedIn, askedIn, type Query, QueryFinder } from '../terminal/queries.js';

/** What is asked in a frame, found by the first who wants to know it. */
export interface Remembered {
  readonly asked: AskedIn;
}

export class ShownQueries {
  #finder = new QueryFinder();

  /**
   * An Output or a Keyframe, in the order in which they are shown; `found` is called with each query that ends in it. `remembered` is given of a
   * frame that many are shown: nobody else is to look for what is asked in it.
   */
  read(frame: Frame, found: (query: Query) => void, remembered?: Remembered): void {
    // What comes behind a Keyframe goes on where that ends.
    if (frame.kind === 'Keyframe') this.#finder = new QueryFinder();
    if (!this.#finder.isIdle && !this.#endsAtEscape(frame, found)) {
      this.#finder.read(frame.body, found);
      return;
    }
    const { queries, unfinished } = remembered?.asked ?? askedInFrame(frame);
    for (const query of queries) found(query);
    if (unfinished.length > 0) this.#finder.read(unfinished, found);
  }

  #endsAtEscape(frame: Frame, found: (query: Query) => void): boolean {
    if (!this.#finder.endsAtEscape(frame.body, found)) return false;
    this.#finder = new QueryFinder();
    return true;
  }
}

/** Of an Output or a Keyframe. */
export const askedInFrame = (frame: Frame): AskedIn => askedIn(shownBy(frame));

function shownBy(frame: Frame): Uint8Array {
  return frame.kind === 'Keyframe' ? Buffer.from((readPayload(frame) as Keyframe).snapshot, 'base64') : frame.body;
}
