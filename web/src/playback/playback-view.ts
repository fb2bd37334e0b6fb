// A session's history in view: carries what happens between a player, its stage and the controls. Knows no wire: src/playback reads it.
import { IDLE_MS, otherSpeed } from '../../../src/playback/clock.js';
import { openRecording, type SessionAddress } from '../../../src/playback/gateway-recording.js';
import { Player, type PlayerState } from '../../../src/playback/player.js';
import { type Recording, RecordingError } from '../../../src/playback/recording.js';
import { firstAfter, lastBefore, type Timeline } from '../../../src/playback/timeline.js';
import { nameOf } from '../lobby/session-row.js';
import { h } from '../shared/dom.js';
import { type Gateway, sessionUrl } from '../shared/gateway.js';
import { fragmentOf, type Place } from '../shared/place.js';
import { isNarrow } from '../terminal/fit.js';
import { controls } from './controls.js';
import { downloadCast } from './download.js';
import { obeyKeys } from './keys.js';
import { Search, type Sought } from './search.js';
import { createStage, type ScreenStage } from './stage.js';
import { track } from './track.js';

/** Longest time of the clock that one frame of the page stands for, in milliseconds: it was hidden meanwhile. */
const MAX_TICK_MS = 250;
/** Before a marker that was just passed, one goes back to the one before it. */
const PASSED_MS = 1000;

export interface PlaybackViewOptions {
  readonly gateway: Gateway;
  readonly token: string;
  readonly place: Place;
  /** Seconds after the beginning. */
  readonly at: number;
  /** The gateway does not take the token. */
  refused(why: string): void;
  /** Each title that it gets. */
  titled(title: string): void;
}

export class PlaybackView {
  readonly element = h('section', { class: 'view playback', 'aria-label': 'History of a session', 'data-testid': 'playback' });
  readonly #options: PlaybackViewOptions;
  readonly #address: SessionAddress;
  readonly #closing = new AbortController();
  readonly #title = h('h1', { 'data-testid': 'title' });
  readonly #size = h('span', { 'data-testid': 'size' });
  readonly #status = h('p', { class: 'said', role: 'status', 'data-testid': 'said' });
  readonly #host = h('div', { class: 'terminal letterbox', role: 'group', 'aria-label': 'Terminal', 'data-testid': 'terminal' });
  readonly #track = track((at) => this.#seek(at));
  readonly #search: Search;
  readonly #controls;
  #stage: ScreenStage | undefined;
  #player: Player | undefined;
  #recording: Recording | undefined;
  #said: PlayerState | undefined;
  /** What a search has found, to be marked where it is seen. */
  #sought: Sought | undefined;
  #skips = true;

