// How fast one connection is read: who sends faster than it may is not read for a while, and so waits where it is. Knows no socket and no frame.
import {
  BYTE_BURST,
  BYTES_PER_SECOND,
  CALM_MS,
  CROWDED_MS,
  FLOOD_MS,
  FRAME_BURST,
  FRAMES_PER_SECOND,
  HELD_LONG_MS,
  SHORTEST_PAUSE_MS,
} from './limits.js';

/** What one is held back for: too many frames, too many bytes, or too many requests that are still to be answered. */
export type HeldFor = 'frames' | 'bytes' | 'requests';

export interface PaceEvents {
  /** Nothing more is read, until `goOn`. */
  hold(): void;
  goOn(): void;
  /** Nothing was read for so long; told while it lasts as well. */
  held(cause: HeldFor, seconds: number): void;
  /** It has been held back for HELD_LONG_MS without a pause of CALM_MS: told once, until there was one. */
  heldLong(cause: HeldFor): void;
  /** It has sent more frames than it may for FLOOD_MS, and has not stopped. */
  flooded(): void;
}

/** Fills with time; may go into debt, by what had been read already. */
class Bucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #level: number;
  #since: number;

  constructor(perSecond: number, burst: number, now: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#level = burst;
    this.#since = now;
  }

  take(amount: number, now: number): void {
    this.#level = Math.min(this.#burst, this.#level + ((now - this.#since) / 1000) * this.#perSecond) - amount;
    this.#since = now;
  }

  /** Milliseconds until the debt is paid. */
  get debtMs(): number {
    return Math.max(0, (-this.#level / this.#perSecond) * 1000);
  }
}

export class Pace {
  readonly #events: PaceEvents;
  readonly #now: () => number;
  readonly #frames: Bucket;
  readonly #bytes: Bucket;
  #timer: NodeJS.Timeout | undefined;
  /** Since when it has been sending too many frames without a pause of CALM_MS. */
  #floodedSince: number | undefined;
  #wentOnAt = Number.NEGATIVE_INFINITY;
  #cause: HeldFor = 'frames';
  /** Since when it has been held back without a pause of CALM_MS, up to when that is counted, and whether it was told. */
  #heldSince = 0;
  #countedAt = 0;
  #isTold = false;
  /** Since when the reader has had its hands full. */
  #crowdedSince: number | undefined;
  #isStopped = false;

  constructor(events: PaceEvents, now: () => number = () => performance.now()) {
    this.#events = events;
    this.#now = now;
    this.#frames = new Bucket(FRAMES_PER_SECOND, FRAME_BURST, now());
    this.#bytes = new Bucket(BYTES_PER_SECOND, BYTE_BURST, now());
  }

  /** A message, a Ping or a Pong has come. */
  frame(): void {
    const now = this.#now();
    this.#frames.take(1, now);
    if (this.#frames.debtMs > 0) this.#noteFlood(now);
    this.#settle();
  }

  /** So many bytes have come, whatever they are. */
  bytes(count: number): void {
    this.#bytes.take(count, this.#now());
    this.#settle();
  }

  /** Whether so much of what was read is still to be done that no more should be. Not for longer than CROWDED_MS: a peer's Pongs are to be heard. */
  crowded(isCrowded: boolean): void {
    if (!isCrowded) this.#crowdedSince = undefined;
    else if (this.#crowdedSince === undefined) this.#crowdedSince = this.#now();
    this.#settle();
  }

  /** What is left is read as it comes. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    if (this.#timer) this.#goOn();
  }

  #settle(): void {
    if (this.#timer || this.#isStopped) return;
    const { cause, ms } = this.#due();
    if (ms <= 0) return;
    this.#noteHold(cause);
    this.#events.hold();
    this.#wait(ms);
  }

  /** What takes longest. */
  #due(): { readonly cause: HeldFor; readonly ms: number } {
    const left = this.#crowdedSince === undefined ? 0 : this.#crowdedSince + CROWDED_MS - this.#now();
    const requests = Math.min(left, SHORTEST_PAUSE_MS);
    const [frames, bytes] = [this.#frames.debtMs, this.#bytes.debtMs];
    if (frames >= Math.max(bytes, requests)) return { cause: 'frames', ms: frames };
    return bytes >= requests ? { cause: 'bytes', ms: bytes } : { cause: 'requests', ms: requests };
  }

  #noteHold(cause: HeldFor): void {
    const now = this.#now();
    if (now - this.#wentOnAt > CALM_MS) {
      this.#heldSince = now;
      this.#isTold = false;
    }
    this.#countedAt = now;
    this.#cause = cause;
  }

  #noteHeld(now: number): void {
    this.#events.held(this.#cause, (now - this.#countedAt) / 1000);
    this.#countedAt = now;
    if (this.#isTold || now - this.#heldSince < HELD_LONG_MS) return;
    this.#isTold = true;
    this.#events.heldLong(this.#cause);
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), Math.max(ms, SHORTEST_PAUSE_MS)).unref();
  }

  /** More may have come while nothing was read any more: it had been read before. */
  #look(): void {
    const now = this.#now();
    this.#frames.take(0, now);
    this.#bytes.take(0, now);
    const { cause, ms } = this.#due();
    if (ms <= 0) {
      this.#goOn();
      return;
    }
    this.#noteHeld(now);
    this.#cause = cause;
    this.#wait(ms);
  }

  #goOn(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#wentOnAt = this.#now();
    this.#noteHeld(this.#wentOnAt);
    this.#events.goOn();
  }

  #noteFlood(now: number): void {
    if (this.#timer) return;
    if (this.#floodedSince === undefined || now - this.#wentOnAt > CALM_MS) this.#floodedSince = now;
    if (now - this.#floodedSince >= FLOOD_MS) this.#events.flooded();
  }
}
