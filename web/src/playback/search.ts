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

export interface Search {
  readonly element: HTMLElement;
  focus(): void;
}

/** Enter looks for a new text, and goes on to the next place of one that was found; with Shift to the one before. */
export function search(parts: SearchParts): Search {
  const field = searchField();
  const count = h('span', { class: 'hint', role: 'status', 'data-testid': 'hits' });
  let sought = '';
  let hits: readonly Hit[] = [];
  let shown: number | undefined;
  const take = (found: readonly Hit[], words: string) => {
    hits = found;
    shown = undefined;
    ways.hidden = found.length === 0;
    count.textContent = words;
    parts.found(found);
  };
  const go = (by: 1 | -1) => {
    if (hits.length === 0) return;
    shown = nextHit(hits, shown, parts.position(), by);
    const { at, text: line } = hits[shown] as Hit;
    count.textContent = `${shown + 1} of ${hits.length}${hits.length === MAX_HITS ? ' and more' : ''}`;
    parts.show(at, { text: sought, line });
  };
  const ways = h(
    'span',
    { class: 'ways', hidden: true },
    way('↑', 'The place before', () => go(-1)),
    way('↓', 'The next place', () => go(1)),
  );
  const stop = () => {
    sought = '';
    take([], '');
    parts.over();
  };
  const look = async (text: string) => {
    const timeline = parts.timeline();
    if (text === '' || !timeline) return stop();
    sought = text;
    try {
      const found = await findIn(parts.address, timeline, text, MAX_HITS, parts.signal);
      if (sought !== text) return;
      take(found, found.length === 0 ? 'Not found' : '');
      if (found.length === 0) parts.over();
      go(1);
    } catch (error) {
      if (parts.signal.aborted) return;
      stop();
      count.textContent = error instanceof RecordingError ? error.message : 'The search failed.';
    }
  };
  const enter = (by: 1 | -1) => {
    const text = field.value.trim();
    if (text === sought) go(by);
    else void look(text);
  };
  field.addEventListener('input', () => field.value === '' && stop());
  const form = h('form', { class: 'search', role: 'search' }, field, ways, count);
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.target !== field) return;
    event.preventDefault();
    enter(event.shiftKey ? -1 : 1);
  });
  // A phone's keyboard has a key of its own for it.
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    enter(1);
  });
  return { element: form, focus: () => field.focus() };
}

const searchField = () =>
  h('input', { type: 'search', placeholder: 'Find', 'aria-label': 'Find in what was printed', maxlength: 256, 'data-testid': 'find' });

function way(text: string, name: string, go: () => void): HTMLElement {
  const id = name.toLowerCase().replaceAll(' ', '-');
  return h('button', { type: 'button', class: 'quiet', 'aria-label': name, 'data-testid': id, onclick: go }, text);
}