  constructor(options: PlaybackViewOptions) {
    const { place, token } = options;
    this.#options = options;
    this.#address = { url: sessionUrl(place.instanceId, place.sessionId), token };
    this.#search = new Search({
      address: this.#address,
      signal: this.#closing.signal,
      timeline: () => this.#recording?.timeline,
      position: () => this.#player?.position ?? 0,
      found: (hits) =>
        this.#track.marks(
          'found',
          hits.map(({ at, text }) => ({ at, text, kind: 'hit' })),
        ),
      show: (at, sought) => {
        this.#sought = sought;
        this.#player?.pause();
        this.#seek(at);
      },
      over: () => {
        this.#sought = undefined;
        this.#stage?.mark(undefined);
      },
    });
    this.#controls = controls(this.#actions(), this.#skips, this.#search.element);
    this.#showTitle(nameOf({ session_id: place.sessionId }));
    const stage = h('div', { class: 'stage' }, this.#host);
    this.element.append(
      this.#bar(),
      stage,
      h('div', { class: 'player', role: 'group', 'aria-label': 'Playback' }, this.#track.element, this.#controls.element, this.#status),
    );
    obeyKeys(this.element, { ...this.#actions(), ...this.#keyActions() }, this.#closing.signal);
  }

  /** To be called once the element is in the page, so that its size is known. */
  start(): void {
    const stage = createStage(this.#host, {
      small: (is) => this.#controls.small(is),
      sized: ({ cols, rows }) => {
        this.#size.textContent = `${cols} × ${rows}`;
      },
    });
    this.#stage = stage;
    // On a phone, most would be too small to be read.
    if (isNarrow()) this.#controls.readable(true);
    const watcher = new ResizeObserver(() => stage.screen.shrinkToFit());
    watcher.observe(this.#host);
    this.#closing.signal.addEventListener('abort', () => watcher.disconnect());
    void this.#open(stage);
  }

  focus(): void {
    this.#controls.play.focus();
  }

  named(name: string): void {
    this.element.setAttribute('aria-label', name);
    this.#search.element.setAttribute('aria-label', `Search in ${name}`);
  }

  dispose(): void {
    this.#closing.abort();
    this.#player?.close();
    this.#stage?.screen.dispose();
  }

  async #open(stage: ScreenStage): Promise<void> {
    const { gateway, place, at } = this.#options;
    const session = await gateway.session(place.instanceId, place.sessionId).catch(() => undefined);
    if (session) this.#showTitle(nameOf(session));
    const recording = await this.#read();
    if (!recording) return;
    this.#player = new Player(recording, stage);
    this.#setIdle();
    this.#player.seek(at * 1000);
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    if (at === 0 && !isCalm) this.#player.play();
    requestAnimationFrame((now) => this.#frame(now, now));
  }

  /** Undefined if it cannot be had: then that was said. */
  async #read(): Promise<Recording | undefined> {
    const { signal } = this.#closing;
    try {
      const recording = await openRecording(this.#address, signal);
      if (signal.aborted) return undefined;
      this.#recording = recording;
      this.#track.timeline(recording.timeline);
      this.#track.marks('happened', recording.timeline.markers);
      return recording;
    } catch (error) {
      if (!signal.aborted) this.#failed(error);
      return undefined;
    }
  }

  #failed(error: unknown): void {
    const known = error instanceof RecordingError ? error : undefined;
    if (known?.status === 401) this.#options.refused(known.message);
    this.#say(known?.message ?? 'Something went wrong on this page.');
  }

  #frame(before: number, now: number): void {
    const [player, recording] = [this.#player, this.#recording];
    if (this.#closing.signal.aborted || !player || !recording) return;
    player.tick(Math.min(now - before, MAX_TICK_MS));
    this.#show(player, recording.timeline);
    requestAnimationFrame((later) => this.#frame(now, later));
  }

  #show(player: Player, { duration, startedAt }: Timeline): void {
    const { position, state } = player;
    this.#track.position(position);
    this.#controls.position(position, duration, startedAt === undefined ? undefined : startedAt + position);
    this.#controls.playing(player.isOn);
    if (state === this.#said) return;
    this.#said = state;
    this.element.dataset.state = state;
    if (state === 'failed') this.#failed(player.trouble);
    else if (state === 'ended') this.#say('The end.');
    else if (state === 'playing') this.#goOn();
    if (state === 'paused' || state === 'ended') this.#rest(position);
  }

  #goOn(): void {
    this.#say('');
    this.#stage?.screen.toBottom();
  }

  /** The address is a link to this moment. */
  #rest(position: number): void {
    if (this.#sought) this.#stage?.mark(this.#sought);
    history.replaceState(null, '', fragmentOf({ ...this.#options.place, at: position / 1000 }));
  }

  /** What was said was of the moment that is left. */
  #seek(at: number): void {
    this.#player?.seek(at);
    this.#said = undefined;
    this.#say('');
  }

  /** A session that still runs has gone on meanwhile. */
  async #toggle(): Promise<void> {
    const player = this.#player;
    if (!player) return;
    if (player.isOn) return player.pause();
    const { duration } = this.#recording?.timeline ?? { duration: 0 };
    if (player.state === 'ended') {
      const recording = await this.#read();
      if (recording && recording.timeline.duration > duration) player.extend(recording);
    }
    player.play();
  }

  #actions() {
    return {
      toggle: () => void this.#toggle(),
      step: (by: 1 | -1) => {
        this.#player?.step(by);
        this.#said = undefined;
        this.#say('');
      },
      speed: (speed: number) => {
        if (this.#player) this.#player.speed = speed;
      },
      skip: (on: boolean) => {
        this.#skips = on;
        this.#setIdle();
      },
      readable: (on: boolean) => this.#stage?.screen.setReadable(on),
    };
  }

  #keyActions() {
    return {
      leap: (by: number) => this.#seek((this.#player?.position ?? 0) + by),
      marker: (by: 1 | -1) => this.#toMarker(by),
      start: () => this.#seek(0),
      end: () => this.#seek(this.#recording?.timeline.duration ?? 0),
      faster: (by: 1 | -1) => {
        if (!this.#player) return;
        this.#player.speed = otherSpeed(this.#player.speed, by);
        this.#controls.speed(this.#player.speed);
      },
      find: () => this.#search.focus(),
    };
  }

  #toMarker(by: 1 | -1): void {
    const { markers, duration } = this.#recording?.timeline ?? { markers: [], duration: 0 };
    const position = this.#player?.position ?? 0;
    const marker = by === 1 ? firstAfter(markers, position) : lastBefore(markers, position - PASSED_MS);
    this.#seek(marker?.at ?? (by === 1 ? duration : 0));
    this.#say(marker?.text ?? '');
  }

  #setIdle(): void {
    if (this.#player) this.#player.idleLimit = this.#skips ? IDLE_MS : Number.POSITIVE_INFINITY;
  }

  #say(words: string): void {
    this.#status.textContent = words;
  }

  #showTitle(name: string): void {
    this.#title.textContent = name;
    this.#options.titled(name);
  }

  #bar(): HTMLElement {
    const { at: _, ...live } = this.#options.place;
    const save = () =>
      downloadCast(this.#address, this.#title.textContent ?? '', this.#closing.signal).catch((error) => this.#failed(error));
    return h(
      'header',
      { class: 'bar' },
      h('a', { class: 'back', href: '#', 'aria-label': 'All sessions' }, '‹'),
      h('div', { class: 'heading' }, this.#title, h('span', { class: 'size' }, this.#size)),
      h(
        'button',
        { type: 'button', class: 'quiet', 'data-testid': 'download', title: 'As an asciicast, for asciinema', onclick: save },
        'Download',
      ),
      h('a', { class: 'live', href: fragmentOf(live), 'data-testid': 'live' }, 'Now'),
    );
  }
}
