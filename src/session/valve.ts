// Pauses a terminal while too much of its output waits, and lets it go on after (I8). Knows no log and no screen.
import { type Meter, secondsSince } from '../metrics/meter.js';

/** Output that may wait for the log or for a Keyframe, in bytes. */
const WAITING_LIMIT = 4 * 1024 * 1024;
/** Output that the screen may be behind, in bytes. */
const UNFOLDED_LIMIT = 8 * 1024 * 1024;
/** How long a screen may hold a terminal up in one piece, in milliseconds. A store may as long as it is away. */
const SCREEN_PATIENCE_MS = 2000;
/** How often a paused terminal is looked after, in milliseconds. */
const LOOK_MS = 10;

export interface Pressure {
  readonly waiting: number;
  readonly unfolded: number;
}

export class Valve {
  readonly #terminal: { pause(): void; resume(): void };
  readonly #pressure: () => Pressure;
  readonly #meter: Meter;
  #pausedAt: number | undefined;
  /** Up to when the pause was counted. */
  #countedAt = 0;
  #look: NodeJS.Timeout | undefined;

  constructor(terminal: { pause(): void; resume(): void }, pressure: () => Pressure, meter: Meter) {
    this.#terminal = terminal;
    this.#pressure = pressure;
    this.#meter = meter;
  }

  /** To be called when something has come or gone. */
  turn(): void {
    if (this.#pausedAt !== undefined) this.#countPause();
    if (this.#isHigh() === (this.#pausedAt !== undefined)) return;
    if (this.#pausedAt === undefined) this.#pause();
    else this.#resume();
  }

  /** Lets the terminal go on, whatever waits. */
  stop(): void {
    if (this.#pausedAt !== undefined) this.#resume();
  }

  #isHigh(): boolean {
    const { waiting, unfolded } = this.#pressure();
    const screenMayHold = this.#pausedAt === undefined || performance.now() - this.#pausedAt < SCREEN_PATIENCE_MS;
    return waiting > WAITING_LIMIT || (unfolded > UNFOLDED_LIMIT && screenMayHold);
  }

  /** While it lasts, so that a long one is seen before it is over. */
  #countPause(): void {
    const account = this.#pressure().waiting > WAITING_LIMIT ? 'log' : 'screen';
    this.#meter.count('terminal_paused_seconds_total', secondsSince(this.#countedAt), { account });
    this.#countedAt = performance.now();
  }

  #pause(): void {
    this.#pausedAt = this.#countedAt = performance.now();
    this.#terminal.pause();
    this.#look = setInterval(() => this.turn(), LOOK_MS);
  }

  #resume(): void {
    this.#pausedAt = undefined;
    clearInterval(this.#look);
    this.#terminal.resume();
  }
}
