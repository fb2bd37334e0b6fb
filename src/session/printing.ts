// What a terminal prints, on its way into the log and onto the screen: held for Keyframes, paused when too much waits. Knows no member.
import type { Agent } from '../agents/agents.js';
import { type Draft, isEntry, type Numbered } from '../log/log.js';
import type { Meter } from '../metrics/meter.js';
import type { Resize } from '../protocol/frames.js';
import { entry } from '../protocol/make-frames.js';
import type { RedactedStream } from '../redaction/redacted-stream.js';
import type { Redaction } from '../redaction/redaction.js';
import type { Screen } from '../terminal/terminal.js';
import { Cadence } from './cadence.js';
import { Loudness } from './loudness.js';
import { OutputHold } from './output-hold.js';
import { keyframe } from './picture.js';
import type { RawLive } from './raw-live.js';
import { Valve } from './valve.js';

export interface PrintingParts {
  readonly agent: Agent;
  readonly screen: Screen;
  /** Undefined: what is printed is kept as it is. */
  readonly redaction: Redaction | undefined;
  /** Told what was printed, if those who watch live are to see that. */
  readonly live: RawLive | undefined;
  /** Of the terminal, as it begins. */
  readonly cols: number;
  append(draft: Draft): void;
  /** Bytes that were appended and not yet taken. */
  bytesInFlight(): number;
  readonly terminal: { pause(): void; resume(): void };
  readonly meter: Meter;
  /** Nothing is held any more. */
  drained(): void;
  /** It prints very much: so many bytes a second. Told at most every ten minutes. */
  loud(bytesPerSecond: number): void;
  /** Called once: nothing that is printed goes on any more, since it could not be redacted. */
  redactionFailed(): void;
}

export class Printing {
  readonly #parts: PrintingParts;
  readonly #cadence: Cadence;
  readonly #redacted: RedactedStream | undefined;
  readonly #hold = new OutputHold();
  /** For those who watch live: what was printed, in step with what is held of it. */
  readonly #rawHold = new OutputHold();
  readonly #valve: Valve;
  readonly #loudness: Loudness;

  constructor(parts: PrintingParts) {
    this.#parts = parts;
    const emit = (redacted: Uint8Array, raw: Uint8Array) => this.#passRedacted(redacted, raw);
    this.#redacted = parts.redaction?.stream(parts.cols, emit, () => parts.redactionFailed());
    this.#cadence = new Cadence(cadenceOf(parts.agent), {
      snapshot: () => parts.screen.snapshot(),
      write: (snapshot) => parts.append(keyframe(snapshot)),
      release: () => this.letGo(),
    });
    const pressure = () => ({ waiting: this.#hold.bytes + parts.bytesInFlight(), unfolded: parts.screen.backlog });
    this.#valve = new Valve(parts.terminal, pressure, parts.meter);
    this.#loudness = new Loudness((bytesPerSecond) => parts.loud(bytesPerSecond));
  }

  /** Whether nothing waits for a Keyframe. */
  get isDrained(): boolean {
    return this.#hold.empty;
  }

  print(bytes: Uint8Array): void {
    this.#parts.meter.count('terminal_output_bytes_total', bytes.length);
    this.#loudness.printed(bytes.length);
    if (this.#redacted) this.#redacted.push(bytes);
    else this.#pass(bytes, bytes);
  }

  /** The terminal has another width from now on; what was printed before goes first. */
  resized(cols: number): void {
    this.#redacted?.resize(cols);
  }

  /** The terminal prints nothing more. */
  end(): void {
    this.#redacted?.end();
    this.letGo();
  }

  /** What waited goes on, as far as it may. */
  letGo(): void {
    while (!this.#hold.empty && !this.#cadence.holding) this.#append(this.#hold.shift(), this.#rawHold.shift());
    this.#valve.turn();
    if (this.#hold.empty) this.#parts.drained();
  }

  #passRedacted(redacted: Uint8Array, raw: Uint8Array): void {
    // It is a copy where something in it was concealed, and the same memory elsewhere.
    if (redacted.buffer !== raw.buffer) this.#parts.meter.count('redacted_outputs_total');
    this.#pass(redacted, raw);
  }

  #pass(redacted: Uint8Array, raw: Uint8Array): void {
    if (this.#hold.empty && !this.#cadence.holding) this.#append(redacted, raw);
    else {
      this.#hold.push(redacted);
      if (this.#parts.live) this.#rawHold.push(raw);
    }
    this.#valve.turn();
  }

  #append(redacted: Uint8Array, raw: Uint8Array): void {
    const output = entry('Output', redacted);
    this.#parts.live?.note(output.id, raw);
    this.#parts.append(output);
  }

  /** What changes the screen is counted when it is appended, and again when it is folded. `first` is the number of the first draft. */
  appended(drafts: readonly Draft[], first: number): void {
    for (const [i, draft] of drafts.entries()) {
      if (!isEntry(draft)) continue;
      if (draft.kind === 'Output') this.#cadence.appended(first + i, draft.body);
      else if (draft.kind === 'Resize') this.#cadence.appended(first + i);
    }
  }

  /** Taken by the log, in the order of the numbers. */
  fold(entries: readonly Numbered[]): void {
    const { screen } = this.#parts;
    for (const { kind, sequence, body } of entries) {
      if (kind === 'Output') screen.output(sequence, body);
      else if (kind === 'Resize') screen.resize(sequence, JSON.parse(Buffer.from(body).toString()) as Resize);
      else continue;
      this.#cadence.taken();
    }
    this.#valve.turn();
  }

  stop(): void {
    this.#redacted?.end();
    this.#cadence.stop();
    this.#valve.stop();
  }
}

/** Often enough that a Keyframe is always among what the log keeps. */
function cadenceOf({ pty }: Agent): { frames: number; seconds: number } {
  const frames = Math.max(1, Math.min(pty.keyframe_interval_frames, Math.floor(pty.replay_buffer_frames / 2)));
  return { frames, seconds: pty.keyframe_interval_seconds };
}
