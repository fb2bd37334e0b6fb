// Who is in the session, as a line that unfolds. Knows no connection.

import { h } from '../shared/dom.js';
import type { Person } from './control.js';

/** Most faces in the folded line. */
const MAX_FACES = 4;

export interface PresenceActions {
  handOver(person: Person): void;
  remove(person: Person): void;
}

export interface Presence {
  readonly element: HTMLElement;
  show(people: readonly Person[]): void;
}

/** `actions` for one who may hand control over and send others away. */
export function presence(actions: PresenceActions | undefined): Presence {
  const faces = h('span', { class: 'faces', 'aria-hidden': 'true' });
  const count = h('span', { class: 'count' });
  const list = h('ul', { 'data-testid': 'people' });
  const element = h(
    'details',
    { class: 'fold presence' },
    h('summary', { 'data-testid': 'presence' }, faces, count),
    h('div', { class: 'sheet' }, h('h2', {}, 'Here now'), list),
  );
  return {
    element,
    show(people) {
      faces.replaceChildren(...people.slice(0, MAX_FACES).map(face));
      count.replaceChildren(String(people.filter(({ role }) => role !== 'messenger').length), h('span', { class: 'word' }, ' here'));
      list.replaceChildren(...people.map((person) => line(person, actions)));
    },
  };
}

const says = { controller: 'has control', observer: 'watches', messenger: 'not here, types by a message' } as const;
const tag = { you: 'you', former: 'you, before the cut', other: undefined } as const;

function line(person: Person, actions: PresenceActions | undefined): HTMLElement {
  const { name, who, role } = person;
  const facts = [tag[who], says[role], person.isTyping && role !== 'messenger' && 'typing', person.asks && 'asks for control']
    .filter(Boolean)
    .join(' · ');
  return h(
    'li',
    { 'data-testid': 'person' },
    face(person),
    h('span', { class: 'name', title: name }, name),
    h('span', { class: 'muted facts' }, facts),
    actions && who !== 'you' && role !== 'messenger' && doings(person, actions),
  );
}

function doings(person: Person, { handOver, remove }: PresenceActions): HTMLElement {
  const item = (text: string, id: string, what: string, act: () => void) =>
    h('button', { type: 'button', class: 'quiet', 'aria-label': what, 'data-testid': id, onclick: act }, text);
  return h(
    'span',
    { class: 'doings' },
    person.role === 'observer' && item('Give control', 'hand-over', `Give control to ${person.name}`, () => handOver(person)),
    item('Remove', 'remove', `Send ${person.name} away`, () => remove(person)),
  );
}

function face({ name, role, isTyping, asks }: Person): HTMLElement {
  const look = ['face', role === 'controller' && 'controls', isTyping && 'typing', asks && 'asks'].filter(Boolean).join(' ');
  return h('span', { class: look, 'aria-hidden': 'true', title: isTyping ? `${name} is typing` : undefined }, initials(name));
}

/** Of a name, without what is said of it in brackets. */
function initials(name: string): string {
  const words = name
    .replace(/ \(.*/, '')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
  const letters = words.length > 1 ? words.slice(0, 2).map((word) => [...word][0]) : [...(words[0] ?? '?')].slice(0, 2);
  return letters.join('').toUpperCase();
}
