// One agent in the list: its sessions, and the form for a new one. Knows no terminal.
import type { Principal } from '../../../src/access/principal.js';
import type { SessionDescription } from '../../../src/session/session.js';
import { h } from '../shared/dom.js';
import type { AgentInfo, Gateway } from '../shared/gateway.js';
import type { Place } from '../shared/place.js';
import { mayStart } from '../shared/rights.js';
import { matches } from './filter.js';
import { newSessionForm } from './new-session.js';
import { sessionRow } from './session-row.js';

export interface AgentSection {
  readonly element: HTMLElement;
  /** Asks for the sessions; `selected` is asked once they are there. */
  refresh(selected: () => Place | undefined): Promise<void>;
  mark(selected: Place | undefined): void;
  /** Shows only the sessions that match what was typed. */
  filter(typed: string): void;
  /** As they were at the last look: those that run first. */
  sessions(): readonly SessionDescription[];
}

export interface AgentSectionOptions {
  readonly gateway: Gateway;
  readonly principal: Principal;
  /** Since when a session prints nothing, in milliseconds since the epoch, if that is known. */
  quietSince(sessionId: string): number | undefined;
}

export function agentSection({ gateway, principal, quietSince }: AgentSectionOptions, agent: AgentInfo, changed: () => void): AgentSection {
  const rows = h('ul', { class: 'sessions', 'aria-label': `Sessions of ${agent.name}` });
  const more = h('p', { class: 'muted', hidden: true }, 'Older sessions are not listed here.');
  const form = newSessionForm(gateway, agent, () => {
    showForm(false);
    changed();
  });
  const opener = h(
    'button',
    {
      type: 'button',
      class: 'quiet add',
      'aria-expanded': 'false',
      'aria-label': `New session of ${agent.name}`,
      'data-testid': `new-${agent.id}`,
    },
    'New',
  );
  const showForm = (open: boolean) => {
    form.hidden = !open;
    opener.setAttribute('aria-expanded', String(open));
    if (open) form.querySelector('input')?.focus();
  };
  opener.addEventListener('click', () => showForm(form.hidden !== false));
  let sessions: readonly SessionDescription[] = [];
  let typed = '';
  let marked: Place | undefined;
  let drawn: string | undefined;
  const draw = (selected: Place | undefined) => {
    marked = selected;
    const shown = sessions.filter((session) => matches(session, typed));
    const next = shown.map((session) => sessionRow(session, { selected, principal, quietSince: quietSince(session.session_id) }));
    const signature = next.map((row) => row.outerHTML).join();
    if (signature === drawn) return;
    drawn = signature;
    const focused = rows.contains(document.activeElement) ? document.activeElement?.getAttribute('href') : null;
    rows.replaceChildren(
      ...(next.length > 0 ? next : [h('li', { class: 'muted' }, sessions.length > 0 ? 'None that match.' : 'No sessions yet.')]),
    );
    if (focused) rows.querySelector<HTMLElement>(`a[href="${CSS.escape(focused)}"]`)?.focus();
  };
  return {
    element: h(
      'section',
      { class: 'agent', 'data-testid': `agent-${agent.id}` },
      h('header', {}, h('h2', { title: agent.description }, agent.name), mayStart(principal, agent.id) && opener),
      form,
      rows,
      more,
    ),
    async refresh(selected) {
      const page = await gateway.sessions(agent.id);
      sessions = [...page.sessions].sort((a, b) => Number(a.state === 'closed') - Number(b.state === 'closed'));
      more.hidden = !page.more;
      draw(selected());
    },
    mark: draw,
    filter(text) {
      typed = text;
      draw(marked);
    },
    sessions: () => sessions,
  };
}
