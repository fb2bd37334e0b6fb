// A session in the list, in one line and a half. Knows no gateway.
import { may, type Principal } from '../../../src/access/principal.js';
import type { SessionDescription } from '../../../src/session/session.js';
import { h } from '../shared/dom.js';
import { fragmentOf, type Place, samePlace } from '../shared/place.js';
import { ago } from '../shared/times.js';
import { endedInShort, secrecyText } from '../shared/words.js';

/** Milliseconds without output after which a session is called quiet. */
const QUIET_MS = 60_000;

export interface RowOptions {
  readonly selected: Place | undefined;
  readonly principal: Principal;
  /** Since when it prints nothing, in milliseconds since the epoch, if that is known. */
  readonly quietSince: number | undefined;
}

export function sessionRow(session: SessionDescription, { selected, principal, quietSince }: RowOptions): HTMLElement {
  const role = may(principal, 'pty:control') ? 'controller' : 'observer';
  const place: Place = { instanceId: session.instance_id, sessionId: session.session_id, role, follow: true };
  const here = [...session.controllers, ...session.observers];
  const open =
    selected !== undefined && samePlace({ instanceId: selected.instanceId, sessionId: selected.sessionId, role, follow: true }, place);
  const running = session.state === 'running';
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
      h('span', { class: 'facts' }, factsOf(session, quietSince).join(' · ')),
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

/** What is to be known of it at a glance: who is in it or how it ended, its age, whether it is quiet, and its secrets. */
export function factsOf(session: SessionDescription, quietSince: number | undefined): string[] {
  const isRunning = session.state === 'running';
  const state = isRunning ? presence(session) : endedInShort(session);
  const age = ago(Date.parse(session.closed_at ?? session.created_at));
  const quiet = quietSince === undefined || Date.now() - quietSince < QUIET_MS || !isRunning ? '' : `quiet for ${ago(quietSince)}`;
  return [state, age, quiet, secrecyText(session)].filter((fact) => fact !== '');
}

/** Who comes first to a session has control of it, whatever they asked for (protocol R8). */
function presence({ controllers, observers }: SessionDescription): string {
  const count = controllers.length + observers.length;
  const [controller] = controllers;
  if (count === 0) return 'nobody here: who opens it has control';
  if (controller === undefined) return `${count} here, control is free`;
  const name = controller.label ?? 'somebody';
  return count === 1 ? name : `${name} + ${count - 1}`;
}
