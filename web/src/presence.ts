// Who is in the session, as a line that unfolds. Knows no connection.
import type { MemberRef } from '../../src/protocol/frames.js';
import { h } from './dom.js';

/** Most faces in the folded line. */
const MAX_FACES = 4;

export interface Presence {
  readonly element: HTMLElement;
  show(controllers: readonly MemberRef[], observers: readonly MemberRef[], self: string | undefined): void;
}

export function presence(): Presence {
  const faces = h('span', { class: 'faces', 'aria-hidden': 'true' });
  const count = h('span', { class: 'count' });
  const people = h('ul', { 'data-testid': 'people' });
  const element = h(
    'details',
    { class: 'fold presence' },
    h('summary', { 'data-testid': 'presence' }, faces, count),
    h('div', { class: 'sheet' }, h('h2', {}, 'Here now'), people),
  );
  return {
    element,
    show(controllers, observers, self) {
      const all = [...controllers.map((m) => ({ ...m, role: 'controls' })), ...observers.map((m) => ({ ...m, role: 'watches' }))];
      faces.replaceChildren(...all.slice(0, MAX_FACES).map((m) => h('span', { class: `face ${m.role}` }, initials(called(m)))));
      count.textContent = `${all.length} here`;
      people.replaceChildren(...all.map((m) => person(called(m), m.role, m.client_id === self)));
    },
  };
}

function person(name: string, role: string, self: boolean): HTMLElement {
  return h(
    'li',
    { 'data-testid': 'person' },
    h('span', { class: `face ${role}`, 'aria-hidden': 'true' }, initials(name)),
    h('span', { class: 'name' }, name, self && h('span', { class: 'muted' }, ' (you)')),
    h('span', { class: 'muted' }, role),
  );
}

const called = (member: MemberRef) => member.label || `Client ${member.client_id.slice(-4)}`;

function initials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
  const letters = words.length > 1 ? words.slice(0, 2).map((word) => [...word][0]) : [...(words[0] ?? '?')].slice(0, 2);
  return letters.join('').toUpperCase();
}
