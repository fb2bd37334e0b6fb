// One session in view: carries what happens between its terminal, its bar and the client. Knows no wire: src/client speaks it.
import { type Assigned, connect, type Ended, type Members, type Picture, type State, type TerminalClient } from '../../src/client/index.js';
import type { Closed, Role } from '../../src/protocol/frames.js';
import { h } from './dom.js';
import { attachUrl, type Gateway } from './gateway.js';
import { type KeyBar, keyBar } from './key-bar.js';
import { closeFoldsOutside } from './menu.js';
import { fragmentOf, type Place } from './place.js';
import { createScreen, type Screen, type Size } from './screen.js';
import { type SessionBar, sessionBar } from './session-bar.js';
import { nameOf } from './session-row.js';
import { nameIn } from './token.js';

/** Milliseconds for which the window must keep its size before the session takes it. */
const RESIZE_DEBOUNCE_MS = 120;

export interface SessionViewOptions {
  readonly gateway: Gateway;
  readonly token: string;
  readonly place: Place;
  /** The gateway does not take the token. */
  refused(why: string): void;
  /** The session changed in a way that the list shows. */
  changed(): void;
}

export class SessionView {
  readonly element = h('main', { class: 'view', 'data-testid': 'view' });
  readonly #options: SessionViewOptions;
  readonly #closing = new AbortController();
  readonly #bar: SessionBar;
  readonly #keys: KeyBar;
  readonly #noticeText = h('span');
  readonly #notice = h('div', { class: 'notice', role: 'status', hidden: true, 'data-testid': 'notice' }, this.#noticeText);
  readonly #host = h('div', { class: 'terminal', role: 'region', 'aria-label': 'Terminal', 'data-testid': 'terminal' });
  #screen: Screen | undefined;
  #client: TerminalClient | undefined;
  #size: Size | undefined;
  #follow: boolean;
  #label: string | undefined;
  #role: Role | undefined;
  #clientId: string | undefined;
  #live = false;
  /** The screen was resized, and no picture was written since. */
  #rewrapped = false;
  #closed: Closed | undefined;
  #resizing: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SessionViewOptions) {
    this.#options = options;
    this.#follow = options.place.follow;
    this.#bar = sessionBar(this.#actions(), this.#follow);
    this.#bar.title(nameOf({ session_id: options.place.sessionId }));
    this.#bar.role(undefined, false);
    this.#keys = keyBar(
      (data) => this.#screen?.type(data),
      () => this.#screen?.applicationCursorKeys() ?? false,
    );
    this.#notice.append(h('button', { type: 'button', class: 'quiet', 'aria-label': 'Dismiss', onclick: () => this.#tell('') }, '✕'));
    this.element.append(this.#bar.element, this.#notice, h('div', { class: 'stage' }, this.#host), this.#keys.element);
    closeFoldsOutside(this.element, this.#closing.signal);
  }

  /** To be called once the element is in the page, so that its size is known. */
  start(): void {
    const screen = createScreen(this.#host, {
      typed: (bytes) => this.#client?.input(this.#keys.modify(bytes)),
      title: (title) => this.#showTitle(title),
      selection: (something) => this.#bar.selection(something),
      fellBehind: () => {
        this.#tell(missedText.lagged);
        this.#client?.requestKeyframe();
      },
      left: () => this.#bar.focus(),
    });
    this.#screen = screen;
    const watcher = new ResizeObserver(() => this.#windowChanged());
    watcher.observe(this.#host);
    this.#closing.signal.addEventListener('abort', () => watcher.disconnect());
    this.#client = this.#connect(screen);
    void this.#describe();
    screen.focus();
  }

  dispose(): void {
    this.#closing.abort();
    this.#client?.close();
    clearTimeout(this.#resizing);
    this.#bar.dispose();
    this.#screen?.dispose();
  }

  #connect(screen: Screen): TerminalClient {
    const { token, place } = this.#options;
    const size = this.#follow ? screen.windowSize() : undefined;
    const client = connect({
      url: attachUrl(place.instanceId, place.sessionId),
      token,
      role: place.role,
      label: nameIn(token) ?? 'web',
      ...(size && { size }),
    });
    client.on('state', (state) => this.#showState(state));
    client.on('output', (bytes, _sequence, replayed) => screen.output(bytes, !replayed));
    client.on('resize', (now) => this.#showSessionSize(now));
    client.on('keyframe', (picture) => this.#showKeyframe(picture));
    client.on('role', (assigned) => this.#showRole(assigned));
    client.on('members', (members) => this.#showMembers(members));
    client.on('closed', (closed) => this.#showClosed(closed));
    client.on('notice', (missed) => this.#tell(missedText[missed.kind]));
    client.on('error', (error) => this.#tell(`${error.message}.`));
    return client;
  }

  #actions() {
    return {
      copySelection: () => void this.#copy(this.#screen?.selection() ?? ''),
      switchRole: () => this.#switchRole(),
      retry: () => this.#client?.retryNow(),
      copyLink: () => void this.#copy(new URL(fragmentOf(this.#options.place), document.baseURI).href),
      paste: () => void this.#paste(),
      repaint: () => this.#client?.requestKeyframe(),
      follow: (on: boolean) => {
        this.#follow = on;
        this.#windowChanged();
      },
      readerMode: (on: boolean) => this.#screen?.setReaderMode(on),
      end: () => void this.#end(),
    };
  }

  #tell(text: string): void {
    this.#noticeText.textContent = text;
    this.#notice.hidden = text === '';
  }

  /** The label given at its creation goes before the title that a program sets. */
  async #describe(): Promise<void> {
    const { gateway, place } = this.#options;
    const session = await gateway.session(place.instanceId, place.sessionId).catch(() => undefined);
    if (!session || this.#closing.signal.aborted) return;
    this.#label = session.label || undefined;
    this.#bar.title(nameOf(session));
  }

  #showTitle(title: string): void {
    if (this.#label === undefined && title !== '') this.#bar.title(title);
  }

  #showState(state: State): void {
    if (this.#closing.signal.aborted) return;
    this.#live = state.name === 'live';
    this.element.dataset.phase = state.name === 'waiting' ? 'offline' : state.name;
    if (state.name === 'live') this.#bar.connection.show('live', 'Live');
    else if (state.name === 'connecting') this.#bar.connection.show('connecting', state.attempt > 1 ? 'Connecting again…' : 'Connecting…');
    else if (state.name === 'waiting') this.#bar.connection.waiting(state.retryInMs);
    else this.#showEnd(state);
    this.#bar.people.element.hidden = state.name === 'ended';
    this.#showWhatCanBeDone();
    this.#windowChanged();
  }

  #showEnd({ reason, message }: Ended): void {
    if (reason === 'unauthenticated') {
      this.#options.refused(message);
      return;
    }
    this.#bar.connection.show('ended', this.#closed ? closedText(this.#closed) : `Ended: ${message}`);
    if (!this.#closed) this.#tell(`${capital(message)}.`);
  }

  #showClosed(closed: Closed): void {
    this.#closed = closed;
    this.#bar.connection.show('ended', closedText(closed));
    this.#options.changed();
  }

  #showRole({ role, clientId, downgraded, reason }: Assigned): void {
    this.#role = role;
    this.#clientId = clientId;
    this.element.dataset.role = role;
    this.#tell(downgraded ? `You are watching: ${reason ?? 'somebody else has control'}.` : '');
    this.#showWhatCanBeDone();
    this.#windowChanged();
  }

  #showWhatCanBeDone(): void {
    const running = this.#live && this.#closed === undefined;
    this.#bar.role(running ? this.#role : undefined, running);
    this.#screen?.setWritable(running && this.#role === 'controller');
  }

  #showMembers({ controllers, observers }: Members): void {
    this.#bar.people.show(controllers, observers, this.#clientId);
    this.#options.changed();
  }

  /**
   * A terminal draws lines from above into a screen that grows; how many there are depends on when one came. So that all see the same, each
   * resize is followed by the gateway's own picture.
   */
  #showSessionSize(size: Size): void {
    this.#size = size;
    this.#screen?.resize(size);
    this.#showSizes();
    this.#rewrapped = true;
    if (this.#live) this.#client?.requestKeyframe();
  }

  /** After a whole replay the screen is this picture already, unless it was resized on the way. */
  #showKeyframe({ snapshot, afterReplay }: Picture): void {
    if (!afterReplay || this.#rewrapped) this.#screen?.keyframe(snapshot);
    this.#rewrapped = false;
  }

  #showSizes(): void {
    const room = this.#screen?.windowSize();
    if (!this.#size) return;
    this.#bar.sizes(this.#size, room);
    this.#host.classList.toggle('letterbox', room !== undefined && !sameSize(room, this.#size));
  }

  /** The session takes the size of the window that controls it; in any other, it is fitted into the window. */
  #windowChanged(): void {
    clearTimeout(this.#resizing);
    this.#showSizes();
    if (this.#gives()) this.#resizing = setTimeout(() => this.#resizeSession(), RESIZE_DEBOUNCE_MS);
    else this.#screen?.shrinkToFit();
  }

  #gives(): boolean {
    return this.#live && this.#follow && this.#role === 'controller' && this.#closed === undefined;
  }

  #resizeSession(): void {
    const room = this.#screen?.windowSize();
    if (!room || !this.#size || !this.#gives()) return;
    if (sameSize(room, this.#size)) this.#screen?.shrinkToFit();
    else this.#client?.resize(room);
  }

  #switchRole(): void {
    const wanted = this.#role === 'controller' ? 'observer' : 'controller';
    this.#try(this.#client?.requestRole(wanted));
    this.#screen?.focus();
  }

  async #copy(text: string): Promise<void> {
    if (text !== '')
      await this.#try(navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('This browser lets the page copy over https only')));
    this.#screen?.focus();
  }

  async #paste(): Promise<void> {
    const text = await this.#try(
      navigator.clipboard?.readText() ?? Promise.reject(new Error('This browser lets the page paste over https only')),
    );
    if (text) this.#screen?.paste(text);
    this.#screen?.focus();
  }

  async #end(): Promise<void> {
    const { gateway, place } = this.#options;
    if (confirm('End this session for everyone? Its process is killed.')) await this.#try(gateway.end(place.instanceId, place.sessionId));
  }

  /** Says so when it fails. */
  async #try<Value>(attempt: Promise<Value> | undefined): Promise<Value | undefined> {
    try {
      return await attempt;
    } catch (error) {
      this.#tell(`${capital(error instanceof Error ? error.message : String(error))}.`);
      return undefined;
    }
  }
}

const missedText = {
  lagged: 'This window fell behind: some output was passed over, and the screen was painted anew.',
  out_of_range: 'What was missed is not kept any more: the screen was painted anew.',
  no_picture: 'The gateway could make no picture of the screen: what is shown may not be whole.',
} as const;

const sameSize = (a: Size, b: Size) => a.cols === b.cols && a.rows === b.rows;
const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1).replace(/\.$/, '');

function closedText({ exit_code, reason }: Closed): string {
  const why = reason === 'command_result' ? '' : ` (${reason.replaceAll('_', ' ')})`;
  return exit_code === null ? `Ended${why}` : `Ended: exit ${exit_code}${why}`;
}
