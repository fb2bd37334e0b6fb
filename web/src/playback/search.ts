// Looking for text in what a session printed: a field, how many there are, and the ways to the next and the one before. Knows no player.
import { findIn, type Hit, type SessionAddress } from '../../../src/playback/gateway-recording.js';
import { RecordingError } from '../../../src/playback/recording.js';
import type { Timeline } from '../../../src/playback/timeline.js';
import { h } from '../shared/dom.js';
import { nextHit } from './hits.js';

/** Most lines that are found. */
const MAX_HITS = 500;

/** What is to be marked: a text, and above all where it stands in this line. */
export interface Sought {
  readonly text: string;
  readonly line: string;
}

export interface SearchParts {
  readonly address: SessionAddress;
  readonly signal: AbortSignal;
  timeline(): Timeline | undefined;
  /** Milliseconds since the beginning. */
  position(): number;
  found(hits: readonly Hit[]): void;
  /** To this moment, at which that is to be seen. */
  show(at: number, sought: Sought): void;
  /** Nothing is sought any more. */
  over(): void;
}

/** Enter looks for a new text, and goes on to the next place of one that was found; with Shift to the one before. */
export class Search {
  readonly element: HTMLElement;
  readonly #parts: SearchParts;
  readonly #field = searchField();
  readonly #count = h('span', { class: 'hint', role: 'status', 'data-testid': 'hits' });
  readonly #ways = h('span', { class: 'ways', hidden: true }, this.#way('↑', 'The place before', -1), this.#way('↓', 'The next place', 1));
  #text = '';
  #hits: readonly Hit[] = [];
  #shown: number | undefined;

  constructor(parts: SearchParts) {
    this.#parts = parts;
    this.element = h('form', { class: 'search', role: 'search' }, this.#field, this.#ways, this.#count);
    this.#field.addEventListener('input', () => this.#field.value === '' && this.#stop());
    this.element.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && event.target === this.#field) this.#enter(event, event.shiftKey ? -1 : 1);
    });
    // A phone's keyboard has a key of its own for it.
    this.element.addEventListener('submit', (event) => this.#enter(event, 1));
  }

  focus(): void {
    this.#field.focus();
  }

  #enter(event: Event, by: 1 | -1): void {
    event.preventDefault();
    const text = this.#field.value.trim();
    if (text === this.#text) this.#go(by);
    else void this.#look(text);
  }

  async #look(text: string): Promise<void> {
    const { address, signal } = this.#parts;
    const timeline = this.#parts.timeline();
    if (text === '' || !timeline) return this.#stop();
    this.#text = text;
    try {
      const found = await findIn(address, timeline, text, MAX_HITS, signal);
      if (this.#text === text) this.#found(found);
    } catch (error) {
      if (signal.aborted) return;
      this.#stop();
      this.#count.textContent = error instanceof RecordingError ? error.message : 'The search failed.';
    }
  }

  #found(hits: readonly Hit[]): void {
    this.#take(hits, hits.length === 0 ? 'Not found' : '');
    if (hits.length === 0) this.#parts.over();
    else this.#go(1);
  }

  #go(by: 1 | -1): void {
    if (this.#hits.length === 0) return;
    this.#shown = nextHit(this.#hits, this.#shown, this.#parts.position(), by);
    const { at, text: line } = this.#hits[this.#shown] as Hit;
    this.#count.textContent = `${this.#shown + 1} of ${this.#hits.length}${this.#hits.length === MAX_HITS ? ' and more' : ''}`;
    this.#parts.show(at, { text: this.#text, line });
  }

  #stop(): void {
    this.#text = '';
    this.#take([], '');
    this.#parts.over();
  }

  #take(hits: readonly Hit[], words: string): void {
    this.#hits = hits;
    this.#shown = undefined;
    this.#ways.hidden = hits.length === 0;
    this.#count.textContent = words;
    this.#parts.found(hits);
  }

  #way(text: string, name: string, by: 1 | -1): HTMLElement {
    const id = name.toLowerCase().replaceAll(' ', '-');
    return h('button', { type: 'button', class: 'quiet', 'aria-label': name, 'data-testid': id, onclick: () => this.#go(by) }, text);
  }
}

const searchField = () =>
  h('input', { type: 'search', placeholder: 'Find', 'aria-label': 'Find in what was printed', maxlength: 256, 'data-testid': 'find' });
