// What a signed-in visitor sees: the list beside the session that the fragment names. Knows no protocol.
import type { Principal } from '../../src/principal.js';
import { Lobby } from './lobby/lobby.js';
import { newestOrNew } from './lobby/opening.js';
import { type Welcome, welcome } from './lobby/welcome.js';
import { PlaybackView } from './playback/playback-view.js';
import { SessionView } from './session/session-view.js';
import { h } from './shared/dom.js';
import { type AgentInfo, CallError, createGateway, type Gateway, messageOf } from './shared/gateway.js';
import { fragmentOf, type Place, readFragment, samePlace } from './shared/place.js';
import { principalIn } from './sign-in/token.js';

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
  #place: Place | undefined;
  #view: SessionView | PlaybackView | undefined;
  #beside: HTMLElement;
  #seen = false;
  #disposed = false;

  constructor(options: ShellOptions) {
    this.#options = options;
    this.#principal = principalIn(options.token);
    this.#gateway = createGateway(options.token);
    this.#welcome = welcome(this.#gateway, this.#principal);
    this.#beside = this.#welcome.element;
    this.#list = new Lobby({
      gateway: this.#gateway,
      principal: this.#principal,
      signOut: options.signOut,
      agents: (agents) => this.#show(agents),
      refused: (why) => this.#refused(why),
    });
    this.element = h('div', { class: 'shell', 'data-open': 'list' }, this.#list.element, this.#beside);
  }

  /** Opens what the fragment names now; the element is in the page already. */
  follow(hash: string): void {
    const { place } = readFragment(hash);
    this.element.dataset.open = place ? 'session' : 'list';
    if (samePlace(place, this.#place)) return;
    this.#place = place;
    this.#view?.dispose();
    this.#view = place && this.#viewOf(place);
    this.#welcome.say('');
    this.#put(this.#view?.element ?? this.#welcome.element);
    this.#view?.start();
    this.#list.select(place);
    if (!place) document.title = 'pty-gateway';
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
    this.#view?.dispose();
    this.#list.dispose();
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

  #viewOf(place: Place): SessionView | PlaybackView {
    const { token } = this.#options;
    const common = { gateway: this.#gateway, token, place, refused: (why: string) => this.#refused(why) };
    if (place.at !== undefined) return new PlaybackView({ ...common, at: place.at });
    return new SessionView({ ...common, principal: this.#principal, changed: () => this.#list.refresh() });
  }

  #put(element: HTMLElement): void {
    this.#beside.replaceWith(element);
    this.#beside = element;
  }
}
