// A recording on a person's terminal, from its beginning to its end or until they leave. Knows no option.
import { constants } from 'node:os';
import { clockText, otherSpeed } from '../../playback/clock.js';
import { Player } from '../../playback/player.js';
import type { Recording } from '../../playback/recording.js';
import type { Display } from '../display.js';
import { CommandError } from '../failure.js';
import { LocalTerminal, type Streams } from '../local-terminal.js';
import { obey, type PlayKeys } from './keys.js';
import { rawStage, windowStage } from './stages.js';

/** Milliseconds between two looks at the clock. */
const TICK_MS = 15;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
const HELP = 'space plays, arrows seek, , . step, + - speed, q quits';

export interface PlayingOptions {
  readonly streams: Streams;
  readonly speed: number;
  /** Longest wait that is waited out, in milliseconds. */
  readonly idleLimit: number;
  /** Milliseconds after the beginning. */
  readonly from: number;
}

/** Resolves with the exit code: 0, or 128 and the number of the signal that ended it. Rejects with CommandError where the rest cannot be read. */
export async function play(recording: Recording, options: PlayingOptions): Promise<number> {
  const terminal = new LocalTerminal(options.streams);
  const { WindowDisplay } = await import('../window-display.js');
  const display = new WindowDisplay(terminal, { lost: () => {} });
  const playing = new Playing(recording, options, display);
  try {
    return await playing.run(terminal.isKeyboard);
  } finally {
    playing.close();
    display.close();
    if (terminal.isKeyboard) options.streams.stdin.pause();
  }
}

/** The output alone, at its pace. */
export async function playRaw(recording: Recording, options: PlayingOptions): Promise<number> {
  const playing = new Playing(recording, options);
  try {
    return await playing.run(false);
  } finally {
    playing.close();
  }
}

class Playing implements PlayKeys {
  readonly #player: Player;
  readonly #recording: Recording;
  readonly #options: PlayingOptions;
  readonly #display: Display | undefined;
  readonly #undo: Array<() => void> = [];
  #end: (code: number) => void = () => {};
  #line = '';
  #before = performance.now();

  /** Without a display it is played raw. */
  constructor(recording: Recording, options: PlayingOptions, display?: Display) {
    const { stdout } = options.streams;
    this.#recording = recording;
    this.#options = options;
    this.#display = display;
    this.#player = new Player(recording, display ? windowStage(display, stdout) : rawStage(stdout));
    this.#player.speed = options.speed;
    this.#player.idleLimit = options.idleLimit;
  }

  async run(hasKeys: boolean): Promise<number> {
    if (this.#options.from > 0) this.#player.seek(this.#options.from);
    this.#player.play();
    const ended = new Promise<number>((resolve) => {
      this.#end = resolve;
    });
    this.#obeySignals();
    if (hasKeys) this.#readKeys();
    const timer = setInterval(() => this.#tick(), TICK_MS);
    this.#undo.push(() => clearInterval(timer));
    const code = await ended;
    if (this.#player.trouble !== undefined) throw new CommandError(`the rest cannot be read: ${(this.#player.trouble as Error).message}`);
    return code;
  }

  close(): void {
    this.#player.close();
    for (const undo of this.#undo.splice(0)) undo();
  }

  toggle = () => (this.#player.isOn ? this.#player.pause() : this.#player.play());
  leap = (by: number) => this.#player.seek(this.#player.position + by);
  step = (by: 1 | -1) => this.#player.step(by);
  start = () => this.#player.seek(0);
  end = () => this.#player.seek(this.#recording.timeline.duration);
  quit = () => this.#end(0);
  faster = (by: 1 | -1) => {
    this.#player.speed = otherSpeed(this.#player.speed, by);
  };

  /** What stops by itself is at its end, or cannot be read. */
  #tick(): void {
    const now = performance.now();
    const wasOn = this.#player.isOn;
    this.#player.tick(now - this.#before);
    this.#before = now;
    if ((wasOn && !this.#player.isOn) || this.#player.state === 'failed') this.#end(0);
    else this.#tellPlace();
  }

  /** While it is paused, the last row says where. */
  #tellPlace(): void {
    const { isOn, position } = this.#player;
    const { duration } = this.#recording.timeline;
    const line = isOn ? '' : `paused at ${clockText(position)} of ${clockText(duration)}`;
    if (line === this.#line) return;
    this.#line = line;
    this.#display?.line(line === '' ? undefined : { text: line, tail: HELP });
  }

  #readKeys(): void {
    const { stdin } = this.#options.streams;
    const take = (bytes: Buffer) => obey(bytes.toString(), this);
    stdin.on('data', take);
    this.#undo.push(() => stdin.off('data', take));
  }

  #obeySignals(): void {
    const { stdout } = this.#options.streams;
    for (const signal of SIGNALS) this.#on(process, signal, () => this.#end(128 + constants.signals[signal]));
    // It stays until the process ends: what is still on its way to a reader that is gone fails later.
    stdout.on('error', () => this.#end(128 + constants.signals.SIGPIPE));
    this.#on(stdout, 'resize', () => this.#display?.windowResized());
    this.#on(process, 'SIGCONT', () => this.#display?.repaint());
  }

  #on(emitter: NodeJS.EventEmitter, name: string, listener: () => void): void {
    emitter.on(name, listener);
    this.#undo.push(() => emitter.off(name, listener));
  }
}
