// When the log gets a Keyframe of everyone's: after so many Outputs, and so often while there is output (pty-ext §7.5). Knows no member.
import type { Snapshot } from '../terminal/terminal.js';

/** How long output is held for a Keyframe that is due, in milliseconds; a screen that is later than that is done without. */
const HOLD_MS = 1000;
/** Output that may follow the place where a snapshot was asked for and still be part of the Keyframe, in bytes. */
const SUFFIX_LIMIT = 4 * 1024 * 1024;
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

/**
 * A Keyframe numbered N must hold all Output below N, but the screen works beside the stream. So the picture is asked for early, at some A, and what
 * was appended between A and N is added to it as it is: a picture and the bytes after it are a picture too. Only a resize between the two
 * cannot be added: then it is asked for again.
 */
export class Cadence {
  readonly #frames: number;
  readonly #seconds: number;
  readonly #ports: CadencePorts;
  /** Appended, and not yet taken by the log (so not yet folded into the screen). */
  #flying: Step[] = [];
  /** Since the picture was asked for. */
  #suffix: Step[] | undefined;
  #suffixBytes = 0;
  #outputs = 0;
  #due: NodeJS.Timeout | undefined;
  #patience: NodeJS.Timeout | undefined;
  #stopped = false;

  /** `frames`: at most so many Outputs between two Keyframes; `seconds`: at least so often during output. */
  constructor(limits: { readonly frames: number; readonly seconds: number }, ports: CadencePorts) {
    this.#frames = limits.frames;
    this.#seconds = limits.seconds;
    this.#ports = ports;
  }

  /** While true, no Output may be appended: a Keyframe is due first. */
  get holding(): boolean {
    return this.#suffix !== undefined && (this.#outputs >= this.#frames || this.#suffixBytes > SUFFIX_LIMIT);
  }

  /** An Output (or, without bytes, a Resize) was appended and will get this number. */
  appended(sequence: number, bytes?: Uint8Array): void {
    const step = { sequence, bytes };
    this.#flying.push(step);
    if (this.#suffix) this.#extend(step);
    if (!bytes || this.#stopped) return;
    this.#outputs++;
    this.#due ??= setTimeout(() => this.#ask(), this.#seconds * 1000 * EARLY).unref();
    if (this.#outputs >= this.#frames) this.#ask();
  }

  /** The oldest appended step was taken and folded. */
  taken(): void {
    this.#flying.shift();
    if (this.#outputs >= Math.ceil(this.#frames / 2)) this.#ask();
  }

  stop(): void {
    this.#stopped = true;
    this.#rest();
  }

  #extend(step: Step): void {
    this.#suffix?.push(step);
    this.#suffixBytes += step.bytes?.length ?? 0;
    if (this.#suffixBytes > SUFFIX_LIMIT) this.#waitABit();
  }

  #ask(): void {
    if (this.#suffix || this.#stopped || this.#outputs === 0) {
      if (this.#outputs >= this.#frames) this.#waitABit();
      return;
    }
    const suffix: Step[] = [];
    this.#suffix = suffix;
    for (const step of this.#flying) this.#extend(step);
    this.#ports.snapshot().then(
      (snapshot) => this.#answered(suffix, snapshot),
      () => this.#giveUp(suffix),
    );
    if (this.#outputs >= this.#frames) this.#waitABit();
  }

  #answered(suffix: Step[], snapshot: Snapshot): void {
    if (this.#suffix !== suffix) return;
    if (suffix.some((step) => !step.bytes)) {
      this.#askAgain();
      return;
    }
    const after = suffix.map((step) => step.bytes as Uint8Array);
    const anchor = suffix.at(-1)?.sequence ?? snapshot.anchor;
    this.#rest();
    this.#outputs = 0;
    this.#ports.write({ ...snapshot, bytes: Buffer.concat([snapshot.bytes, ...after]), anchor });
    this.#ports.release();
  }

  #askAgain(): void {
    this.#suffix = undefined;
    this.#suffixBytes = 0;
    this.#ask();
  }

  #giveUp(suffix: Step[]): void {
    if (this.#suffix !== suffix) return;
    this.#rest();
    this.#outputs = 0;
    this.#ports.release();
  }

  #waitABit(): void {
    this.#patience ??= setTimeout(() => this.#suffix && this.#giveUp(this.#suffix), HOLD_MS);
  }

  #rest(): void {
    clearTimeout(this.#due);
    clearTimeout(this.#patience);
    this.#due = this.#patience = undefined;
    this.#suffix = undefined;
    this.#suffixBytes = 0;
  }
}
