// What is asked in the frames that one terminal is shown; what is in a frame is found once for all who are shown it. Knows no answer.
import type { Frame } from '../protocol/frames.js';
import { readPayload } from '../protocol/make-frames.js';
import { type AskedIn, askedIn, type Query, QueryFinder } from '../terminal/queries.js';

/** Kept as long as the frames are. */
const known = new WeakMap<Frame, AskedIn>();

export class ShownQueries {
  #finder = new QueryFinder();

  /** An Output or a Keyframe, in the order in which they are shown; `found` is called with each query that ends in it. */
  read(frame: Frame, found: (query: Query) => void): void {
    // What comes behind a Keyframe goes on where that ends.
    if (frame.kind === 'Keyframe') this.#finder = new QueryFinder();
    if (!this.#finder.isIdle && !this.#finder.endsAtEscape(frame.body, found)) {
      this.#finder.read(frame.body, found);
      return;
    }
    const { queries, unfinished } = askedInFrame(frame);
    for (const query of queries) found(query);
    this.#finder = new QueryFinder();
    this.#finder.read(unfinished, found);
  }
}

function askedInFrame(frame: Frame): AskedIn {
  const asked = known.get(frame) ?? askedIn(shownBy(frame));
  known.set(frame, asked);
  return asked;
}

function shownBy(frame: Frame): Uint8Array {
  const payload = readPayload(frame);
  return payload.kind === 'Keyframe' ? Buffer.from(payload.snapshot, 'base64') : frame.body;
}
