// Who asks this window for control, with the two answers; it stays until they are given. Knows no connection.
import { h } from '../shared/dom.js';
import type { Person } from './control.js';

export interface AskActions {
  grant(person: Person): void;
  decline(person: Person): void;
}

export interface Asks {
  readonly element: HTMLElement;
  show(people: readonly Person[]): void;
  /** Focus for one who leaves the terminal with the keyboard; false if nobody asks. */
  focus(): boolean;
}

export function asks({ grant, decline }: AskActions): Asks {
  const element = h('div', { class: 'asks', role: 'status', 'data-testid': 'asks' });
  let drawn = '';
  const line = (person: Person) =>
    h(
      'div',
      { class: 'notice', 'data-testid': 'ask' },
      h('span', {}, `${person.name} asks for control`),
      h('button', { type: 'button', class: 'primary', 'data-testid': 'grant', onclick: () => grant(person) }, 'Grant'),
      h('button', { type: 'button', class: 'quiet', 'data-testid': 'decline', onclick: () => decline(person) }, 'Not now'),
    );
  return {
    element,
    show(people) {
      // What stands there already keeps the focus.
      const signature = JSON.stringify(people);
      if (signature === drawn) return;
      drawn = signature;
      element.replaceChildren(...people.map(line));
    },
    focus() {
      const first = element.querySelector('button');
      first?.focus();
      return first !== null;
    },
  };
}
