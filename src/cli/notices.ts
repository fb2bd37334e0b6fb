// The line for the person and how long it is there: for a while, until a key, or until it is let go. Knows no terminal and no session.
import type { Display, Line } from './display.js';

/** How long a line is shown, in milliseconds. */
const NOTICE_MS = 3000;
const SECOND_MS = 1000;

type Stay = 'a while' | 'until a key' | 'held';

export class Notices {
  readonly #display: Pick<Display, 'line'>;
  #stay: Stay | undefined;
  /** Told while another line was held: shown when that is released. */
  #waiting: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(display: Pick<Display, 'line'>) {
    this.#display = display;
  }

  /** Shows it for a while, or until a key is typed; after a line that is held. */
  tell(line: Line, stay: Exclude<Stay, 'held'> = 'a while'): void {
    if (this.#stay === 'held') {
      this.#waiting = () => this.tell(line, stay);
      return;
    }
    this.#show(line, stay);
    if (stay === 'a while') this.#timer = setTimeout(() => this.clear(), NOTICE_MS);
  }

  /** Shows it until `release`. */
  hold(line: Line): void {
    this.#show(line, 'held');
  }

  /** As `hold`, with the whole seconds that are left told anew each second, down to 1. */
  countDown(ms: number, line: (seconds: number) => Line): void {
    const until = performance.now() + ms;
    const tick = () => {
      const seconds = Math.max(1, Math.ceil((until - performance.now()) / SECOND_MS));
      this.#show(line(seconds), 'held');
      if (seconds > 1) this.#timer = setTimeout(tick, SECOND_MS);
    };
    tick();
  }

  /** Takes away a line that is held. */
  release(): void {
    if (this.#stay !== 'held') return;
    const next = this.#waiting;
    this.clear();
    next?.();
  }

  /** A key was typed: whoever types has read the line, or wants the room. */
  key(): void {
    if (this.#stay !== 'held') this.clear();
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#waiting = undefined;
    if (this.#stay === undefined) return;
    this.#stay = undefined;
    this.#display.line(undefined);
  }

  #show(line: Line, stay: Stay): void {
    clearTimeout(this.#timer);
    this.#stay = stay;
    this.#display.line(line);
  }
}
