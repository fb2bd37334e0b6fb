// Plays a recording on a stage: what is due is shown, in order, whatever place was jumped to. Knows no timer and no kind of screen.
import { advance } from './clock.js';
import { Feed } from './feed.js';
import type { Moment, Recording, Size } from './recording.js';
import { lastBefore } from './timeline.js';

/** Moments whose times are remembered, to step back to. */
const MAX_PAST = 1024;

/** Where it is shown. */
export interface Stage {
  /** An empty screen. */
  blank(size: Size): void;
  /** Makes the whole screen, whatever it showed. */
  picture(bytes: Uint8Array, size: Size): void;
  output(bytes: Uint8Array): void;
  resize(size: Size): void;
  /** Whether it has enough to show for now: time stands still meanwhile. */
  readonly isBusy: boolean;
}

/** `loading`: it waits for what comes next, and goes on as soon as it is there. */
export type PlayerState = 'loading' | 'playing' | 'paused' | 'ended' | 'failed';

export class Player {
  /** Of the recording, for one of the clock. */
  speed = 1;
  /** Longest wait that is waited out, in milliseconds of the recording. */
  idleLimit = Number.POSITIVE_INFINITY;
  /** What came in the way of reading, once it is `failed`. */
  trouble: unknown;
  readonly #stage: Stage;
  #recording: Recording;
  #feed: Feed;
  #position = 0;
  /** Of the newest moment that was shown, or where one has jumped to since. */
  #last = 0;
  #shown = 0;
  #wantsToPlay = false;
  #isLoading = true;
  /** Nothing can be shown before a picture. */
  #needsPicture = false;
  /** A terminal rewraps by itself; the next picture tells how it is. */
  #wasResized = false;
  #past: number[] = [];

  constructor(recording: Recording, stage: Stage) {
    this.#recording = recording;
    this.#stage = stage;
    this.#feed = this.#begin(0);
  }

  /** Milliseconds since the beginning, 0…duration. */
  get position(): number {
    return this.#position;
  }

  get state(): PlayerState {
    if (this.trouble !== undefined) return 'failed';
    if (this.#isLoading) return 'loading';
    if (this.#wantsToPlay) return 'playing';
    return this.#position >= this.#recording.timeline.duration ? 'ended' : 'paused';
  }

  /** Whether it plays, or would if it had what comes next. */
  get isOn(): boolean {
    return this.#wantsToPlay && this.trouble === undefined;
  }

  /** From the beginning, where it is at its end. After a failure, it is tried again. */
  play(): void {
    if (this.state === 'ended') this.seek(0);
    else if (this.trouble !== undefined) this.#beginAgain();
    this.#wantsToPlay = true;
    this.#last = Math.max(this.#last, this.#position);
  }

  pause(): void {
    this.#wantsToPlay = false;
  }

  /** Shows what was shown then; what lies between is read only where no Keyframe is nearer. */
  seek(to: number): void {
    const at = Math.min(Math.max(to, 0), this.#recording.timeline.duration);
    const keyframe = lastBefore(this.#recording.timeline.keyframes, at);
    const isAhead = at >= this.#position && this.trouble === undefined && (keyframe?.sequence ?? 0) <= this.#shown;
    this.#position = at;
    this.#last = at;
    if (!isAhead) this.#beginAgain();
    this.#isLoading = true;
  }

  /** To the next moment that printed something, or the one before; pauses. */
  step(by: 1 | -1): void {
    this.pause();
    if (by === 1) this.seek(this.#feed.peek()?.at ?? this.#position);
    else
      this.seek(
        this.#past.findLast((at) => at < this.#position) ?? lastBefore(this.#recording.timeline.keyframes, this.#position - 1)?.at ?? 0,
      );
  }

  /** So much time of the clock has passed, in milliseconds. */
  tick(elapsed: number): void {
    if (this.trouble !== undefined) return;
    this.#isLoading = !this.#showUpTo(this.#position);
    if (this.#isLoading || !this.#wantsToPlay) return;
    const { duration: end } = this.#recording.timeline;
    const passing = { speed: this.speed, idleLimit: this.idleLimit, last: this.#last, next: this.#feed.peek()?.at, end };
    this.#position = advance(this.#position, elapsed, passing);
    this.#isLoading = !this.#showUpTo(this.#position);
    if (this.#position >= end && !this.#isLoading) this.pause();
  }

  /** The same recording, which may be longer now. */
  extend(recording: Recording): void {
    this.#recording = recording;
    if (this.#feed.isOver) this.#beginAgain();
  }

  close(): void {
    this.pause();
    this.#feed.close();
  }

  #beginAgain(): void {
    this.trouble = undefined;
    this.#feed.close();
    this.#feed = this.#begin(this.#position);
    this.#isLoading = true;
  }

  /** From the nearest Keyframe, or from the beginning of all. */
  #begin(at: number): Feed {
    const { keyframes, first, isWhole, size } = this.#recording.timeline;
    const keyframe = lastBefore(keyframes, at);
    this.#needsPicture = keyframe !== undefined || !isWhole;
    this.#wasResized = false;
    this.#shown = 0;
    this.#past = [];
    if (!this.#needsPicture) this.#stage.blank(size);
    return new Feed(this.#recording, keyframe?.sequence ?? first);
  }

  /** Returns whether all that is due is shown: else it has not come yet, or the stage is busy. */
  #showUpTo(at: number): boolean {
    for (let moment = this.#feed.peek(); moment && moment.at <= at; moment = this.#feed.peek()) {
      if (this.#stage.isBusy) return false;
      this.#feed.drop();
      this.#show(moment);
    }
    if (this.#feed.trouble !== undefined) this.trouble = this.#feed.trouble;
    return this.#feed.peek() !== undefined || this.#feed.isOver;
  }

  #show(moment: Moment): void {
    this.#shown = moment.sequence;
    if (moment.kind === 'picture') {
      if (this.#needsPicture || this.#wasResized) this.#stage.picture(moment.bytes, moment.size);
      this.#needsPicture = false;
      this.#wasResized = false;
      return;
    }
    if (this.#needsPicture) return;
    this.#last = Math.max(this.#last, moment.at);
    if (moment.kind === 'resize') {
      this.#stage.resize(moment.size);
      this.#wasResized = true;
    } else {
      this.#stage.output(moment.bytes);
      this.#remember(moment.at);
    }
  }

  #remember(at: number): void {
    if (this.#past.at(-1) === at) return;
    this.#past.push(at);
    if (this.#past.length > MAX_PAST) this.#past.shift();
  }
}
