// What a signed-in visitor sees: the list beside the sessions that are open. Knows no protocol.
import type { Principal } from '../../src/access/principal.js';
import { Lobby } from './lobby/lobby.js';
import { newestOrNew } from './lobby/opening.js';
import { type Welcome, welcome } from './lobby/welcome.js';
import { PlaybackView } from './playback/playback-view.js';
import { SessionView } from './session/session-view.js';
import { h } from './shared/dom.js';
import { type AgentInfo, CallError, createGateway, type Gateway, messageOf } from './shared/gateway.js';
import { fragmentOf, type Place, readFragment } from './shared/place.js';
import { principalIn } from './sign-in/token.js';
import { type View, type ViewNews, Workspace } from './workspace/workspace.js';

export interface ShellOptions {
  readonly token: string;
  /** The gateway does not take the token (any more); `seen` tells whether it did before. */
  refused(why: string, seen: boolean): void;
  signOut(): void;
}

export class Shell {
  readonly element: HTMLElement;
  readonly #options: ShellOptions;
  readonly #principal: Principal;
  readonly #gateway: Gateway;
  readonly #list: Lobby;
  readonly #welcome: Welcome;
  readonly #workspace: Workspace;
  #place: Place | undefined;
  #seen = false;
  #disposed = false;

  constructor(options: ShellOptions) {
    this.#options = options;
    this.#principal = principalIn(options.token);
    this.#gateway = createGateway(options.token);
    this.#welcome = welcome(this.#gateway, this.#principal);
    this.#workspace = new Workspace({
      welcome: this.#welcome.element,
      view: (place, news) => this.#viewOf(place, news),
      activated: (place) => this.#activated(place),
    });
    this.#list = new Lobby({
      gateway: this.#gateway,
      principal: this.#principal,
      signOut: options.signOut,
      agents: (agents) => this.#show(agents),
      sessions: (found, quietSince) => {
        this.#welcome.gallery.show(found, quietSince);
        this.#workspace.know(found);
      },
      refused: (why) => this.#refused(why),
    });
    this.element = h('div', { class: 'shell', 'data-open': 'list' }, this.#list.element, this.#workspace.element);
    this.#moveByKeys();
  }

  /** Opens what the fragment names now; the element is in the page already. */
  follow(hash: string): void {
    this.#welcome.say('');
    this.#workspace.show(readFragment(hash).place);
  }

  /** Opens the newest running session of an agent, or a new one; its own fragment is in the address then. */
  async open(instanceId: string): Promise<void> {
    this.follow('');
    this.#welcome.say('Opening a session…');
    try {
      const place = await newestOrNew(this.#gateway, this.#principal, instanceId);
      if (this.#disposed || this.#place) return;
      this.#welcome.say(place ? '' : 'Nothing runs here yet, and your token can only watch.');
      if (place) history.replaceState(null, '', fragmentOf(place));
      this.follow(location.hash);
    } catch (error) {
      if (error instanceof CallError && error.status === 401) this.#refused(error.message);
      else this.#welcome.say(messageOf(error));
    }
  }

  dispose(): void {
    this.#disposed = true;
    this.#workspace.dispose();
    this.#list.dispose();
  }

  #activated(place: Place | undefined): void {
    this.#place = place;
    this.element.dataset.open = place ? 'session' : 'list';
    this.#list.select(place);
    // Pictures are made of what is in view.
    if (!place) this.#list.refresh();
  }

  #show(agents: readonly AgentInfo[]): void {
    this.#seen = true;
    this.#welcome.show(agents);
  }

  #refused(why: string): void {
    if (this.#disposed) return;
    this.#list.stop();
    this.#options.refused(why, this.#seen);
  }

  #viewOf(place: Place, news: ViewNews): View {
    const { token } = this.#options;
    const common = { gateway: this.#gateway, token, place, ...news, refused: (why: string) => this.#refused(why) };
    if (place.at !== undefined) return new PlaybackView({ ...common, at: place.at });
    return new SessionView({ ...common, principal: this.#principal, changed: () => this.#list.refresh() });
  }

  /** In a terminal as well: it lets these keys pass. */
  #moveByKeys(): void {
    this.element.addEventListener('keydown', (event) => {
      const step = event.code === 'ArrowLeft' ? -1 : event.code === 'ArrowRight' ? 1 : undefined;
      const isTyping = event.target instanceof HTMLInputElement;
      if (step === undefined || isTyping || !event.ctrlKey || !event.shiftKey) return;
      event.preventDefault();
      this.#workspace.move(step);
    });
  }
}
