// A person's terminal joined to a session: what is typed goes there, what is printed comes here, and every change is told in a line.
// Knows no option and no address.
import { constants } from 'node:os';
import type { Assigned, Ended, Picture, Size, State, TerminalClient } from '../client/node.js';
import { HOW_TO_GET_A_TOKEN } from './address.js';
import { DetachFilter, type DetachKeys } from './detach-keys.js';
import { LocalTerminal, type Streams } from './local-terminal.js';
import { QueryFilter } from './terminal-queries.js';
import { typeAll } from './typing.js';

/** Exit code when the session did not end by itself: it cannot be mistaken for most programs' own. */
export const EXIT_FAILURE = 255;
/** How long a line for the person covers the last row, in milliseconds. */
const NOTICE_MS = 3000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
const CTRL_C = 0x03;
const ESCAPE = 0x1b;

export interface AttachmentOptions {
  readonly streams: Streams;
  readonly detachKeys: DetachKeys;
  /** The window's size, for the client. */
  connect(size: Size | undefined): TerminalClient;
}

export class Attachment {
  readonly #client: TerminalClient;
  readonly #terminal: LocalTerminal;
  readonly #streams: Streams;
  readonly #detachKeys: DetachKeys;
  readonly #queries = new QueryFilter();
  readonly #keys: DetachFilter;
  readonly #undo: Array<() => void> = [];
  #noticeTimer: ReturnType<typeof setTimeout> | undefined;
  #everLive = false;
  #toldTooSmall = '';
  /** Why control was not given. */
  #why = '';
  #exitCode: number | undefined;

  constructor({ streams, detachKeys, connect }: AttachmentOptions) {
    this.#streams = streams;
    this.#detachKeys = detachKeys;
    this.#terminal = new LocalTerminal(streams);
    this.#client = connect(this.#terminal.size);
    this.#keys = new DetachFilter(detachKeys, { typed: (bytes) => this.#type(bytes), detach: () => this.#detach() });
  }

  /** Resolves with the exit code for this process. */
  async run(): Promise<number> {
    this.#listen();
    this.#readKeys();
    this.#obeySignals();
    const ended = await this.#client.ended;
    this.#finish();
    return this.#exitCode ?? this.#tellTheEnd(ended);
  }

