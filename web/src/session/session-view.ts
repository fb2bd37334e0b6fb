// One session in view: carries what happens between its terminal, its bar and the client. Knows no wire: src/client speaks it.

import { may, type Principal } from '../../../src/access/principal.js';
import { connect, type Ended, type Picture, type Size, type State, type TerminalClient } from '../../../src/client/index.js';
import type { Closed } from '../../../src/protocol/frames.js';
import type { SessionDescription } from '../../../src/session/session.js';
import { nameOf } from '../lobby/session-row.js';
import { MAX_FONT_PX, MIN_FONT_PX } from '../settings/choices.js';
import { change, settings } from '../settings/settings.js';
import { readClipboard, writeClipboard } from '../shared/clipboard.js';
import { h } from '../shared/dom.js';
import { attachUrl, type Gateway } from '../shared/gateway.js';
import { fragmentOf, type Place } from '../shared/place.js';
import { mayEnd } from '../shared/rights.js';
import { closedText, endedText, failureText, missedText, secrecyText } from '../shared/words.js';
import { FONT_PX } from '../terminal/fit.js';
import { createScreen, type Screen } from '../terminal/screen.js';
import { CatchingUp } from './catching-up.js';
import { ControlDesk } from './control-desk.js';
import { type KeyBar, keyBar } from './key-bar.js';
import { closeFoldsOutside } from './menu.js';
import { notice } from './notice.js';
import { readout } from './readout.js';
import { searchBar } from './search-bar.js';
import { type BarActions, type SessionBar, sessionBar } from './session-bar.js';
import { showShares } from './share-dialog.js';
import { Sizing, type SizingParts } from './sizing.js';

/** Somebody looks at the screen and types: a network that is frozen is noticed after 5 s of silence and 5 s without an answer. */
const HEARTBEAT = { quietMs: 5000, answerMs: 5000 };
/** A history of at most so many frames that is kept from its beginning is replayed, so that one who comes late can scroll back. */
const MAX_HISTORY_FRAMES = 3000;

