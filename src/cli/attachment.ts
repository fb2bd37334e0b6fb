// A person's terminal joined to a session: what is typed goes there, what is printed comes here, and every change is told in a line.
// Knows no option and no address.
import { constants } from 'node:os';
import type { Assigned, Ended, Size, State, TerminalClient } from '../client/node.js';
import type { Closed } from '../protocol/frames.js';
import { HAS_ENDED } from '../protocol/names.js';
import { DetachFilter, type DetachKeys } from './detach-keys.js';
import { type Display, PlainDisplay } from './display.js';
import { exits } from './failure.js';
import { endInWords } from './joining.js';
import { LocalTerminal, type Streams } from './local-terminal.js';
import { Notices } from './notices.js';
import { pansIn } from './panning.js';
import { typeAll } from './typing.js';
import type { WindowEvents } from './window-display.js';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;
const CTRL_C = 0x03;
const CTRL_Z = 0x1a;
const ESCAPE = 0x1b;
/** After the end of what is piped in, a session that prints nothing for so long, in milliseconds, is left. */
const QUIET_MS = 5000;
const DETACHED = 'detached; the session goes on';
const DETACHED_OFFLINE = 'detached without a connection; the session may go on';

export interface AttachmentOptions {
  readonly streams: Streams;
  readonly detachKeys: DetachKeys;
  /** Whether what is piped in asks for control when others have it. */
  readonly asks: boolean;
  /** The window's size, for the client. */
  connect(size: Size | undefined): TerminalClient;
  /** What a session that has ended shows, as text. */
  lastScreen(): Promise<string>;
}

export class Attachment {
  readonly #client: TerminalClient;
  readonly #terminal: LocalTerminal;
  readonly #display: Display;
  readonly #notices: Notices;
  readonly #streams: Streams;
  readonly #detachKeys: DetachKeys;
  readonly #asks: boolean;
  readonly #keys: DetachFilter;
  readonly #undo: Array<() => void> = [];
  #everLive = false;
  #hadControl = false;
  /** Whether there was a connection when this person went. */
  #wasLive = false;
  #toldTooSmall: string | undefined;
  /** Why control was not given. */
  #why = '';
  /** The session had ended before: its end is all there is to tell. */
  #hadEnded = false;
  #exitCode: number | undefined;
  readonly #lastScreen: () => Promise<string>;
  /** Whether the session has printed anything here. */
  #hasPrinted = false;

