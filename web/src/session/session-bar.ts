// The bar above a terminal: title, sizes, who is here, the connection, and what can be done. Knows no connection.
import type { Size } from '../../../src/client/index.js';
import { h } from '../shared/dom.js';
import { connectionLine } from './connection-line.js';
import type { Offer } from './control.js';
import { type MenuActions, menu } from './menu.js';
import { type PresenceActions, presence } from './presence.js';

export interface BarActions extends MenuActions, PresenceActions {
  copySelection(): void;
  switchRole(): void;
  retry(): void;
}

export interface BarOptions {
  readonly follows: boolean;
  /** Whether this visitor may move control and send others away. */
  readonly admin: boolean;
  /** Whether this visitor may make links to watch. */
  readonly shares: boolean;
  /** How fast the connection is. */
  readonly readout: HTMLElement;
}

export type SessionBar = ReturnType<typeof sessionBar>;

export function sessionBar(actions: BarActions, { follows, admin, shares, readout }: BarOptions) {
  const title = h('h1', { 'data-testid': 'title' });
  const sizes = sizeLine();
  const secrecy = h('span', { class: 'secrecy', 'data-testid': 'secrecy' });
  const copy = h('button', { type: 'button', hidden: true, 'data-testid': 'copy', onclick: actions.copySelection }, 'Copy');
  const switcher = h('button', { type: 'button', class: 'role', hidden: true, 'data-testid': 'role', onclick: actions.switchRole });
  const people = presence(admin ? actions : undefined);
  const connection = connectionLine(actions.retry);
  const share = h('button', { type: 'button', class: 'share', 'data-testid': 'share-button', onclick: actions.share }, 'Share');
  const more = menu(actions, follows, shares);
  return {
    element: h(
      'header',
      { class: 'bar' },
      h('a', { class: 'back', href: '#', 'aria-label': 'All sessions' }, '‹'),
      h('div', { class: 'heading' }, title, sizes.element, secrecy),
      readout,
      ...connection.elements,
      copy,
      people.element,
      shares && share,
      switcher,
      more.element,
    ),
    people,
    connection,
    menu: more,
    sizes: sizes.show,
    title(text: string) {
      title.textContent = text;
      title.title = text;
    },
    /** What is to be known of its secrets. */
    secrecy(text: string) {
      secrecy.textContent = text;
    },
    /** What can be done about control; undefined takes the button away. */
    control(offer: Offer | undefined) {
      switcher.hidden = offer === undefined;
      switcher.textContent = offer?.text ?? '';
      switcher.title = offer?.hint ?? '';
    },
    selection(something: boolean) {
      copy.hidden = !something;
    },
    /** Focus for one who leaves the terminal with the keyboard. */
    focus: () => (switcher.hidden ? more.element.querySelector('summary') : switcher)?.focus(),
    dispose: connection.dispose,
  };
}

/** The session's size, and how it stands to the room that this window has for it. */
function sizeLine() {
  const cells = h('span', { 'data-testid': 'size' });
  const stands = h('span', { class: 'stands', 'data-testid': 'stands' });
  return {
    element: h('span', { class: 'size' }, cells, stands),
    show(session: Size, window: Size | undefined) {
      cells.textContent = `${session.cols} × ${session.rows}`;
      cells.title = `The terminal has ${session.cols} columns and ${session.rows} rows.`;
      stands.textContent = window === undefined ? '' : standing(session, window);
    },
  };
}

function standing(session: Size, window: Size): string {
  if (session.cols > window.cols || session.rows > window.rows) return 'larger than this window';
  return session.cols < window.cols || session.rows < window.rows ? 'smaller than this window' : '';
}
