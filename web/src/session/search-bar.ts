// The line in which one types what is sought in a session. Knows no terminal: it is given one that is searched.
import { h } from '../shared/dom.js';
import type { Found, Search } from '../terminal/search.js';

export interface SearchBar {
  readonly element: HTMLElement;
  open(): void;
}

/** `begin` is called once, when the line is first opened; `closed` each time it is shut. */
export function searchBar(begin: (found: (what: Found) => void) => Promise<Search>, closed: () => void): SearchBar {
  let search: Search | undefined;
  const count = h('span', { class: 'muted count', role: 'status', 'data-testid': 'search-count' });
  const field = h('input', { type: 'search', 'aria-label': 'Search in what was printed', autocomplete: 'off', 'data-testid': 'search' });
  const show = (found: Found) => (count.textContent = field.value === '' ? '' : inWords(found));
  const go = (act: (search: Search) => void) => search && field.value !== '' && act(search);
  const button = (text: string, name: string, act: () => void) =>
    h('button', { type: 'button', class: 'quiet', 'aria-label': name, onclick: act }, text);
  /** What was typed before it could be searched is looked for now. */
  const begun = (made: Search) => {
    search = made;
    go((found) => found.next(field.value, true));
  };
  const shut = () => {
    search?.clear();
    element.hidden = true;
    closed();
  };
  const element = h(
    'div',
    { class: 'search-bar', role: 'search', hidden: true },
    field,
    count,
    button('↑', 'The match before', () => go((found) => found.previous(field.value))),
    button('↓', 'The next match', () => go((found) => found.next(field.value))),
    button('✕', 'Close the search', shut),
  );
  field.addEventListener('input', () => {
    if (field.value === '') search?.clear();
    count.textContent = '';
    go((found) => found.next(field.value, true));
  });
  element.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') shut();
    else if (event.key === 'Enter' && event.target === field)
      go((found) => (event.shiftKey ? found.previous(field.value) : found.next(field.value)));
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  return {
    element,
    open() {
      element.hidden = false;
      field.select();
      field.focus();
      if (!search) void begin(show).then(begun);
    },
  };
}

function inWords({ index, count }: Found): string {
  if (count === 0) return 'not found';
  return index < 0 ? `${count}` : `${index + 1} of ${count}`;
}
