// Looking for text in what a session printed: a field, how many there are, and the next of them. Knows no player.
import { findIn, type Hit, type SessionAddress } from '../../../src/playback/gateway-recording.js';
import { RecordingError } from '../../../src/playback/recording.js';
import type { Timeline } from '../../../src/playback/timeline.js';
import { h } from '../shared/dom.js';

/** Most lines that are found. */
const MAX_HITS = 500;

export interface SearchParts {
  readonly address: SessionAddress;
  readonly signal: AbortSignal;
  timeline(): Timeline | undefined;
  /** Milliseconds since the beginning. */
  position(): number;
  found(hits: readonly Hit[]): void;
  seek(at: number): void;
}

export interface Search {
  readonly element: HTMLElement;
  focus(): void;
}

/** Enter looks for a new text, and goes on to the next place of one that was found. */
export function search(parts: SearchParts): Search {
  const field = h('input', {
    type: 'search',
    placeholder: 'Find',
    'aria-label': 'Find in what was printed',
    maxlength: 256,
    'data-testid': 'find',
  });
  const count = h('span', { class: 'hint', role: 'status', 'data-testid': 'hits' });
  let sought = '';
  let hits: readonly Hit[] = [];
  const show = (found: readonly Hit[], words: string) => {
    hits = found;
    count.textContent = words;
    parts.found(found);
  };
  const next = () => {
    const hit = hits.find(({ at }) => at > parts.position()) ?? hits[0];
    if (!hit) return;
    count.textContent = `${hits.indexOf(hit) + 1} of ${hits.length}${hits.length === MAX_HITS ? ' and more' : ''}`;
    parts.seek(hit.at);
  };
  const submit = async () => {
    const text = field.value.trim();
    if (text === sought) return next();
    sought = text;
    const timeline = parts.timeline();
    if (text === '' || !timeline) return show([], '');
    try {
      const found = await findIn(parts.address, timeline, text, MAX_HITS, parts.signal);
      if (sought === text) show(found, found.length === 0 ? 'Not found' : '');
      next();
    } catch (error) {
      sought = '';
      if (!parts.signal.aborted) show([], error instanceof RecordingError ? error.message : 'The search failed.');
    }
  };
  const form = h('form', { class: 'search', role: 'search' }, field, count);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submit();
  });
  return { element: form, focus: () => field.focus() };
}
