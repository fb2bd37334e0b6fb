// Whether a program works or waits for its next message: by its screen, and by what the kernel knows. Knows no message and no log.
import type { Adapter } from '../../agents/adapter.js';
import type { Activity, Look, PrintedPlace } from '../../terminal/terminal.js';
import { promptLines } from './text.js';

/** Silence before the kernel's word is taken, and the shortest time between two decisions, in milliseconds. */
export const SETTLE_MS = 100;
/** How long a program must have been seen to read, so that what it printed just before has come, in milliseconds. */
const READ_MS = SETTLE_MS / 2;
/** Between two looks at a screen, at least, in milliseconds. */
export const LOOK_MS = 250;
/** Between two decisions about a program that has been silent for less than SILENCE_SHARE × this, at most, in milliseconds. */
const IDLE_MS = 500;
/** What was silent for long is looked at seldom: a decision is late by this share of the silence, at most, or by LONGEST_PAUSE_MS. */
const SILENCE_SHARE = 1 / 16;
const LONGEST_PAUSE_MS = 15_000;
/** A screen that has not changed for so long is waiting, whatever the pattern of its prompt says, in milliseconds. */
export const STILL_MS = 30_000;
/** How often a program may be found to work again by itself: so often at once, and then once in `RETURN_EVERY_MS` milliseconds. */
export const RETURNS = 10;
const RETURN_EVERY_MS = 10_000;
const NEVER = Number.NEGATIVE_INFINITY;

export interface WatchPorts {
  activity(): Activity;
  look(place?: PrintedPlace): Promise<Look>;
  /** Whether something was printed that is not on the screen yet. */
  pending(): boolean;
}

export interface WatchEvents {
  /** The screen, after it may have changed. */
  saw(look: Look): void;
  /** What of the printed text is known already. */
  place(): PrintedPlace | undefined;
  /** It works, or it waits, and before it did not. */
  changed(works: boolean): void;
}

/**
 * It waits when the kernel says, for READ_MS, that it reads its terminal and nothing has changed for SETTLE_MS; when the kernel says that it computes or
 * sleeps it works, and when it waits for something else than its terminal, for STILL_MS at most; when the kernel does not know, it waits once
 * its screen has not changed, nor was it seen to be busy, for `quietMs`, and shows the prompt, or anything yet. Who
 * waits works again when the screen changes and the kernel does not say that it reads. Nothing is done about a program that is silent.
 */
export class Watch {
  readonly #ports: WatchPorts;
  readonly #events: WatchEvents;
  readonly #adapter: Pick<Adapter, 'quietMs' | 'prompt'>;
  #works: boolean;
  /** A message is being typed: no decision until it is. */
  #isHeld = false;
  #typedAt = 0;
  #heardAt = NEVER;
  #changedAt = NEVER;
  #lookedAt = NEVER;
  /** The kernel said that it did something else than wait for its terminal. */
  #busyAt = NEVER;
  /** Since when the kernel has said, each time it was asked, that it reads its terminal. */
  #readsSince = Number.POSITIVE_INFINITY;
  #onAlternate = false;
  /** It has printed something, ever. */
  #hasPrinted = false;
  /** It printed since the last look. */
  #isStale = true;
  #picture = '';
  #hasPrompt = true;
  /** Decisions in a row that found it working while it was said to wait. */
  #stirs = 0;
  #returns = RETURNS;
  #returnedAt = 0;
  #silent = 0;
  /** The last decision found it working, by the kernel's word. */
  #wasBusy = false;
  /** The same, or that it waited for something else. */
  #wasSeenBusy = false;
  #timer: NodeJS.Timeout | undefined;
  #due = 0;
  #isDeciding = false;
  #isStopped = false;

  constructor(ports: WatchPorts, events: WatchEvents, adapter: Pick<Adapter, 'quietMs' | 'prompt'>, works: boolean) {
    this.#ports = ports;
    this.#events = events;
    this.#adapter = adapter;
    this.#works = works;
  }

  /** A message is about to be typed: the program works, and no decision is made until `begin`. */
  hold(): void {
    this.#works = true;
    this.#isHeld = true;
  }

  /** It is being submitted: what is printed from now on shows that the program has seen it. */
  submits(): void {
    this.#heardAt = NEVER;
  }

