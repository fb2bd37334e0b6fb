// The bar above a terminal: title, sizes, who is here, the connection, and what can be done. Knows no connection.
import type { Role } from '../../src/protocol/frames.js';
import { connectionLine } from './connection-line.js';
import { h } from './dom.js';
import { type MenuActions, menu } from './menu.js';
import { presence } from './presence.js';
import type { Size } from './screen.js';

export interface BarActions extends MenuActions {
  copySelection(): void;
  switchRole(): void;
  retry(): void;
}

export type SessionBar = ReturnType<typeof sessionBar>;

export function sessionBar(actions: BarActions, follows: boolean) {
  const title = h('h1', { 'data-testid': 'title' });
  const sizes = h('span', { class: 'size', 'data-testid': 'size' });
  const copy = h('button', { type: 'button', hidden: true, 'data-testid': 'copy', onclick: actions.copySelection }, 'Copy');
  const switcher = h('button', { type: 'button', class: 'role', hidden: true, 'data-testid': 'role', onclick: actions.switchRole });
  const people = presence();
  const connection = connectionLine(actions.retry);
  const more = menu(actions, follows);
  return {
    element: h(
      'header',
      { class: 'bar' },
      h('a', { class: 'back', href: '#', 'aria-label': 'All sessions' }, '‹'),
      h('div', { class: 'heading' }, title, sizes),
      ...connection.elements,
      copy,
      people.element,
      switcher,
      more.element,
    ),
    people,
    connection,
    title(text: string) {
      title.textContent = text;
      title.title = text;
      document.title = `${text} · pty-gateway`;
    },
    /** The session's size, and the window's where it is another. */
    sizes(session: Size, window: Size | undefined) {
      const differs = window !== undefined && (window.cols !== session.cols || window.rows !== session.rows);
      sizes.textContent = `${session.cols} × ${session.rows}${differs ? ` in ${window.cols} × ${window.rows}` : ''}`;
      sizes.title = differs ? 'The size of the session, and what this window has room for' : 'The size of the session: columns × rows';
    },
    /** What this role can do; `undefined` while there is no connection, or after the end. */
    role(role: Role | undefined, running: boolean) {
      switcher.hidden = role === undefined;
      switcher.textContent = role === 'controller' ? 'Give up control' : 'Take control';
      more.show(role === 'controller', running);
    },
    selection(something: boolean) {
      copy.hidden = !something;
    },
    /** Focus for one who leaves the terminal with the keyboard. */
    focus: () => (switcher.hidden ? more.element.querySelector('summary') : switcher)?.focus(),
    dispose: connection.dispose,
  };
}