  private constructor(
    { streams, detachKeys, asks, connect, lastScreen }: AttachmentOptions,
    terminal: LocalTerminal,
    display: MakeDisplay,
  ) {
    this.#streams = streams;
    this.#detachKeys = detachKeys;
    this.#asks = asks;
    this.#lastScreen = lastScreen;
    this.#terminal = terminal;
    this.#client = connect(terminal.size);
    this.#display = display(terminal, { lost: () => this.#client.requestKeyframe() });
    this.#notices = new Notices(this.#display);
    this.#keys = new DetachFilter(detachKeys, {
      typed: (bytes) => this.#type(bytes),
      detach: () => this.#detach(),
      suspend: () => this.#suspend(),
    });
  }

  /** Resolves with the exit code for this process, when it is over. */
  static async run(options: AttachmentOptions): Promise<number> {
    const terminal = new LocalTerminal(options.streams);
    return await new Attachment(options, terminal, await displayFor(terminal)).#run();
  }

  async #run(): Promise<number> {
    this.#listen();
    this.#readKeys();
    this.#obeySignals();
    const ended = await this.#client.ended;
    this.#finish();
    if (this.#exitCode !== undefined) return this.#exitCode;
    await this.#printLastScreen();
    return this.#tellTheEnd(ended);
  }

  #listen(): void {
    const client = this.#client;
    client.on('state', (state) => this.#showState(state));
    client.on('output', (bytes) => {
      this.#hasPrinted = true;
      this.#display.output(bytes);
    });
    client.on('keyframe', (picture) => this.#display.picture(picture));
    client.on('resize', (size) => this.#sessionResized(size));
    client.on('role', (assigned) => this.#showRole(assigned));
    client.on('notice', ({ kind, after }) => this.#tell(`${kind.replaceAll('_', ' ')}: output after frame ${after ?? 0} was missed`));
    client.on('error', ({ message }) => this.#tell(message));
  }

  #showState(state: State): void {
    const tail = this.#wayOut;
    if (state.name === 'live') {
      this.#notices.release();
      if (!this.#everLive && !this.#hadEnded) this.#welcome();
      this.#everLive = true;
    } else if (state.name === 'waiting') {
      const line = (seconds: number) => ({ text: state.message, tail: `next try in ${seconds} s; ${tail}` });
      this.#notices.countDown(state.retryInMs, line);
    } else if (state.name === 'connecting' && state.attempt > 1) this.#notices.hold({ text: 'connecting again', tail });
  }

  #welcome(): void {
    const doing = this.#client.role === 'controller' ? 'attached with control' : `watching${this.#why}`;
    const words = this.#tooSmall();
    this.#tell(words ? `${doing}; ${words}` : doing, this.#wayOut);
  }

  /** From a pipe, what comes in is typed, the detach keys too. */
  get #wayOut(): string {
    return this.#streams.stdin.isTTY ? `${this.#detachKeys.name} detaches` : 'ctrl-C detaches';
  }

  /** Whose control was taken away types on into nothing, so that line stays until a key. */
  #showRole({ role, downgraded, reason }: Assigned): void {
    const had = this.#hadControl;
    this.#hadControl = role === 'controller';
    this.#hadEnded = reason === HAS_ENDED;
    this.#why = downgraded ? ` only: ${reason ?? 'control was not given'}` : '';
    const stillControls = had && role === 'controller';
    if (!this.#everLive || stillControls) return;
    if (role === 'controller') this.#tell('you have control');
    else if (had) this.#notices.tell({ text: `control was taken from you; you are watching${this.#why}` }, 'until a key');
    else this.#tell(`watching${this.#why}`);
  }

  #tell(text: string, tail?: string): void {
    this.#notices.tell({ text, tail });
  }

  #sessionResized(size: Size): void {
    this.#display.sessionResized(size);
    this.#tellIfTooSmall();
  }

  #tellIfTooSmall(): void {
    const words = this.#tooSmall();
    if (words && words !== this.#toldTooSmall && this.#everLive)
      this.#tell('you see the part around the cursor, and arrow keys another', words);
    this.#toldTooSmall = words;
  }

  /** Controllers' windows are followed, so only who watches can have one that is too small. */
  #tooSmall(): string | undefined {
    const { size: window } = this.#terminal;
    const { size: session, role } = this.#client;
    if (!window || !session || role === 'controller' || (window.cols >= session.cols && window.rows >= session.rows)) return undefined;
    return `the session is ${session.cols}×${session.rows}, your window ${window.cols}×${window.rows}`;
  }

  #readKeys(): void {
    const { stdin } = this.#streams;
    if (!this.#terminal.isKeyboard) {
      const options = { asks: this.#asks, tell: (text: string) => this.#tell(text) };
      void typeAll(stdin, this.#client, options).then((bytes) => bytes > 0 && this.#leaveWhenQuiet());
      return;
    }
    const take = (bytes: Uint8Array) => this.#keys.take(bytes);
    stdin.on('data', take);
    this.#undo.push(() => stdin.off('data', take));
  }

  /** All that was piped in is typed: when nothing more comes of it, this is over. Who piped in nothing wants to watch. */
  #leaveWhenQuiet(): void {
    const leave = () => this.#client.state.name === 'live' && this.#detach();
    let timer = setTimeout(leave, QUIET_MS);
    const restart = () => {
      clearTimeout(timer);
      timer = setTimeout(leave, QUIET_MS);
    };
    this.#undo.push(this.#client.on('output', restart), this.#client.on('state', restart), () => clearTimeout(timer));
  }

  /** What begins with an escape may be this terminal's own answer, and tells nothing of the person. */
  #type(bytes: Uint8Array): void {
    const isKey = bytes[0] !== ESCAPE;
    if (isKey) this.#notices.key();
    if (this.#client.input(bytes) || this.#client.role !== 'observer') return;
    // Who only watches has no program to interrupt.
    if (bytes[0] === CTRL_C) this.#detach();
    else if (bytes[0] === CTRL_Z) this.#suspend();
    else if (isKey) this.#welcome();
    else this.#pan(bytes);
  }

  /** Escape alone, and what is no such key, follows the cursor again. */
  #pan(bytes: Uint8Array): void {
    for (const pan of pansIn(bytes) ?? [undefined]) this.#display.pan(pan);
  }

  #detach(): void {
    this.#wasLive = this.#client.state.name === 'live';
    this.#exitCode = 0;
    void this.#client.leave();
  }

  #obeySignals(): void {
    for (const signal of SIGNALS) this.#on(process, signal, () => this.#stop(128 + constants.signals[signal]));
    this.#on(process, 'SIGCONT', () => {
      this.#terminal.reopen();
      this.#display.repaint();
    });
    process.on('SIGTSTP', this.#suspend);
    this.#undo.push(() => process.off('SIGTSTP', this.#suspend));
    // It stays until the process ends: what is still on its way to a reader that is gone fails later.
    this.#streams.stdout.on('error', () => this.#stop(128 + constants.signals.SIGPIPE));
    this.#on(this.#streams.stdout, 'resize', () => {
      const { size } = this.#terminal;
      if (size) this.#client.resize(size);
      this.#display.windowResized();
      this.#tellIfTooSmall();
    });
  }

  /** As ^Z does: the whole job stops here, with the terminal as it was, and goes on when the shell says so. */
  readonly #suspend = (): void => {
    if (this.#terminal.isOpen) this.#display.suspend();
    process.off('SIGTSTP', this.#suspend);
    process.kill(0, 'SIGTSTP');
    process.on('SIGTSTP', this.#suspend);
    this.#terminal.open();
    this.#display.repaint();
  };

  #on(emitter: NodeJS.EventEmitter, name: string, listener: () => void): void {
    emitter.on(name, listener);
    this.#undo.push(() => emitter.off(name, listener));
  }

  #stop(exitCode: number): void {
    this.#wasLive = this.#client.state.name === 'live';
    this.#exitCode = exitCode;
    this.#client.close();
  }

  #finish(): void {
    this.#notices.clear();
    this.#keys.stop();
    for (const undo of this.#undo) undo();
    this.#display.close();
    if (this.#terminal.isKeyboard) this.#streams.stdin.pause();
    else this.#streams.stdin.destroy();
    if (this.#exitCode !== undefined) this.#terminal.say(this.#wasLive ? DETACHED : DETACHED_OFFLINE);
  }

  /** Where there is no terminal to draw on, one that had ended before would show nothing. */
  async #printLastScreen(): Promise<void> {
    if (this.#terminal.isScreen || this.#hasPrinted || !this.#client.closed) return;
    const text = await this.#lastScreen().catch(() => '');
    if (text.trim() !== '') this.#streams.stdout.write(text);
  }

  #tellTheEnd(ended: Ended): number {
    const { closed } = this.#client;
    if (ended.reason !== 'session_closed' || !closed) {
      this.#terminal.say(endInWords(ended));
      return exits.failedElse;
    }
    const signal = signalOf(closed);
    const words = signal ? `killed by ${closed.detail}` : closed.reason.replaceAll('_', ' ');
    this.#terminal.say(`the session has ended: ${closed.exit_code === null ? words : `exit code ${closed.exit_code}`}`);
    return closed.exit_code ?? (signal ? 128 + signal : exits.failedElse);
  }
}

/** The number of the signal that ended the program, if nobody ended the session (protocol R10). */
function signalOf({ reason, detail = '' }: Closed): number | undefined {
  return reason === 'killed' ? (constants.signals as Record<string, number>)[detail] : undefined;
}

type MakeDisplay = (terminal: LocalTerminal, events: WindowEvents) => Display;

/** An emulator is loaded only where there is a screen to draw on. */
async function displayFor({ isScreen }: LocalTerminal): Promise<MakeDisplay> {
  if (!isScreen) return (terminal) => new PlainDisplay(terminal);
  const { WindowDisplay } = await import('./window-display.js');
  return (terminal, events) => new WindowDisplay(terminal, events);
}
