// What a signed-in visitor sees: the list beside the session that the fragment names. Knows no protocol.
import { h } from './dom.js';
import { createGateway, type Gateway } from './gateway.js';
import { Lobby } from './lobby.js';
import { type Place, readFragment, samePlace } from './place.js';
import { SessionView } from './session-view.js';
import { nameIn } from './token.js';

export interface ShellOptions {
  readonly token: string;
  /** The gateway does not take the token (any more). */
  refused(why: string): void;
  signOut(): void;
}

export class Shell {
  readonly element: HTMLElement;
  readonly #options: ShellOptions;
  readonly #gateway: Gateway;
  readonly #list: Lobby;
  #place: Place | undefined;
  #view: SessionView | undefined;
  #beside: HTMLElement = nothingOpen();

  constructor(options: ShellOptions) {
    this.#options = options;
    this.#gateway = createGateway(options.token);
    this.#list = new Lobby({ ...options, gateway: this.#gateway, name: nameIn(options.token) });
    this.element = h('div', { class: 'shell' }, this.#list.element, this.#beside);
  }

  /** Opens what the fragment names now; the element is in the page already. */
  follow(hash: string): void {
    const { place } = readFragment(hash);
    this.element.dataset.open = place ? 'session' : 'list';
    if (samePlace(place, this.#place)) return;
    this.#place = place;
    this.#view?.dispose();
    this.#view = place && this.#viewOf(place);
    this.#put(this.#view?.element ?? nothingOpen());
    this.#view?.start();
    this.#list.select(place);
    if (!place) document.title = 'pty-gateway';
  }

  dispose(): void {
    this.#view?.dispose();
    this.#list.dispose();
  }

  #viewOf(place: Place): SessionView {
    const { token, refused } = this.#options;
    return new SessionView({ gateway: this.#gateway, token, place, refused, changed: () => this.#list.refresh() });
  }

  #put(element: HTMLElement): void {
    this.#beside.replaceWith(element);
    this.#beside = element;
  }
}

function nothingOpen(): HTMLElement {
  const how = 'Open one from the list to take part in it, or start a new one.';
  return h('main', { class: 'empty' }, h('h1', {}, 'No session is open'), h('p', {}, how));
}
