// When the log gets a Keyframe of everyone's: after so many Outputs, and so often while there is output (pty-ext §7.5). Knows no member.
import { withoutQueries } from '../terminal/queries.js';
import type { Snapshot } from '../terminal/terminal.js';
import { LONGEST_TIMER_MS } from './limits.js';

/** How long output is held for a Keyframe that is due, in milliseconds; a screen that is later than that is done without. */
const HOLD_MS = 1000;
/** Output that may follow the place where a picture was asked for and still be part of the Keyframe, in bytes. */
const SUFFIX_LIMIT = 4 * 1024 * 1024;
/** Output behind a picture that makes it worth asking for a newer one before the Keyframe is due, and worth waiting for one when it is, in bytes. */
const SUFFIX_STALE = 1024 * 1024;
const SUFFIX_FINE = 64 * 1024;
/** How long a newer picture is waited for when there is an older one, in milliseconds. */
const NEWER_MS = 20;
/** A Keyframe by time is asked for this much before it is due. */
const EARLY = 0.9;

export interface CadencePorts {
  snapshot(): Promise<Snapshot>;
  /** Appends the Keyframe at once. */
  write(keyframe: Snapshot): void;
  /** What was held may go on. */
  release(): void;
}

/** A step that was appended; `bytes` is undefined for a resize. */
interface Step {
  readonly sequence: number;
  readonly bytes: Uint8Array | undefined;
}

/** What was appended since a picture was asked for, and the picture once it is there. */
class Picture {
  #steps: Step[] = [];
  #snapshot: Snapshot | undefined;
  bytes = 0;

  add(step: Step): void {
    this.#steps.push(step);
    this.bytes += step.bytes?.length ?? 0;
  }

  /** A screen that was behind may tell a later state than was asked for. */
  arrive(snapshot: Snapshot): void {
    this.#snapshot = snapshot;
    this.#steps = this.#steps.filter((step) => step.sequence > snapshot.anchor);
    this.bytes = this.#steps.reduce((sum, step) => sum + (step.bytes?.length ?? 0), 0);
  }

  /** A resize cannot be added to a picture, and too many bytes should not be. */
  get isUsable(): boolean {
    return this.bytes <= SUFFIX_LIMIT && this.#steps.every((step) => step.bytes);
  }

  /** A picture and the bytes after it are a picture too; but it asks nothing, since it is shown to terminals that would answer. */
  whole(): Snapshot {
    const snapshot = this.#snapshot as Snapshot;
    const last = this.#steps.at(-1);
    if (!last) return snapshot;
    const suffix = this.#steps.map((step) => step.bytes as Uint8Array);
    return { ...snapshot, bytes: withoutQueries(Buffer.concat([snapshot.bytes, ...suffix])), anchor: last.sequence };
  }
}

/**
 * A Keyframe numbered N must hold all Output below N, but the screen works beside the stream. So a picture is asked for early, at half of the way,
 * then at half of what is left, and so on; when the Keyframe is due, the newest picture is taken, and what was appended since is added to it as it
 * is. Output is held for a moment if that is much, so that Keyframes of a flood are small, and for longer only if there is no picture at all.
 */
export class Cadence {
  readonly #frames: number;
  readonly #seconds: number;
  readonly #ports: CadencePorts;
  /** Appended, and not yet taken by the log (so not yet folded into the screen). */
  readonly #flying: Step[] = [];
  /** Asked for. */
  #coming: Picture | undefined;
  /** The newest that came. */
  #ready: Picture | undefined;
  #outputs = 0;
  #isDueByTime = false;
  #askAt: number;
  #clock: NodeJS.Timeout | undefined;
  #patience: NodeJS.Timeout | undefined;
  /** A newer picture was waited for long enough. */
  #isLate = false;
  #isStopped = false;

  /** `frames`: at most so many Outputs between two Keyframes; `seconds`: at least so often during output. */
  constructor(limits: { readonly frames: number; readonly seconds: number }, ports: CadencePorts) {
    this.#frames = limits.frames;
    this.#seconds = limits.seconds;
    this.#ports = ports;
    this.#askAt = Math.ceil(limits.frames / 2);
  }

  /** While true, no Output may be appended: a Keyframe is due first. */
  get holding(): boolean {
    return !this.#isStopped && this.#outputs >= this.#frames;
  }

  /** An Output (or, without bytes, a Resize) was appended and will get this number. */
  appended(sequence: number, bytes?: Uint8Array): void {
    const step = { sequence, bytes };
    this.#flying.push(step);
    this.#coming?.add(step);
    this.#ready?.add(step);
    if (this.#ready?.isUsable === false) this.#ready = undefined;
    if (!bytes || this.#isStopped) return;
    this.#outputs++;
    this.#clock ??= setTimeout(() => this.#fallDue(), Math.min(this.#seconds * 1000 * EARLY, LONGEST_TIMER_MS)).unref();
    this.#writeIfDue();
  }

  /** The oldest appended step was taken and folded. */
  taken(): void {
    this.#flying.shift();
    if (this.#outputs >= this.#askAt && (this.#ready?.bytes ?? Number.POSITIVE_INFINITY) > SUFFIX_STALE) this.#ask();
  }

  stop(): void {
    this.#isStopped = true;
    this.#begin();
  }

  #fallDue(): void {
    this.#isDueByTime = true;
    this.#writeIfDue();
  }

  #writeIfDue(): void {
    if (this.#outputs < this.#frames && !this.#isDueByTime) return;
    const picture = this.#ready;
    if (picture && (this.#isLate || !this.holding || picture.bytes <= SUFFIX_FINE)) this.#write(picture);
    else {
      this.#ask();
      if (this.holding) this.#patience ??= setTimeout(() => this.#takeOlder(), NEWER_MS);
    }
  }

  #takeOlder(): void {
    this.#isLate = true;
    if (this.#ready) this.#write(this.#ready);
    else this.#patience = setTimeout(() => this.#goOn(), HOLD_MS - NEWER_MS);
  }

  #write(picture: Picture): void {
    this.#begin();
    this.#ports.write(picture.whole());
    this.#ports.release();
  }

  #ask(): void {
    if (this.#coming || this.#isStopped) return;
    this.#askAt = this.#frames - Math.floor((this.#frames - this.#outputs) / 2);
    const picture = new Picture();
    this.#coming = picture;
    for (const step of this.#flying) picture.add(step);
    this.#ports.snapshot().then(
      (snapshot) => this.#answered(picture, snapshot),
      () => this.#refused(picture),
    );
  }

  #answered(picture: Picture, snapshot: Snapshot): void {
    if (this.#coming !== picture) return;
    this.#coming = undefined;
    picture.arrive(snapshot);
    if (picture.isUsable) this.#ready = picture;
    this.#writeIfDue();
  }

  #refused(picture: Picture): void {
    if (this.#coming !== picture) return;
    this.#coming = undefined;
    if (!this.holding && !this.#isDueByTime) return;
    if (this.#ready) this.#write(this.#ready);
    else this.#goOn();
  }

  /** Without a Keyframe, this time. */
  #goOn(): void {
    this.#begin();
    this.#ports.release();
  }

  #begin(): void {
    clearTimeout(this.#clock);
    clearTimeout(this.#patience);
    this.#clock = this.#patience = undefined;
    this.#coming = this.#ready = undefined;
    this.#outputs = 0;
    this.#isDueByTime = false;
    this.#isLate = false;
    this.#askAt = Math.ceil(this.#frames / 2);
  }
}
