// The screen's frames as a stream that its reader pulls, in bounded memory: a reader that is too slow gets a Keyframe instead of what it missed.
// Knows no connection.
import type { Missed } from './gap.js';
import type { ClientEvents, Picture, Size } from './receiver.js';

/** Bytes of output that wait for a reader, unless it says otherwise. */
const BUFFER_BYTES = 1_048_576;
/** What a frame counts for beside its bytes: many small ones are bounded by this. */
const FRAME_BYTES = 64;

/** What a terminal is to be told, in order. */
export type ScreenFrame =
  | { readonly kind: 'output'; readonly bytes: Uint8Array; readonly sequence: number; readonly replayed: boolean }
  | ({ readonly kind: 'keyframe' } & Picture)
  | ({ readonly kind: 'resize' } & Size)
  | ({ readonly kind: 'missed' } & Missed);

export interface FramesOptions {
  /** Bytes that may wait for the reader; default 1 MiB. A single frame that is larger waits alone. */
  readonly bufferBytes?: number;
  /** Ends the iteration, by throwing its reason. The client goes on. */
  readonly signal?: AbortSignal;
}

/** What the stream needs of a client. */
export interface FrameSource {
  on<Name extends keyof ClientEvents>(name: Name, listener: ClientEvents[Name]): () => void;
  requestKeyframe(): void;
  /** Stops the peer where that can be done: what is on its way still comes. */
  hold(on: boolean): void;
  readonly ended: Promise<unknown>;
}

/**
 * Reads from now until the client has ended. When half of the buffer is full the gateway is stopped, where the platform can do that (Node can, browsers
 * cannot); when it is full, what comes is dropped, and the reader, once it has read all, gets `missed` and a Keyframe.
 */
export class Frames implements AsyncIterableIterator<ScreenFrame> {
  readonly #source: FrameSource;
  readonly #limit: number;
  readonly #stops: Array<() => void>;
  #waiting: ScreenFrame[] = [];
  #bytes = 0;
  /** The newest number that came, dropped or not. */
  #newest = 0;
  /** Set while what comes is dropped: the first number that the reader will not see. */
  #droppedFrom: number | undefined;
  #asked = false;
  #over = false;
  #failure: { readonly reason: unknown } | undefined;
  #held = false;
  readonly #readers: Array<() => void> = [];

  constructor(source: FrameSource, { bufferBytes = BUFFER_BYTES, signal }: FramesOptions = {}) {
    this.#source = source;
    this.#limit = bufferBytes;
    const abort = () => this.#end({ reason: signal?.reason });
    signal?.addEventListener('abort', abort);
    this.#stops = [
      source.on('output', (bytes, sequence, replayed) => this.#put({ kind: 'output', bytes, sequence, replayed }, sequence)),
      source.on('resize', (size) => this.#put({ kind: 'resize', ...size })),
      source.on('missed', (missed) => this.#put({ kind: 'missed', ...missed })),
      source.on('keyframe', (picture) => this.#keyframe(picture)),
      source.on('notice', ({ kind }) => kind === 'no_picture' && this.#noPicture()),
      () => signal?.removeEventListener('abort', abort),
    ];
    void source.ended.then(() => this.#end());
    if (signal?.aborted) abort();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<ScreenFrame, undefined>> {
    while (this.#waiting.length === 0 && !this.#over) {
      this.#askForKeyframe();
      await new Promise<void>((resolve) => this.#readers.push(resolve));
    }
    if (this.#failure) throw this.#failure.reason;
    const value = this.#waiting.shift();
    if (value === undefined) return { done: true, value };
    this.#count(-costOf(value));
    return { done: false, value };
  }

  async return(): Promise<IteratorResult<ScreenFrame, undefined>> {
    this.#waiting = [];
    this.#end();
    return { done: true, value: undefined };
  }

  #put(frame: ScreenFrame, sequence = this.#newest): void {
    const cost = costOf(frame);
    if (this.#bytes > 0 && this.#bytes + cost > this.#limit) this.#droppedFrom ??= this.#newest + 1;
    this.#newest = sequence;
    if (this.#droppedFrom === undefined) this.#push(frame);
  }

  #push(frame: ScreenFrame): void {
    this.#waiting.push(frame);
    this.#count(costOf(frame));
    this.#wake();
  }

  #keyframe(picture: Picture): void {
    const { sequence } = picture;
    // Whoever has a hole is not where the replay ends.
    if (this.#endHole(sequence, sequence)) this.#push({ kind: 'keyframe', ...picture, afterReplay: false });
    else this.#put({ kind: 'keyframe', ...picture }, sequence);
  }

  #noPicture(): void {
    this.#endHole(this.#newest, undefined);
  }

  /** A hole ends when the reader has read all before it: then there is room for a Keyframe of any size. */
  #endHole(to: number, keyframe: number | undefined): boolean {
    const from = this.#droppedFrom;
    if (from === undefined || this.#waiting.length > 0) return false;
    this.#droppedFrom = undefined;
    this.#asked = false;
    this.#newest = to;
    this.#push({ kind: 'missed', cause: 'slow_reader', from, to, replayed: false, ...(keyframe !== undefined && { keyframe }) });
    return true;
  }

  #askForKeyframe(): void {
    if (this.#droppedFrom === undefined || this.#asked) return;
    this.#asked = true;
    this.#source.requestKeyframe();
  }

  #count(bytes: number): void {
    this.#bytes += bytes;
    this.#hold(this.#bytes > this.#limit / 2);
  }

  #hold(on: boolean): void {
    if (this.#held === on) return;
    this.#held = on;
    this.#source.hold(on);
  }

  #wake(): void {
    for (const reader of this.#readers.splice(0)) reader();
  }

  #end(failure?: { readonly reason: unknown }): void {
    if (this.#over) return;
    this.#over = true;
    this.#failure = failure;
    for (const stop of this.#stops) stop();
    this.#hold(false);
    this.#wake();
  }
}

function costOf(frame: ScreenFrame): number {
  if (frame.kind === 'output') return frame.bytes.length + FRAME_BYTES;
  return frame.kind === 'keyframe' ? frame.snapshot.length + FRAME_BYTES : FRAME_BYTES;
}