const CUT = 'The connection was lost. What you typed last may not have arrived.';

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
  readonly #keys: KeyBar;
  readonly #notice = notice();
  readonly #caughtUp = new CatchingUp();
  readonly #readout = readout(async () => this.#client?.typed());
  readonly #search = searchBar(
    async (found) => (this.#screen as Screen).search(found),
    () => this.#screen?.focus(),
  );
  readonly #host = h('div', { class: 'terminal', role: 'group', 'aria-label': 'Terminal', 'data-testid': 'terminal' });
  readonly #sizing: Sizing;
  #screen: Screen | undefined;
  #client: TerminalClient | undefined;
  #label: string | undefined;
  #mayEnd = false;
  #live = false;
  #wasLive = false;
  /** The screen was resized, or is made of a whole history, and no picture was written since. */
  #rewrapped = false;
  #closed: Closed | undefined;
  #endedBy: string | undefined;

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
    this.#desk = new ControlDesk({ bar: this.#bar, gateway, principal, place, tell, client: () => this.#client });
    this.#sizing = new Sizing(this.#sizingParts(), place.follow);
    this.#title(nameOf({ session_id: place.sessionId }));
    this.#bar.connection.show('connecting', 'Connecting…');
    this.#keys = keyBar({
      send: (data) => this.#screen?.type(data),
      paste: () => void this.#paste(),
      applicationCursor: () => this.#screen?.applicationCursorKeys() ?? false,
    });
    this.#showWhatCanBeDone();
    const corner = h('div', { class: 'corner' }, this.#notice.element, this.#sizing.readingSwitch);
    const stage = h('div', { class: 'stage' }, this.#host, this.#search.element, corner);
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
      small: (is) => {
        this.#sizing.readingSwitch.hidden = !is;
      },
      left: () => this.#bar.focus(),
      searched: () => this.#search.open(),
      copied: (text) => void this.#try(writeClipboard(text)),
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
    this.#client = this.#connect(screen, this.#rewrapped ? 0 : undefined);
    const agents = await gateway.agents().catch(() => []);
    this.#desk.allow(agents.find(({ id }) => id === place.instanceId)?.maxControllers ?? 1);
  }

  #connect(screen: Screen, replayFrom: number | undefined): TerminalClient {
    const { token, place, principal } = this.#options;
    const size = this.#sizing.follows ? screen.windowSize() : undefined;
    const client = connect({
      url: attachUrl(place.instanceId, place.sessionId),
      token,
      role: place.role,
      label: principal.name || 'web',
      heartbeat: HEARTBEAT,
      ...(size && { size }),
      ...(replayFrom !== undefined && { replayFrom }),
    });
    client.on('state', (state) => this.#showState(state));
    client.on('output', (bytes) => {
      this.#readout.came(bytes.length);
      this.#caughtUp.came(bytes.length);
      screen.output(bytes);
    });
    client.on('resize', (now) => this.#showSessionSize(now));
    client.on('keyframe', (picture) => this.#showKeyframe(picture));
    client.on('role', (assigned) => {
      this.#desk.assigned(assigned);
      this.element.dataset.role = assigned.role;
      this.#showWhatCanBeDone();
      this.#sizing.windowChanged();
    });
    client.on('members', (members) => {
      this.#desk.members(members);
      this.#options.changed();
    });
    client.on('closed', (closed) => this.#showClosed(closed));
    client.on('notice', (missed) => {
      this.#caughtUp.lost();
      this.#notice.tell(missedText[missed.kind]);
    });
    client.on('error', (error) => this.#notice.tell(failureText(error)));
    return client;
  }

  #actions(): BarActions {
    return {
      copySelection: () => void this.#copy(this.#screen?.selection() ?? ''),
      switchRole: () => void this.#desk.switchRole().then(() => this.#screen?.focus()),
      handOver: (person) => void this.#desk.handOver(person),
      remove: (person) => void this.#desk.remove(person),
      retry: () => this.#client?.retryNow(),
      replay: () => {
        location.hash = fragmentOf({ ...this.#options.place, at: 0 });
      },
      copyLink: () =>
        void this.#copy(
          new URL(fragmentOf(this.#options.place), document.baseURI).href,
          'The link is copied. Whoever opens it needs a token of their own.',
        ),
      paste: () => void this.#paste(),
      repaint: () => this.#client?.requestKeyframe(),
      follow: (on) => this.#sizing.setFollow(on),
      share: () => void showShares(this.#options.gateway, this.#options.place).closed.then(() => this.#screen?.focus()),
      search: () => this.#search.open(),
      zoom: (step) => zoom(step),
      end: () => void this.#end(),
    };
  }

  #sizingParts(): SizingParts {
    return {
      host: this.#host,
      bar: this.#bar,
      screen: () => this.#screen,
      controls: () => this.#live && this.#desk.role === 'controller' && this.#closed === undefined,
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

  #showState(state: State): void {
    if (this.#closing.signal.aborted) return;
    if (state.name === 'waiting' && this.#live && this.#desk.role === 'controller') this.#notice.tell(CUT);
    if (this.#live && state.name !== 'live') this.#caughtUp.cut();
    this.#live = state.name === 'live';
    this.#readout.live(this.#live);
    this.#wasLive ||= this.#live;
    this.element.dataset.phase = state.name === 'waiting' ? 'offline' : state.name;
    if (state.name === 'live') this.#showLive();
    else if (state.name === 'connecting') this.#bar.connection.show('connecting', state.attempt > 1 ? 'Connecting again…' : 'Connecting…');
    else if (state.name === 'waiting') this.#bar.connection.waiting(state.retryInMs, state.message);
    else this.#showEnd(state);
    this.#bar.people.element.hidden = state.name === 'ended';
    this.#showWhatCanBeDone();
    this.#sizing.windowChanged();
  }

  #showLive(): void {
    this.#bar.connection.show('live', 'Live');
    const news = this.#caughtUp.back();
    if (news) this.#notice.tell(news);
  }

  #showEnd(ended: Ended): void {
    this.#bar.connection.show('ended', this.#closed ? closedText(this.#closed, this.#endedBy) : 'Not connected');
    // Who is to sign in again is told so above the page.
    this.#notice.tell(this.#closed || ended.reason === 'unauthenticated' ? '' : `${endedText(ended, this.#wasLive)}.`, true);
    if (ended.reason === 'unauthenticated') this.#options.refused(ended.message);
  }

  #showClosed(closed: Closed): void {
    this.#closed = closed;
    this.#bar.connection.show('ended', closedText(closed));
    this.#options.changed();
    this.#options.over();
    if (closed.reason === 'killed') void this.#nameWhoEndedIt(closed);
  }

  async #nameWhoEndedIt(closed: Closed): Promise<void> {
    const { gateway, place } = this.#options;
    const session = await gateway.session(place.instanceId, place.sessionId).catch(() => undefined);
    this.#endedBy = session?.closed_by;
    this.#bar.connection.show('ended', closedText(closed, this.#endedBy));
  }

  #showWhatCanBeDone(): void {
    const running = this.#live && this.#closed === undefined;
    const write = running && this.#desk.role === 'controller';
    this.#desk.run(running);
    this.#keys.element.hidden = this.#closed !== undefined;
    this.#bar.menu.show({ write, repaint: running, end: running && this.#mayEnd });
    this.#screen?.setWritable(write);
  }

  #explainDeafness(): void {
    if (this.#closed) this.#notice.hint('This session has ended.');
    else if (this.#live) this.#notice.hint(this.#desk.whyDeaf());
    else this.#notice.hint('There is no connection: what you type is not sent.');
  }

  /**
   * A terminal draws lines from above into a screen that grows; how many there are depends on when one came. So that all see the same, each
   * resize is followed by the gateway's own picture.
   */
  #showSessionSize(size: Size): void {
    this.#sizing.sessionChanged(size);
    this.#rewrapped = true;
    if (this.#live) this.#client?.requestKeyframe();
  }

  /** After a whole replay the screen is this picture already, unless it was resized on the way. */
  #showKeyframe({ snapshot, afterReplay }: Picture): void {
    if (!afterReplay || this.#rewrapped) this.#screen?.keyframe(snapshot);
    this.#rewrapped = false;
  }

  async #copy(text: string, said = ''): Promise<void> {
    if (text !== '') await this.#try(writeClipboard(text).then(() => this.#notice.tell(said)));
    this.#screen?.focus();
  }

  async #paste(): Promise<void> {
    const text = await this.#try(readClipboard());
    if (text) this.#screen?.paste(text);
    this.#screen?.focus();
  }

  async #end(): Promise<void> {
    const { gateway, place } = this.#options;
    if (confirm('End this session for everyone? Its process is killed.')) await this.#try(gateway.end(place.instanceId, place.sessionId));
  }

  /** Says so when it fails. */
  async #try<Value>(attempt: Promise<Value>): Promise<Value | undefined> {
    try {
      return await attempt;
    } catch (error) {
      this.#notice.tell(failureText(error));
      return undefined;
    }
  }
}

/** From the size that is shown, one pixel at a time. */
function zoom(step: -1 | 1): void {
  const from = settings().fontPx || FONT_PX;
  change({ fontPx: Math.min(Math.max(from + step, MIN_FONT_PX), MAX_FONT_PX) });
}

const isShort = (session: SessionDescription) =>
  session.oldest_sequence <= 1 && session.current_sequence - session.oldest_sequence <= MAX_HISTORY_FRAMES;
