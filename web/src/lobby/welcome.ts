// The middle of the page while no session is open: the obvious next step. Knows no list and no terminal.
import type { Principal } from '../../../src/access/principal.js';
import { h } from '../shared/dom.js';
import { type AgentInfo, type Gateway, messageOf } from '../shared/gateway.js';
import { fragmentOf } from '../shared/place.js';
import { mayStart } from '../shared/rights.js';
import { type Gallery, gallery } from './gallery.js';
import { startNew } from './opening.js';

export interface Welcome {
  readonly element: HTMLElement;
  /** What there is to start. */
  show(agents: readonly AgentInfo[]): void;
  /** What runs. */
  readonly gallery: Gallery;
  /** Why nothing is open, or what is being done about it. */
  say(text: string): void;
}

export function welcome(gateway: Gateway, principal: Principal): Welcome {
  const pictures = gallery(gateway, principal);
  const starters = h('div', { class: 'starters' });
  const heading = h('h1', {}, 'Sessions');
  const word = h('p', { role: 'status', class: 'word', 'data-testid': 'welcome-word' });
  let drawn = '';
  return {
    element: h('div', { class: 'empty', 'data-testid': 'welcome' }, heading, word, starters, pictures.element),
    gallery: pictures,
    show(agents) {
      const startable = agents.filter(({ id }) => mayStart(principal, id));
      const signature = JSON.stringify(startable);
      if (signature === drawn) return;
      drawn = signature;
      starters.replaceChildren(...startable.map((agent) => startButton(gateway, agent, (text) => (word.textContent = text))));
      heading.textContent = startable.length > 0 ? 'Start a session, or open one' : 'Open a session to watch it';
    },
    say(text) {
      word.textContent = text;
    },
  };
}

/** Starts a session with one click, and opens it in this window. */
function startButton(gateway: Gateway, agent: AgentInfo, say: (text: string) => void): HTMLElement {
  const button = h('button', { type: 'button', class: 'primary', 'data-testid': `start-${agent.id}` }, `Start ${agent.name}`);
  button.addEventListener('click', async () => {
    button.disabled = true;
    say('');
    try {
      location.hash = fragmentOf(await startNew(gateway, agent.id, {}));
    } catch (error) {
      say(messageOf(error));
    } finally {
      button.disabled = false;
    }
  });
  return button;
}