  /** The program has just been started, or been given its message. */
  begin(): void {
    const now = performance.now();
    this.#isHeld = false;
    this.#typedAt = now;
    if (this.#works) this.#changedAt = now;
    this.#schedule(SETTLE_MS);
  }

  /** It printed something. */
  heard(): void {
    this.#heardAt = performance.now();
    this.#hasPrinted = true;
    this.#isStale = true;
    this.#silent = 0;
    this.#schedule(SETTLE_MS);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** Sooner, never later, than was planned. */
  #schedule(ms: number): void {
    const due = performance.now() + ms;
    if (this.#isStopped || this.#isDeciding || (this.#timer && this.#due <= due)) return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(() => void this.#turn(), ms).unref();
  }

  async #turn(): Promise<void> {
    this.#timer = undefined;
    this.#isDeciding = true;
    if (this.#isStale && performance.now() - this.#lookedAt >= LOOK_MS) await this.#look();
    this.#isDeciding = false;
    if (this.#isStopped) return;
    if (!this.#isHeld) this.#decide();
    if (this.#works || this.#isStale || this.#stirs > 0) this.#schedule(this.#isStale ? SETTLE_MS : this.#pause());
  }

  async #look(): Promise<void> {
    this.#lookedAt = performance.now();
    const heardAt = this.#heardAt;
    this.#isStale = this.#ports.pending();
    const look = await this.#ports.look(this.#events.place()).catch(() => undefined);
    if (!look) {
      this.#changedAt = heardAt;
      return;
    }
    const picture = `${look.cursor.row};${look.cursor.col}\n${look.lines.join('\n')}`;
    if (picture !== this.#picture) this.#changedAt = Math.max(this.#changedAt, heardAt);
    this.#picture = picture;
    this.#onAlternate = look.onAlternate;
    this.#hasPrompt = this.#adapter.prompt?.(promptLines(look)) ?? true;
    this.#events.saw(look);
  }

  #decide(): void {
    const activity = this.#ports.activity();
    const waits = this.#waits(activity);
    if (this.#wasBusy && activity !== 'working') this.#silent = 0;
    this.#wasBusy = activity === 'working';
    if (this.#works && waits) this.#become(false);
    else if (!this.#works && !waits && ++this.#stirs > 1 && this.#mayReturn()) this.#become(true);
    if (waits) this.#stirs = 0;
  }

  #waits(activity: Activity): boolean {
    const now = performance.now();
    const quiet = now - this.#changedAt;
    const isBusy = activity === 'working' || this.#isElsewhere(activity);
    // Looked at seldom, it may have been busy until just now.
    if (isBusy || this.#wasSeenBusy) this.#busyAt = now;
    this.#wasSeenBusy = isBusy;
    this.#readsSince = activity === 'reading' ? Math.min(this.#readsSince, now) : Number.POSITIVE_INFINITY;
    if (activity === 'working') return false;
    // What is typed at a prompt is printed, too.
    if (!this.#works) return activity === 'reading' || quiet >= this.#adapter.quietMs;
    if (this.#isStale || this.#ports.pending()) return false;
    if (activity === 'reading') return quiet >= SETTLE_MS && now - this.#readsSince >= READ_MS && this.#hasSeen(now);
    // Between two programs, and between its last word and its end, the kernel knows nothing for a moment.
    if (quiet >= STILL_MS) return !this.#wasBusy;
    return this.#hasPrinted && this.#hasPrompt && Math.min(quiet, now - this.#busyAt) >= this.#adapter.quietMs;
  }

  /** It has shown that it saw its message, or had time enough to. */
  #hasSeen(now: number): boolean {
    return this.#heardAt > NEVER || now - this.#typedAt >= this.#adapter.quietMs;
  }

  /** What has a screen of its own may leave its terminal to a process that runs elsewhere, as tmux does; so may what has a prompt of its own. */
  #isElsewhere(activity: Activity): boolean {
    return activity === 'elsewhere' && !this.#onAlternate && !this.#adapter.prompt;
  }

  #become(works: boolean): void {
    this.#works = works;
    this.#stirs = 0;
    this.#silent = 0;
    this.#events.changed(works);
  }

  #mayReturn(): boolean {
    const now = performance.now();
    this.#returns = Math.min(RETURNS, this.#returns + (now - this.#returnedAt) / RETURN_EVERY_MS);
    this.#returnedAt = now;
    if (this.#returns < 1) return false;
    this.#returns -= 1;
    return true;
  }

  /** The longer it is silent, the more seldom; but what silence alone decides is decided in time. */
  #pause(): number {
    if (this.#works && this.#readsSince !== Number.POSITIVE_INFINITY) return SETTLE_MS;
    const now = performance.now();
    const silence = now - Math.max(this.#heardAt, this.#typedAt);
    const longest = Math.max(IDLE_MS, Math.min(LONGEST_PAUSE_MS, silence * SILENCE_SHARE));
    const pause = Math.min(longest, SETTLE_MS * 2 ** this.#silent);
    this.#silent = Math.min(this.#silent + 1, 8);
    const decisive = [this.#adapter.quietMs, STILL_MS].map((ms) => this.#changedAt + ms - now).filter((left) => left > 0);
    return Math.min(pause, ...decisive.map((left) => left + 1));
  }
}
