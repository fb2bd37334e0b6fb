// Keeps a client connected: dials, waits and dials again, until an end that is final. Knows no frame of the session.
import type { GoodbyeReason } from '../errors.js';
import { Connection, type ConnectionEvents } from './connection.js';
import type { Heartbeat } from './pulse.js';
import { type ConnectionEnd, type EndReason, finalReason, type Retry, waitMs } from './retry.js';
import type { Dial, Target } from './socket.js';

/** A connection that has been live for so long, in milliseconds, takes the failures before it out of the count. */
const STABLE_MS = 5000;

/** A token, or how to get one that is fresh: it is asked for before each attempt. */
export type TokenSource = string | (() => string | Promise<string>);

export interface Ended {
  readonly name: 'ended';
  readonly reason: EndReason;
  /** The same in words that can be printed: where the gateway gave some, its own. */
  readonly message: string;
}

/** Where the client is. `attempt` counts the tries since it was last live, from 1. */
export type State =
  | { readonly name: 'connecting'; readonly attempt: number }
  | { readonly name: 'live' }
  | { readonly name: 'waiting'; readonly retryInMs: number; readonly attempt: number; readonly message: string }
  | Ended;

export interface LinkOptions {
  readonly dial: Dial;
  readonly target: Omit<Target, 'token'>;
  readonly token: TokenSource | undefined;
  readonly retry: Retry;
  readonly heartbeat: Heartbeat;
}

export interface LinkEvents extends Omit<ConnectionEvents, 'ended'> {
  state(state: State): void;
  /** A connection is gone; another may come. */
  lost(): void;
}

export class Link {
  readonly #options: LinkOptions;
  readonly #events: LinkEvents;
  #connection: Connection | undefined;
  #state: State = { name: 'connecting', attempt: 1 };
  #failures = 0;
  #liveSince: number | undefined;
  #everLive = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #held = false;

  constructor(options: LinkOptions, events: LinkEvents) {
    this.#options = options;
    this.#events = events;
  }

  get state(): State {
    return this.#state;
  }

  get connection(): Connection | undefined {
    return this.#connection;
  }

  /** Tries now, whatever it was waiting for. */
  async connect(): Promise<void> {
    if (this.#isOver() || this.#connection) return;
    clearTimeout(this.#timer);
    this.#become({ name: 'connecting', attempt: this.#failures + 1 });
    const token = await this.#freshToken();
    if (!this.#isOver() && !this.#connection) this.#dial(token);
  }

  /** Stops reading for a while, on this connection and those after it. */
  hold(on: boolean): void {
    this.#held = on;
    this.#connection?.hold(on);
  }

  /** The client has all it missed. */
  live(): void {
    this.#everLive = true;
    this.#liveSince = Date.now();
    this.#become({ name: 'live' });
  }

  /** Ends it for good. */
  end(reason: EndReason, message: string): void {
    if (this.#isOver()) return;
    clearTimeout(this.#timer);
    this.#become({ name: 'ended', reason, message });
    this.#connection?.close();
  }

  #isOver(): boolean {
    return this.#state.name === 'ended';
  }

  #become(state: State): void {
    this.#state = state;
    this.#events.state(state);
  }

  async #freshToken(): Promise<string | undefined> {
    const { token } = this.#options;
    try {
      return typeof token === 'function' ? await token() : token;
    } catch (error) {
      this.end('unauthenticated', `no token could be got: ${(error as Error).message}`);
      return undefined;
    }
  }

  #dial(token: string | undefined): void {
    const { dial, target, heartbeat } = this.#options;
    try {
      this.#connection = new Connection(dial, { ...target, token }, heartbeat, this.#connectionEvents());
      this.#connection.hold(this.#held);
    } catch (error) {
      const expected = 'expected ws(s)://<host>/agents/<instance>/sessions/<session>/attach';
      this.end('refused', `${target.url || 'an empty url'} cannot be connected to (${(error as Error).message}); ${expected}`);
    }
  }

  #connectionEvents(): ConnectionEvents {
    return { ...this.#events, ended: (end) => this.#lost(end) };
  }

  #lost(end: ConnectionEnd): void {
    this.#connection = undefined;
    this.#events.lost();
    if (this.#isOver()) return;
    this.#countFailure();
    const { attempts, attemptsBeforeLive } = this.#options.retry;
    const exhausted = this.#failures >= (this.#everLive ? attempts : attemptsBeforeLive);
    const reason = finalReason(end) ?? (exhausted ? 'unreachable' : undefined);
    if (reason) this.end(reason, describe(end));
    else this.#wait(end);
  }

  #countFailure(): void {
    const stable = this.#liveSince !== undefined && Date.now() - this.#liveSince >= STABLE_MS;
    this.#liveSince = undefined;
    this.#failures = stable ? 1 : this.#failures + 1;
  }

  #wait(end: ConnectionEnd): void {
    const retryInMs = waitMs(end, this.#failures, this.#options.retry, Math.random());
    this.#timer = setTimeout(() => void this.connect(), retryInMs);
    this.#become({ name: 'waiting', retryInMs, attempt: this.#failures, message: describe(end) });
  }
}

/** Of each way in which a gateway says goodbye. */
const goodbyeWords: Readonly<Record<GoodbyeReason, string>> = {
  server_shutdown: 'the gateway is shutting down',
  session_closed: 'the session has ended',
  principal_revoked: 'access to this session was taken away',
  rate_limited: 'the gateway is asked for too much',
  other: 'the gateway has ended the connection',
};

function describe({ message, goodbye }: ConnectionEnd): string {
  if (!goodbye) return message;
  const { reason, detail } = goodbye;
  if (reason === 'session_closed' && detail === 'left') return 'this client has left the session';
  const words = goodbyeWords[reason] ?? goodbyeWords.other;
  return detail ? `${words} (${detail.replaceAll('_', ' ')})` : words;
}
