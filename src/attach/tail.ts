// The newest frames of a session on this replica: one bounded ring that all its cursors share. Knows no connection.
import type { Extent, LogReader, Numbered, Placed } from '../log/log.js';
import type { Meter } from '../metrics/meter.js';
import { outputHead } from '../protocol/binary-codec.js';
import type { Codec } from '../protocol/codec.js';
import { jsonCodec } from '../protocol/json-codec.js';
import { askedInFrame, type Remembered } from '../session/shown-queries.js';
import { TAIL_BYTES, TAIL_FRAMES } from './limits.js';
import { Places } from './places.js';
import { binaryMessage, textMessage, type WireMessage } from './wire-message.js';

/** A frame with its encodings and what is asked in it, each made once, when the first cursor needs it. */
export class TailFrame implements Remembered {
  readonly frame: Numbered;
  #json: WireMessage | undefined;
  #legacy: WireMessage | undefined;
  #binary: WireMessage | undefined;
  #asked: Remembered['asked'] | undefined;
  #isDelivered = false;

  constructor(frame: Numbered) {
    this.frame = frame;
  }

  /** There are two codecs: that of pty-ws/v1, and the legacy one. */
  text(codec: Codec): WireMessage {
    if (codec === jsonCodec) {
      this.#json ??= textMessage(codec.frame(this.frame));
      return this.#json;
    }
    this.#legacy ??= textMessage(codec.frame(this.frame));
    return this.#legacy;
  }

  /** Of an Output frame (pty-ws §3.1). */
  get binary(): WireMessage {
    this.#binary ??= binaryMessage(outputHead(this.frame.sequence), this.frame.body);
    return this.#binary;
  }

  /** Of an Output frame, or a Keyframe. */
  get asked(): Remembered['asked'] {
    this.#asked ??= askedInFrame(this.frame);
    return this.#asked;
  }

  /** It was handed to a socket: how long that took is told of the first. */
  delivered(meter: Meter): void {
    if (this.#isDelivered || this.frame.kind !== 'Output') return;
    this.#isDelivered = true;
    meter.observe('delivery_seconds', Math.max(0, Date.now() - this.frame.ts) / 1000);
  }
}

export interface TailLimits {
  readonly bytes: number;
  readonly frames: number;
}

/**
 * Every kept frame with a number in (`floor`, `current`] is in the ring. A cursor whose place is below the floor may have
 * missed something. `current` counts the numbers of private frames, too.
 */
export class Tail {
  readonly #limits: TailLimits;
  readonly #ring: Array<TailFrame | undefined>;
  readonly #watchers = new Set<() => void>();
  readonly #places = new Places();
  readonly #stop: () => void;
  /** The frames are #ring[i % length] for i in [#first, #end). */
  #first = 0;
  #end = 0;
  #bytes = 0;
  #floor: number;
  #current: number;
  #closed: TailFrame | undefined;

  constructor(reader: LogReader, limits: TailLimits = { bytes: TAIL_BYTES, frames: TAIL_FRAMES }) {
    this.#limits = limits;
    this.#ring = new Array(limits.frames);
    this.#current = reader.extent().current;
    this.#floor = this.#current;
    this.#stop = reader.follow((entries, extent, places) => this.#append(entries, extent, places));
  }

  get floor(): number {
    return this.#floor;
  }

  get current(): number {
    return this.#current;
  }

  /** The Closed of the session, if it came while this tail was there. */
  get closed(): TailFrame | undefined {
    return this.#closed;
  }

  /** The first frame with a number above `place`; undefined at the end. */
  after(place: number): TailFrame | undefined {
    let low = this.#first;
    let high = this.#end;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (this.#at(middle).frame.sequence > place) high = middle;
      else low = middle + 1;
    }
    return low < this.#end ? this.#at(low) : undefined;
  }

  /** The first number above `place` that was given for this client alone, as far back as is known. */
  placeAfter(clientId: string, place: number): number | undefined {
    return this.#places.after(clientId, place);
  }

  /** Calls `watcher` after each append. Returns the way to stop. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  stop(): void {
    this.#stop();
    this.#watchers.clear();
  }

  #append(entries: readonly Numbered[], { current, oldest }: Extent, places: readonly Placed[]): void {
    // A log that has lost its end goes on above a hole (I2): who stands before it has missed something.
    const isAboveHole = oldest > this.#current + 1 && (entries[0]?.sequence ?? oldest) >= oldest;
    if (isAboveHole) this.#floor = oldest - 1;
    for (const entry of entries) this.#push(new TailFrame(entry));
    for (const place of places) this.#places.add(place);
    this.#current = Math.max(this.#current, current);
    for (const watcher of this.#watchers) watcher();
  }

  #push(added: TailFrame): void {
    if (added.frame.kind === 'Closed') this.#closed = added;
    while (this.#end > this.#first && this.#isFull(added.frame.body.length)) this.#evict();
    this.#ring[this.#end % this.#ring.length] = added;
    this.#end += 1;
    this.#bytes += added.frame.body.length;
  }

  #isFull(more: number): boolean {
    return this.#end - this.#first >= this.#limits.frames || this.#bytes + more > this.#limits.bytes;
  }

  #evict(): void {
    const { frame } = this.#at(this.#first);
    this.#ring[this.#first % this.#ring.length] = undefined;
    this.#first += 1;
    this.#bytes -= frame.body.length;
    this.#floor = frame.sequence;
  }

  #at(index: number): TailFrame {
    return this.#ring[index % this.#ring.length] as TailFrame;
  }
}

/** The tails of this replica: each is made for the first cursor of its session, and let go after the last. */
export class Tails {
  readonly #open = new Map<string, { readonly tail: Tail; cursors: number }>();

  take(sessionId: string, reader: LogReader): Tail {
    const entry = this.#open.get(sessionId) ?? { tail: new Tail(reader), cursors: 0 };
    entry.cursors += 1;
    this.#open.set(sessionId, entry);
    return entry.tail;
  }

  release(sessionId: string): void {
    const entry = this.#open.get(sessionId);
    if (!entry) return;
    entry.cursors -= 1;
    if (entry.cursors > 0) return;
    this.#open.delete(sessionId);
    entry.tail.stop();
  }

  get size(): number {
    return this.#open.size;
  }
}
