// The sessions that run, each with a small picture of its screen. Knows no connection.
import { may, type Principal } from '../../../src/access/principal.js';
import type { SessionDescription } from '../../../src/session/session.js';
import { h } from '../shared/dom.js';
import type { Gateway } from '../shared/gateway.js';
import { fragmentOf } from '../shared/place.js';
import { factsOf, nameOf } from './session-row.js';
import { type Thumbnail, thumbnail } from './thumbnail.js';

/** Most sessions that are pictured; the list has all. */
const MAX_CARDS = 24;

interface Card {
  readonly element: HTMLElement;
  readonly picture: Thumbnail;
  show(session: SessionDescription, quietSince: number | undefined): void;
}

export interface Gallery {
  readonly element: HTMLElement;
  /** The running ones among them, in their order. */
  show(sessions: readonly SessionDescription[], quietSince: (sessionId: string) => number | undefined): void;
}

export function gallery(gateway: Gateway, principal: Principal): Gallery {
  const element = h('ul', { class: 'gallery', 'aria-label': 'Running sessions', 'data-testid': 'gallery' });
  const cards = new Map<string, Card>();
  const cardOf = (session: SessionDescription): Card => {
    const card = cards.get(session.session_id) ?? newCard(gateway, principal, session);
    cards.set(session.session_id, card);
    return card;
  };
  return {
    element,
    show(sessions, quietSince) {
      const running = sessions.filter(({ state }) => state === 'running').slice(0, MAX_CARDS);
      const shown = running.map(cardOf);
      for (const id of cards.keys()) if (!running.some(({ session_id }) => session_id === id)) cards.delete(id);
      // Moving an element takes the focus from it.
      if (!isSame([...element.children], shown)) element.replaceChildren(...shown.map((card) => card.element));
      for (const [n, session] of running.entries()) shown[n]?.show(session, quietSince(session.session_id));
    },
  };
}

function newCard(gateway: Gateway, principal: Principal, { instance_id, session_id }: SessionDescription): Card {
  const role = may(principal, 'pty:control') ? 'controller' : 'observer';
  const picture = thumbnail(gateway);
  const name = h('span', { class: 'name' });
  const facts = h('span', { class: 'facts' });
  const href = fragmentOf({ instanceId: instance_id, sessionId: session_id, role, follow: true });
  const element = h('li', { 'data-testid': `card-${session_id}` }, h('a', { href }, picture.element, name, facts));
  return {
    element,
    picture,
    show(session, quietSince) {
      name.textContent = nameOf(session);
      facts.textContent = factsOf(session, quietSince).join(' · ');
      void picture.refresh(session);
    },
  };
}

const isSame = (elements: readonly Element[], cards: readonly Card[]) =>
  elements.length === cards.length && cards.every(({ element }, n) => element === elements[n]);
