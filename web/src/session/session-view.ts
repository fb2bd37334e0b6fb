// One session in view: carries what happens between its terminal, its bar and the client. Knows no wire: src/client speaks it.

import { may, type Principal } from '../../../src/access/principal.js';
import type { Assigned, Picture, Size, State, TerminalClient } from '../../../src/client/index.js';
import type { Closed } from '../../../src/protocol/frames.js';
import type { SessionDescription } from '../../../src/session/session.js';
import { nameOf } from '../lobby/session-row.js';
import { MAX_FONT_PX, MIN_FONT_PX } from '../settings/choices.js';
import { change, settings } from '../settings/settings.js';
import { readClipboard } from '../shared/clipboard.js';
import { h } from '../shared/dom.js';
import type { Gateway } from '../shared/gateway.js';
import type { Place } from '../shared/place.js';
import { mayEnd } from '../shared/rights.js';
import { failureText, missedText, secrecyText } from '../shared/words.js';
import { FONT_PX } from '../terminal/fit.js';
import { createScreen, type Screen } from '../terminal/screen.js';
import { asks } from './asks.js';
import { attach } from './attachment.js';
import { ControlDesk } from './control-desk.js';
import { type Corner, corner } from './corner.js';
import { Course } from './course.js';
import { Errands } from './errands.js';
import { type KeyBar, keyBar } from './key-bar.js';
import { closeFoldsOutside } from './menu.js';
import { notice } from './notice.js';
import { readout } from './readout.js';
import { searchBar } from './search-bar.js';
import { type BarActions, type SessionBar, sessionBar } from './session-bar.js';
import { Sizing, type SizingParts } from './sizing.js';

/** A history of at most so many frames that is kept from its beginning is replayed, so that one who comes late can scroll back. */
const MAX_HISTORY_FRAMES = 3000;
const NOT_SENT = 'There is no connection: what you type is not sent.';

export interface SessionViewOptions {
  readonly gateway: Gateway;
  readonly token: string;
  readonly principal: Principal;
  readonly place: Place;
  /** The gateway does not take the token. */
  refused(why: string): void;
  /** The session changed in a way that the list shows. */
  changed(): void;
  /** Each title that it gets. */
  titled(title: string): void;
  /** It has ended. */
  over(): void;
}

