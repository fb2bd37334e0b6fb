// Keeps session and window at one size where this window decides, and fits the session in where it does not. Knows no connection.
import type { Size } from '../../../src/client/index.js';
import { h } from '../shared/dom.js';
import type { Screen } from '../terminal/screen.js';
import type { SessionBar } from './session-bar.js';

/** Milliseconds for which the window must keep its size before the session takes it. */
const RESIZE_DEBOUNCE_MS = 120;

export interface SizingParts {
  readonly host: HTMLElement;
  readonly bar: SessionBar;
  screen(): Screen | undefined;
  /** Whether this window has control now. */
  controls(): boolean;
  /** Asks for another size of the session. */
  resize(size: Size): void;
}

export class Sizing {
  /** For one who watches a session that is too large to be read as a whole. */
  readonly readingSwitch = this.#readingSwitch();
  readonly #parts: SizingParts;
  #follow: boolean;
  #session: Size | undefined;
  #inPart = false;
  #resizing: ReturnType<typeof setTimeout> | undefined;

  constructor(parts: SizingParts, follow: boolean) {
    this.#parts = parts;
    this.#follow = follow;
  }

  /** Whether the session takes this window's size while this window controls it. */
  get follows(): boolean {
    return this.#follow;
  }

  setFollow(on: boolean): void {
    this.#follow = on;
    this.windowChanged();
  }

  sessionChanged(size: Size): void {
    this.#session = size;
    this.#parts.screen()?.resize(size);
    this.#show();
  }

  /** The session takes the size of the window that controls it; in any other, it is fitted into the window. */
  windowChanged(): void {
    clearTimeout(this.#resizing);
    // A session that is not in view now keeps its size.
    if (this.#parts.host.clientWidth === 0) return;
    this.#show();
    if (this.#gives()) this.#resizing = setTimeout(() => this.#resizeSession(), RESIZE_DEBOUNCE_MS);
    else this.#parts.screen()?.shrinkToFit();
  }

  /** Whether the whole session can be shown only in a font that is hard to read, and whether it is shown in part. */
  small(is: boolean, inPart: boolean): void {
    this.readingSwitch.hidden = !is;
    this.readingSwitch.textContent = inPart ? 'Whole screen' : 'Readable';
    this.#inPart = inPart;
  }

  dispose(): void {
    clearTimeout(this.#resizing);
  }

  #gives(): boolean {
    return this.#follow && this.#parts.controls();
  }

  #show(): void {
    const { bar, host, screen } = this.#parts;
    const room = screen()?.windowSize();
    if (!this.#session) return;
    bar.sizes(this.#session, room);
    host.classList.toggle('letterbox', room !== undefined && !sameSize(room, this.#session));
  }

  #resizeSession(): void {
    const { screen, resize } = this.#parts;
    const room = screen()?.windowSize();
    if (!room || !this.#session || !this.#gives()) return;
    if (sameSize(room, this.#session)) screen()?.shrinkToFit();
    else resize(room);
  }

  #readingSwitch(): HTMLButtonElement {
    const change = () => this.#parts.screen()?.setReadable(!this.#inPart);
    return h('button', { type: 'button', class: 'reading', hidden: true, 'data-testid': 'reading', onclick: change });
  }
}

const sameSize = (a: Size, b: Size) => a.cols === b.cols && a.rows === b.rows;
