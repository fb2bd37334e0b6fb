// A session in the list, in one line and a half. Knows no gateway.
import { may, type Principal } from '../../../src/principal.js';
import type { SessionDescription } from '../../../src/session/session.js';
import { h } from '../shared/dom.js';
import { fragmentOf, type Place, samePlace } from '../shared/place.js';
import { endedInShort, secrecyText } from '../shared/words.js';

export function sessionRow(session: SessionDescription, selected: Place | undefined, principal: Principal): HTMLElement {
  const role = may(principal, 'pty:control') ? 'controller' : 'observer';
  const place: Place = { instanceId: session.instance_id, sessionId: session.session_id, role, follow: true };
  const here = [...session.controllers, ...session.observers];
  const open =
    selected !== undefined && samePlace({ instanceId: selected.instanceId, sessionId: selected.sessionId, role, follow: true }, place);
  const running = session.state === 'running';
  const state = running ? presence(here.length, session.controllers[0]?.label) : endedInShort(session);
  const facts = [state, age(session.closed_at ?? session.created_at), secrecyText(session)].filter((fact) => fact !== '');
  return h(
    'li',
    { class: `session ${session.state}`, 'data-testid': `session-${session.session_id}` },
    h(
      'a',
      {
        href: fragmentOf(place),
        'aria-current': open && 'page',
        title: here.map((member) => member.label ?? member.client_id).join(', ') || undefined,
      },
      h('span', { class: 'dot', 'aria-hidden': 'true' }),
      h('span', { class: 'name' }, nameOf(session)),
      h('span', { class: 'facts' }, facts.join(' · ')),
    ),
    !running && h('a', { class: 'watch', href: fragmentOf({ ...place, at: 0 }), 'aria-label': `Play ${nameOf(session)}` }, 'Play'),
    running &&
      role === 'controller' &&
      h('a', { class: 'watch', href: fragmentOf({ ...place, role: 'observer' }), 'aria-label': `Watch ${nameOf(session)}` }, 'Watch'),
  );
}

export function nameOf(session: Pick<SessionDescription, 'label' | 'title' | 'session_id'>): string {
  return session.label || session.title || `Session ${session.session_id.slice(-6)}`;
}

function presence(count: number, controller: string | undefined): string {
  if (count === 0) return 'nobody here';
  if (count === 1 && controller !== undefined) return controller;
  return controller === undefined ? `${count} here` : `${controller} + ${count - 1}`;
}

function age(since: string): string {
  const minutes = Math.floor((Date.now() - Date.parse(since)) / 60_000);
  if (!(minutes >= 1)) return 'just now';
  if (minutes < 60) return `${minutes} min`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)} h` : `${Math.floor(minutes / 1440)} d`;
}
