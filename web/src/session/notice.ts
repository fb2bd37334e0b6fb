// A word to the visitor, laid over the terminal so that it takes no room from it. Knows no session.
import { h } from '../shared/dom.js';

/** Milliseconds for which a passing word stays. */
const PASSING_MS = 8000;
/** Milliseconds after which the same hint may be given again. */
const HINT_AGAIN_MS = 15_000;

export interface Notice {
  readonly element: HTMLElement;
  /** Passes by itself, unless it `stays`; an empty text takes it away. */
  tell(text: string, stays?: boolean): void;
  /** Takes it away, if it is what is said now. */
  withdraw(text: string): void;
  /** Told once in a while. */
  hint(text: string): void;
  dispose(): void;
}

export function notice(): Notice {
  const words = h('span');
  const element = h('div', { class: 'notice', role: 'status', hidden: true, 'data-testid': 'notice' }, words);
  let passing: ReturnType<typeof setTimeout> | undefined;
  let hinted: { readonly text: string; readonly at: number } | undefined;
  const tell = (text: string, stays = false) => {
    clearTimeout(passing);
    words.textContent = text;
    element.hidden = text === '';
    if (text !== '' && !stays) passing = setTimeout(() => tell(''), PASSING_MS);
  };
  element.append(h('button', { type: 'button', class: 'quiet', 'aria-label': 'Dismiss', onclick: () => tell('') }, '✕'));
  return {
    element,
    tell,
    withdraw: (text) => words.textContent === text && tell(''),
    hint(text) {
      if (hinted?.text === text && Date.now() - hinted.at < HINT_AGAIN_MS) return;
      hinted = { text, at: Date.now() };
      tell(text);
    },
    dispose: () => clearTimeout(passing),
  };
}