export class SessionView {
  readonly element = h('section', { class: 'view', 'aria-label': 'Session', 'data-testid': 'view' });
  readonly #options: SessionViewOptions;
  readonly #closing = new AbortController();
  readonly #bar: SessionBar;
  readonly #desk: ControlDesk;
  readonly #asks = asks({
    grant: (person) => void this.#desk.grant(person).then(() => this.#screen?.focus()),
    decline: (person) => void this.#desk.decline(person).then(() => this.#screen?.focus()),
  });
  readonly #keys: KeyBar;
  readonly #errands: Errands;
  readonly #notice = notice();
  readonly #course: Course;
  readonly #readout = readout(async () => this.#client?.typed());
  readonly #search = searchBar(
    async (found) => (this.#screen as Screen).search(found),
    () => this.#screen?.focus(),
  );
  readonly #host = h('div', { class: 'terminal', role: 'group', 'aria-label': 'Terminal', 'data-testid': 'terminal' });
  readonly #sizing: Sizing;
  readonly #corner: Corner;
  #screen: Screen | undefined;
  #client: TerminalClient | undefined;
  #label: string | undefined;
  #mayEnd = false;
  /** The screen was resized, or is made of a whole history, and no picture was written since. */
  #rewrapped = false;

  constructor(options: SessionViewOptions) {
    const { gateway, principal, place } = options;
    this.#options = options;
    this.#bar = sessionBar(this.#actions(), {
      follows: place.follow,
      admin: may(principal, 'pty:admin'),
      shares: may(principal, 'pty:control'),
      readout: this.#readout.element,
    });
    const { tell } = this.#notice;
    this.#errands = new Errands({ gateway, place, tell, back: () => this.#screen?.focus() });
    this.#desk = new ControlDesk({ bar: this.#bar, asks: this.#asks, gateway, principal, place, tell, client: () => this.#client });
    this.#course = new Course({
      line: this.#bar.connection,
      notice: this.#notice,
      controlled: () => this.#desk.role === 'controller',
      whoEndedIt: async () => (await gateway.session(place.instanceId, place.sessionId).catch(() => undefined))?.closed_by,
      refused: options.refused,
    });
    this.#sizing = new Sizing(this.#sizingParts(), place.follow);
    this.#title(nameOf({ session_id: place.sessionId }));
    this.#keys = keyBar({
      send: (data) => this.#screen?.type(data),
      paste: () => void this.#paste(),
      applicationCursor: () => this.#screen?.applicationCursorKeys() ?? false,
    });
    this.#showWhatCanBeDone();
    const over = [this.#asks.element, this.#notice.element, this.#sizing.readingSwitch];
    this.#corner = corner(() => this.#screen?.cursorRow(), this.#closing.signal, ...over);
    const stage = h('div', { class: 'stage' }, this.#host, this.#search.element, this.#corner.element);
    this.element.append(this.#bar.element, stage, this.#keys.element);
    closeFoldsOutside(this.element, this.#closing.signal);
  }

  /** To be called once the element is in the page, so that its size is known. */
  start(): void {
    const screen = createScreen(this.#host, {
      typed: (bytes) => this.#client?.input(this.#keys.modify(bytes)),
      title: (title) => this.#showTitle(title),
      selection: (something) => this.#bar.selection(something),
      fellBehind: () => {
        this.#notice.tell(missedText.lagged);
        this.#client?.requestKeyframe();
      },
      deaf: () => this.#explainDeafness(),
      small: (is, inPart) => this.#sizing.small(is, inPart),
      left: () => this.#asks.focus() || this.#bar.focus(),
      searched: () => this.#search.open(),
      cursorMoved: () => this.#corner.look(),
      copied: (text) => void this.#errands.copy(text),
      roomChanged: () => this.#sizing.windowChanged(),
    });
    this.#screen = screen;
    const watcher = new ResizeObserver(() => this.#sizing.windowChanged());
    watcher.observe(this.#host);
    this.#closing.signal.addEventListener('abort', () => watcher.disconnect());
    void this.#open(screen);
  }

  focus(): void {
    this.#screen?.focus();
  }

  named(name: string): void {
    this.element.setAttribute('aria-label', name);
    this.#search.element.setAttribute('aria-label', `Search in ${name}`);
  }

  dispose(): void {
    this.#closing.abort();
    this.#client?.close();
    this.#sizing.dispose();
    this.#notice.dispose();
    this.#desk.dispose();
    this.#readout.dispose();
    this.#bar.dispose();
    this.#screen?.dispose();
  }

  async #open(screen: Screen): Promise<void> {
    const { gateway, place } = this.#options;
    const session = await gateway.session(place.instanceId, place.sessionId).catch(() => undefined);
    if (this.#closing.signal.aborted) return;
    if (session) this.#describe(session);
    this.#rewrapped = session !== undefined && isShort(session);
    if (session && this.#rewrapped) screen.resize(session);
    this.#client = this.#attach(screen, this.#rewrapped ? 0 : undefined);
    const agents = await gateway.agents().catch(() => []);
    this.#desk.allow(agents.find(({ id }) => id === place.instanceId)?.maxControllers ?? 1);
  }

  #attach(screen: Screen, replayFrom: number | undefined): TerminalClient {
    const { token, principal, place } = this.#options;
    const size = this.#sizing.follows ? screen.windowSize() : undefined;
    return attach(
      { token, principal, place, size, replayFrom },
      {
        state: (state) => this.#showState(state),
        output: (bytes) => this.#print(screen, bytes),
        resize: (now) => this.#showSessionSize(now),
        keyframe: (picture) => this.#showKeyframe(picture),
        role: (assigned) => this.#showRole(assigned),
        members: (members) => {
          this.#desk.members(members);
          this.#options.changed();
        },
        presence: (state) => this.#desk.presence(state),
        closed: (closed) => this.#showClosed(closed),
        notice: (missed) => this.#course.missed(missed),
        error: (error) => this.#notice.tell(failureText(error)),
      },
    );
  }

  #actions(): BarActions {
    return {
      copySelection: () => void this.#errands.copy(this.#screen?.selection() ?? ''),
      switchRole: () => void this.#desk.switchRole().then(() => this.#screen?.focus()),
      handOver: (person) => void this.#desk.handOver(person),
      remove: (person) => void this.#desk.remove(person),
      retry: () => this.#client?.retryNow(),
      replay: () => this.#errands.replay(),
      copyLink: () => void this.#errands.copyLink(),
      paste: () => void this.#paste(),
      repaint: () => this.#client?.requestKeyframe(),
      follow: (on) => this.#sizing.setFollow(on),
      share: () => void this.#errands.share(),
      search: () => this.#search.open(),
      zoom: (step) => zoom(step),
      end: () => void this.#errands.end(),
    };
  }

  #sizingParts(): SizingParts {
    return {
      host: this.#host,
      bar: this.#bar,
      screen: () => this.#screen,
      controls: () => this.#course.isLive && this.#desk.role === 'controller' && !this.#course.isOver,
      resize: (size) => this.#client?.resize(size),
    };
  }

  /** The label given at its creation goes before the title that a program sets. */
  #describe(session: SessionDescription): void {
    this.#label = session.label || undefined;
    this.#mayEnd = mayEnd(this.#options.principal, session.created_by);
    this.#title(nameOf(session));
    this.#bar.secrecy(secrecyText(session));
    this.#showWhatCanBeDone();
  }

  #showTitle(title: string): void {
    if (this.#label === undefined && title !== '') this.#title(title);
  }

  #title(title: string): void {
    this.#bar.title(title);
    this.#options.titled(title);
  }

  #print(screen: Screen, bytes: Uint8Array): void {
    this.#readout.came(bytes.length);
    this.#course.came(bytes.length);
    screen.output(bytes);
  }

  #showRole(assigned: Assigned): void {
    this.#desk.assigned(assigned);
    this.element.dataset.role = assigned.role;
    this.#showWhatCanBeDone();
    this.#sizing.windowChanged();
  }

  #showState(state: State): void {
    if (this.#closing.signal.aborted) return;
    this.#course.state(state);
    if (this.#course.isLive) this.#notice.withdraw(NOT_SENT);
    this.#readout.live(this.#course.isLive);
    this.element.dataset.phase = state.name === 'waiting' ? 'offline' : state.name;
    this.#bar.people.element.hidden = state.name === 'ended';
    this.#showWhatCanBeDone();
    this.#sizing.windowChanged();
  }

  #showClosed(closed: Closed): void {
    void this.#course.closed(closed);
    this.#options.changed();
    this.#options.over();
  }

  #showWhatCanBeDone(): void {
    const running = this.#course.isLive && !this.#course.isOver;
    const write = running && this.#desk.role === 'controller';
    this.#desk.run(running);
    this.#keys.element.hidden = this.#course.isOver;
    this.#bar.menu.show({ write, repaint: running, end: running && this.#mayEnd });
    this.#screen?.setWritable(write);
  }

  #explainDeafness(): void {
    if (this.#course.isOver) this.#notice.hint('This session has ended.');
    else if (this.#course.isLive) this.#notice.hint(this.#desk.whyDeaf());
    else this.#notice.hint(NOT_SENT);
  }

  /**
   * A terminal draws lines from above into a screen that grows; how many there are depends on when one came. So that all see the same, each
   * resize is followed by the gateway's own picture.
   */
  #showSessionSize(size: Size): void {
    this.#sizing.sessionChanged(size);
    this.#rewrapped = true;
    if (this.#course.isLive) this.#client?.requestKeyframe();
  }

  /** After a whole replay the screen is this picture already, unless it was resized on the way. */
  #showKeyframe({ snapshot, afterReplay }: Picture): void {
    if (!afterReplay && !this.#rewrapped) this.#screen?.forgetImages();
    if (!afterReplay || this.#rewrapped) this.#screen?.keyframe(snapshot);
    this.#rewrapped = false;
  }

  async #paste(): Promise<void> {
    const text = await this.#errands.try(readClipboard());
    if (text) this.#screen?.paste(text);
    this.#screen?.focus();
  }
}

/** From the size that is shown, one pixel at a time. */
function zoom(step: -1 | 1): void {
  const from = settings().fontPx || FONT_PX;
  change({ fontPx: Math.min(Math.max(from + step, MIN_FONT_PX), MAX_FONT_PX) });
}

const isShort = (session: SessionDescription) =>
  session.oldest_sequence <= 1 && session.current_sequence - session.oldest_sequence <= MAX_HISTORY_FRAMES;
