// The open sessions, as tabs and tiles, or what stands in their place while none is in view. Knows no list and no wire.
import type { SessionDescription } from '../../../src/session/session.js';
import { nameOf } from '../lobby/session-row.js';
import { h } from '../shared/dom.js';
import { fragmentOf, type Place, samePlace } from '../shared/place.js';
import { closed, type Desk, inView, namesIn, neighbour, opened, sameSession, type Tiling } from './desk.js';
import { keepDesk, keptDesk } from './kept-desk.js';
import { tabStrip } from './tab-strip.js';

/** A session in view, as far as it is placed here. */
export interface View {
  readonly element: HTMLElement;
  /** To be called once, when the element is in the page. */
  start(): void;
  focus(): void;
  /** What it is called among those that are open. */
  named(name: string): void;
  dispose(): void;
}

/** What a view tells of its session. */
export interface ViewNews {
  /** Each title that it gets. */
  titled(title: string): void;
  /** It has ended. */
  over(): void;
}

export interface WorkspaceOptions {
  /** Shown while no session is in view. */
  readonly welcome: HTMLElement;
  view(place: Place, news: ViewNews): View;
  /** This one is active from now on; undefined: none is. */
  activated(place: Place | undefined): void;
}

interface Tile {
  readonly place: Place;
  readonly view: View;
  started: boolean;
}

export class Workspace {
  readonly element: HTMLElement;
  readonly #options: WorkspaceOptions;
  readonly #strip = tabStrip({ close: (place) => this.#close(place), tile: (tiling) => this.#tile(tiling) });
  readonly #body = h('div', { class: 'tiles' });
  #desk: Desk = keptDesk();
  #tiles: Tile[] = [];
  /** By session id. */
  readonly #titles = new Map<string, string>();
  /** Those that have ended, by session id. */
  readonly #over = new Set<string>();

  constructor(options: WorkspaceOptions) {
    this.#options = options;
    this.element = h('main', { class: 'workspace' }, this.#strip.element, this.#body);
    this.#body.append(options.welcome);
  }

  /** Brings this session into view; undefined: none. The element is in the page already. */
  show(place: Place | undefined): void {
    if (place && samePlace(place, this.#desk.active)) return;
    this.#become(place ? opened(this.#desk, place) : { ...this.#desk, active: undefined });
  }

  /** How those are called that are open and were in view not yet. */
  know(sessions: readonly SessionDescription[]): void {
    for (const session of sessions) {
      const isOpen = this.#desk.open.some(({ sessionId }) => sessionId === session.session_id);
      if (isOpen && !this.#titles.has(session.session_id)) this.#titles.set(session.session_id, nameOf(session));
      if (isOpen && session.state === 'closed') this.#over.add(session.session_id);
    }
    this.#draw();
  }

  /** To the session before (-1), or the next one (1). */
  move(step: -1 | 1): void {
    const next = neighbour(this.#desk, step);
    if (next) location.hash = fragmentOf(next);
  }

  dispose(): void {
    for (const { view } of this.#tiles) view.dispose();
    this.#tiles = [];
  }

  #become(desk: Desk): void {
    this.#desk = desk;
    keepDesk(desk);
    this.#letGo();
    this.#lay(inView(desk).map((place) => this.#tileOf(place)));
    this.#draw();
    const active = this.#tiles.find(({ place }) => samePlace(place, desk.active));
    active?.view.focus();
    document.title = active ? `${this.#titleOf(active.place)} · pty-gateway` : 'pty-gateway';
    this.#options.activated(desk.active);
  }

  /** Of what is open no longer, or in another way. */
  #letGo(): void {
    const isOpen = ({ place }: Tile) => this.#desk.open.some((other) => samePlace(other, place));
    for (const { view } of this.#tiles.filter((tile) => !isOpen(tile))) view.dispose();
    this.#tiles = this.#tiles.filter(isOpen);
    for (const id of this.#over) if (!this.#desk.open.some(({ sessionId }) => sessionId === id)) this.#over.delete(id);
    for (const id of this.#titles.keys()) if (!this.#desk.open.some(({ sessionId }) => sessionId === id)) this.#titles.delete(id);
  }

  #tileOf(place: Place): Tile {
    const known = this.#tiles.find((tile) => samePlace(tile.place, place));
    if (known) return known;
    const view = this.#options.view(place, { titled: (title) => this.#titled(place, title), over: () => this.#ended(place) });
    const tile: Tile = { place, view, started: false };
    view.element.addEventListener('focusin', () => this.#focused(place));
    this.#tiles.push(tile);
    return tile;
  }

  /** Elements that stay where they are keep the focus and their place. */
  #lay(tiles: readonly Tile[]): void {
    const elements = tiles.length > 0 ? tiles.map(({ view }) => view.element) : [this.#options.welcome];
    const isLaid = elements.length === this.#body.children.length && elements.every((element, n) => element === this.#body.children[n]);
    if (!isLaid) this.#body.replaceChildren(...elements);
    this.#body.dataset.tiles = String(elements.length);
    for (const tile of tiles) {
      tile.view.element.classList.toggle('active', tiles.length > 1 && samePlace(tile.place, this.#desk.active));
      if (tile.started) continue;
      tile.started = true;
      tile.view.start();
    }
  }

  #titled(place: Place, title: string): void {
    this.#titles.set(place.sessionId, title);
    this.#draw();
    if (samePlace(place, this.#desk.active)) document.title = `${title} · pty-gateway`;
  }

  #titleOf({ sessionId }: Place): string {
    return this.#titles.get(sessionId) ?? nameOf({ session_id: sessionId });
  }

  #ended({ sessionId }: Place): void {
    this.#over.add(sessionId);
    this.#draw();
  }

  /** The tabs, and the names by which the sessions in view are told apart. */
  #draw(): void {
    const { open } = this.#desk;
    const names = namesIn(open, (place) => this.#titleOf(place));
    this.#strip.show(this.#desk, names, ({ sessionId }) => this.#over.has(sessionId));
    for (const { place, view } of this.#tiles) view.named(names[open.findIndex((other) => samePlace(other, place))] ?? '');
  }

  /** Whoever clicks into a tile means that session. */
  #focused(place: Place): void {
    const { active } = this.#desk;
    if (!active || sameSession(active, place)) return;
    history.replaceState(null, '', fragmentOf(place));
    this.#desk = { ...this.#desk, active: place };
    this.#lay(inView(this.#desk).map((one) => this.#tileOf(one)));
    this.#draw();
    this.#options.activated(place);
  }

  #close(place: Place): void {
    const desk = closed(this.#desk, place);
    history.replaceState(null, '', desk.active ? fragmentOf(desk.active) : location.pathname + location.search);
    this.#become(desk);
  }

  #tile(tiling: Tiling): void {
    const active = this.#desk.active ?? this.#desk.open[0];
    if (active) history.replaceState(null, '', fragmentOf(active));
    this.#become({ ...this.#desk, active, tiling });
  }
}
