// The list of agents with their sessions, kept fresh while it is in view. Knows no terminal.
import { type AgentSection, agentSection } from './agent-section.js';
import { h } from './dom.js';
import { type AgentInfo, CallError, type Gateway, messageOf } from './gateway.js';
import type { Place } from './place.js';

/** Milliseconds between two looks at the sessions. */
const REFRESH_MS = 5_000;

export interface Lobby {
  readonly element: HTMLElement;
  /** Marks the session that is open. */
  select(place: Place | undefined): void;
  refresh(): void;
  dispose(): void;
}

/** `refused` is called when the gateway does not take the token (any more). */
export function lobby(gateway: Gateway, name: string | undefined, refused: (why: string) => void, signOut: () => void): Lobby {
  const list = h('div', { class: 'agents' });
  const notice = h('p', { class: 'lobby-notice', role: 'status', 'data-testid': 'lobby-notice' });
  const agents = new Map<string, AgentSection>();
  let selected: Place | undefined;

  const refresh = async () => {
    try {
      const infos = await gateway.agents();
      for (const info of infos) if (!agents.has(info.id)) addAgent(info);
      await Promise.all([...agents.values()].map((agent) => agent.refresh(selected)));
      notice.textContent = infos.length === 0 ? 'There are no agents here.' : '';
    } catch (error) {
      if (error instanceof CallError && error.status === 401) return refused(error.message);
      notice.textContent = messageOf(error);
    }
  };
  const addAgent = (info: AgentInfo) => {
    const section = agentSection(gateway, info, () => void refresh());
    agents.set(info.id, section);
    list.append(section.element);
  };
  const timer = setInterval(() => {
    if (document.visibilityState === 'visible') void refresh();
  }, REFRESH_MS);
  void refresh();

  const element = h(
    'nav',
    { class: 'lobby', 'aria-label': 'Agents and sessions', 'data-testid': 'lobby' },
    h(
      'a',
      { class: 'brand', href: '#', 'aria-label': 'All sessions' },
      h('span', { class: 'mark', 'aria-hidden': 'true' }, '›_'),
      'pty-gateway',
    ),
    list,
    notice,
    h(
      'footer',
      {},
      h('span', { class: 'muted' }, name === undefined ? 'Signed in' : `Signed in as ${name}`),
      h('button', { type: 'button', class: 'quiet', onclick: signOut, 'data-testid': 'sign-out' }, 'Sign out'),
    ),
  );
  return {
    element,
    select(place) {
      selected = place;
      for (const agent of agents.values()) agent.mark(place);
    },
    refresh: () => void refresh(),
    dispose: () => clearInterval(timer),
  };
}
