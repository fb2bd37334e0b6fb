// The list of agents with their sessions, kept fresh while it is in view. Knows no terminal.
import type { Principal } from '../../../src/access/principal.js';
import type { SessionDescription } from '../../../src/session/session.js';
import { showSettings } from '../settings/settings-dialog.js';
import { h } from '../shared/dom.js';
import { type AgentInfo, CallError, type Gateway, messageOf } from '../shared/gateway.js';
import type { Place } from '../shared/place.js';
import { type AgentSection, agentSection } from './agent-section.js';
import { matches } from './filter.js';
import { Quiet } from './quiet.js';

/** Milliseconds between two looks at the sessions. */
const REFRESH_MS = 5_000;
/** Milliseconds for which news are gathered before the next look: people come in groups. */
const GATHER_MS = 300;

export interface LobbyOptions {
  readonly gateway: Gateway;
  readonly principal: Principal;
  /** The agents that there are, at every look. */
  agents(infos: readonly AgentInfo[]): void;
  /** Their sessions that match what is looked for, and since when each prints nothing. */
  sessions(all: readonly SessionDescription[], quietSince: (sessionId: string) => number | undefined): void;
  /** The gateway does not take the token (any more). */
  refused(why: string): void;
  signOut(): void;
}

export class Lobby {
  readonly element: HTMLElement;
  readonly #options: LobbyOptions;
  readonly #list = h('div', { class: 'agents' });
  readonly #notice = h('p', { class: 'lobby-notice', role: 'status', 'data-testid': 'lobby-notice' });
  readonly #agents = new Map<string, AgentSection>();
  readonly #quiet = new Quiet();
  readonly #filter = filterField(() => this.#applyFilter());
  readonly #timer: ReturnType<typeof setInterval>;
  #gathering: ReturnType<typeof setTimeout> | undefined;
  #selected: Place | undefined;
  #disposed = false;

  constructor(options: LobbyOptions) {
    this.#options = options;
    this.element = frame(options, this.#filter, this.#list, this.#notice);
    this.#timer = setInterval(() => {
      if (document.visibilityState === 'visible') void this.#look();
    }, REFRESH_MS);
    void this.#look();
  }

  /** Marks the session that is open. */
  select(place: Place | undefined): void {
    this.#selected = place;
    for (const agent of this.#agents.values()) agent.mark(place);
  }

  /** There is something new to see. */
  refresh(): void {
    if (this.#disposed) return;
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      void this.#look();
    }, GATHER_MS);
  }

  /** It looks no more; what it shows is how things were. */
  stop(): void {
    this.dispose();
    this.element.inert = true;
  }

  dispose(): void {
    this.#disposed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#gathering);
  }

  async #look(): Promise<void> {
    try {
      const infos = await this.#options.gateway.agents();
      if (this.#disposed) return;
      this.#options.agents(infos);
      this.#show(infos);
      await Promise.all([...this.#agents.values()].map((agent) => agent.refresh(() => this.#selected)));
      this.#quiet.look(this.#sessions());
      this.#tellSessions();
      this.#notice.textContent = infos.length === 0 ? 'There are no agents here.' : '';
    } catch (error) {
      this.#explain(error);
    }
  }

  #sessions(): readonly SessionDescription[] {
    return [...this.#agents.values()].flatMap((agent) => agent.sessions());
  }

  #applyFilter(): void {
    for (const agent of this.#agents.values()) agent.filter(this.#filter.value);
    this.#tellSessions();
  }

  #tellSessions(): void {
    const found = this.#sessions().filter((session) => matches(session, this.#filter.value));
    this.#options.sessions(found, (id) => this.#quiet.since(id));
  }

  #explain(error: unknown): void {
    if (this.#disposed) return;
    if (error instanceof CallError && error.status === 401) this.#options.refused(error.message);
    else this.#notice.textContent = messageOf(error);
  }

  #show(infos: readonly AgentInfo[]): void {
    for (const [id, agent] of this.#agents) {
      if (infos.some((info) => info.id === id)) continue;
      agent.element.remove();
      this.#agents.delete(id);
    }
    for (const info of infos) {
      if (this.#agents.has(info.id)) continue;
      const { gateway, principal } = this.#options;
      const agent = agentSection({ gateway, principal, quietSince: (id) => this.#quiet.since(id) }, info, () => this.refresh());
      this.#agents.set(info.id, agent);
      this.#list.append(agent.element);
    }
  }
}

function filterField(changed: () => void): HTMLInputElement {
  return h('input', {
    type: 'search',
    class: 'filter',
    placeholder: 'Filter',
    'aria-label': 'Filter the sessions',
    autocomplete: 'off',
    'data-testid': 'filter',
    oninput: changed,
  });
}

function frame({ principal: { name }, signOut }: LobbyOptions, filter: HTMLElement, list: HTMLElement, notice: HTMLElement): HTMLElement {
  const mark = h('span', { class: 'mark', 'aria-hidden': 'true' }, '›_');
  return h(
    'nav',
    { class: 'lobby', 'aria-label': 'Agents and sessions', 'data-testid': 'lobby' },
    h('a', { class: 'brand', href: '#', 'aria-label': 'pty-gateway: all sessions' }, mark, 'pty-gateway'),
    filter,
    list,
    notice,
    h(
      'footer',
      {},
      h('span', { class: 'muted who', title: name, 'data-testid': 'who' }, ...whoIs(name)),
      h('button', { type: 'button', class: 'quiet', onclick: showSettings, 'data-testid': 'settings' }, 'Settings'),
      h('button', { type: 'button', class: 'quiet', onclick: signOut, 'data-testid': 'sign-out' }, 'Sign out'),
    ),
  );
}

/** The name has the little room alone; what it is goes without saying for those who see where it stands. */
const whoIs = (name: string) => (name === '' ? ['Signed in'] : [h('span', { class: 'unseen' }, 'Signed in as '), name]);