  #listen(): void {
    const client = this.#client;
    client.on('state', (state) => this.#showState(state));
    client.on('output', (bytes, _sequence, replayed) => this.#print(bytes, replayed));
    client.on('keyframe', (picture) => this.#paint(picture));
    client.on('resize', () => this.#tellIfTooSmall());
    client.on('role', (assigned) => this.#showRole(assigned));
    client.on('notice', ({ kind, after }) => this.#notice(`${kind.replaceAll('_', ' ')}: output after frame ${after ?? 0} was missed`));
    client.on('error', ({ message }) => this.#notice(message));
  }

  #showState(state: State): void {
    if (state.name === 'live') {
      if (!this.#everLive) this.#notice(this.#welcome());
      this.#everLive = true;
    } else if (state.name === 'waiting') {
      this.#notice(`${state.message}; next try in ${Math.ceil(state.retryInMs / 1000)} s (${this.#detachKeys.name} detaches)`);
    }
  }

  #welcome(): string {
    const doing = this.#client.role === 'controller' ? 'attached with control' : `watching${this.#why}`;
    return `${doing}; ${this.#detachKeys.name} detaches${this.#tooSmall()}`;
  }

  #showRole({ role, downgraded, reason }: Assigned): void {
    this.#why = downgraded ? ` only: ${reason ?? 'control was not given'}` : '';
    if (this.#everLive) this.#notice(role === 'controller' ? 'you have control' : `watching${this.#why}`);
  }

  /** The terminal is taken over when there is something to show: a refusal is read on an untouched one. */
  #print(bytes: Uint8Array, replayed: boolean): void {
    this.#terminal.open();
    // This terminal would answer old questions again, and the answers would be typed.
    if (replayed && this.#terminal.isScreen) this.#terminal.write(this.#queries.take(bytes));
    else this.#terminal.write(Buffer.concat([this.#queries.end(), bytes]));
  }

  /** One that may be ignored is painted too: it wipes the lines for the person. Without a screen there is nothing to restore. */
  #paint({ snapshot }: Picture): void {
    if (!this.#terminal.isScreen) return;
    this.#terminal.open();
    this.#terminal.write(this.#queries.end());
    this.#terminal.write(snapshot);
  }

  #notice(text: string): void {
    this.#terminal.notice(text);
    clearTimeout(this.#noticeTimer);
    if (this.#terminal.isScreen) this.#noticeTimer = setTimeout(() => this.#wipe(), NOTICE_MS);
  }

  /** While there is no connection the line stays: the Keyframe of the next one wipes it. */
  #wipe(): void {
    if (this.#client.state.name === 'live') this.#client.requestKeyframe();
  }

  #tellIfTooSmall(): void {
    const words = this.#tooSmall();
    if (words && words !== this.#toldTooSmall && this.#everLive) this.#notice(`your window is too small${words}`);
    this.#toldTooSmall = words;
  }

  /** Controllers' windows are followed, so only who watches can have one that is too small. */
  #tooSmall(): string {
    const { size: window } = this.#terminal;
    const { size: session, role } = this.#client;
    if (!window || !session || role === 'controller' || (window.cols >= session.cols && window.rows >= session.rows)) return '';
    return `; the session is ${session.cols}×${session.rows}, your window ${window.cols}×${window.rows}`;
  }

  #readKeys(): void {
    const { stdin } = this.#streams;
    if (!this.#terminal.isKeyboard) {
      void typeAll(stdin, this.#client, (text) => this.#notice(text));
      return;
    }
    const take = (bytes: Uint8Array) => this.#keys.take(bytes);
    stdin.on('data', take);
    this.#undo.push(() => stdin.off('data', take));
  }

  #type(bytes: Uint8Array): void {
    if (this.#client.input(bytes) || this.#client.role !== 'observer') return;
    // Who only watches has no program to interrupt. What begins with an escape may be this terminal's own answer.
    if (bytes[0] === CTRL_C) this.#detach();
    else if (bytes[0] !== ESCAPE) this.#notice(this.#welcome());
  }

  #detach(): void {
    this.#exitCode = 0;
    void this.#client.leave();
  }

  #obeySignals(): void {
    for (const signal of SIGNALS) this.#on(process, signal, () => this.#stop(128 + constants.signals[signal]));
    this.#on(process, 'SIGCONT', () => {
      this.#terminal.reopen();
      this.#wipe();
    });
    // It stays until the process ends: what is still on its way to a reader that is gone fails later.
    this.#streams.stdout.on('error', () => this.#stop(128 + constants.signals.SIGPIPE));
    this.#on(this.#streams.stdout, 'resize', () => {
      const { size } = this.#terminal;
      if (size) this.#client.resize(size);
      this.#tellIfTooSmall();
    });
  }

  #on(emitter: NodeJS.EventEmitter, name: string, listener: () => void): void {
    emitter.on(name, listener);
    this.#undo.push(() => emitter.off(name, listener));
  }

  #stop(exitCode: number): void {
    this.#exitCode = exitCode;
    this.#client.close();
  }

  #finish(): void {
    clearTimeout(this.#noticeTimer);
    this.#keys.stop();
    for (const undo of this.#undo) undo();
    this.#terminal.close();
    if (this.#terminal.isKeyboard) this.#streams.stdin.pause();
    else this.#streams.stdin.destroy();
    if (this.#exitCode !== undefined) this.#terminal.say('detached; the session goes on');
  }

  #tellTheEnd({ reason, message }: Ended): number {
    const { closed } = this.#client;
    if (reason !== 'session_closed' || !closed) {
      this.#terminal.say(inWords[reason](message));
      return EXIT_FAILURE;
    }
    const how = closed.exit_code === null ? closed.reason.replaceAll('_', ' ') : `exit code ${closed.exit_code}`;
    this.#terminal.say(`the session has ended: ${how}`);
    return closed.exit_code ?? EXIT_FAILURE;
  }
}

/** What the end of a client means to a person, and what to do about it. */
const inWords: Readonly<Record<Ended['reason'], (message: string) => string>> = {
  session_closed: () => 'the session has ended',
  left: (message) => message,
  stopped: (message) => message,
  unauthenticated: (message) => `the token is not taken: ${message}; ${HOW_TO_GET_A_TOKEN}`,
  forbidden: (message) => `this is not allowed: ${message}`,
  gone: (message) => `${message}; \`pty-gateway sessions\` lists those that there are`,
  refused: (message) => `the gateway does not take this: ${message}`,
  unreachable: (message) => message,
};
