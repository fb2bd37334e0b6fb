// One attachment with the product's client, which keeps the number of every Output that came over the wire, and reads the lines that the client
// gave. Knows no balancer and no fault.
import { WebSocket } from 'ws';
import {
  type ClientEvents,
  connect,
  type Ended,
  type Fault,
  type Notice,
  type State,
  type TerminalClient,
  type WebSocketClass,
} from '../../src/client/index.js';
import { decode } from '../../src/client/messages.js';
import { crc32 } from '../../src/log/embedded/crc32.js';
import type { PtyError } from '../../src/protocol/frames.js';
import { Lines, noWrongs } from './lines.js';

/** What all who watch one session have been shown: number → checksum. */
export class Agreed {
  readonly outputs = new Map<number, number>();
  /** Numbers under which two were shown different bytes. */
  differing = 0;

  shown(sequence: number, bytes: Uint8Array): void {
    const sum = crc32(bytes);
    const before = this.outputs.get(sequence);
    if (before === undefined) this.outputs.set(sequence, sum);
    else if (before !== sum) this.differing++;
  }
}

/** Lines of a witness's story that are kept. */
const STORY_LINES = 60;

export class Witness {
  readonly lines = new Lines();
  /** In frames. What is lost is known when the session is over. */
  readonly wrongs = noWrongs();
  /** Milliseconds from a cut until all that was missed was there. */
  readonly gaps: number[] = [];
  /** Milliseconds between two outputs, where it was longer than `silenceMs`. */
  readonly silences: number[] = [];
  /** What has happened to it, with the times; to be told if anything was wrong. */
  readonly story: string[] = [];
  /** What was said that should not be, with the time. */
  readonly complaints: string[] = [];
  /** How often it was told that it has missed something, and was given a Keyframe. */
  lags = 0;
  readonly #agreed: Agreed;
  readonly #silenceMs: number;
  readonly #numbers = new Set<number>();
  readonly #client: TerminalClient;
  #last = 0;
  #cutAt: number | undefined;
  #outputAt: number | undefined;
  #wasLive = false;
  closed = 0;
  connections = 0;

  constructor(url: string, token: string, agreed: Agreed, silenceMs: number) {
    this.#agreed = agreed;
    this.#silenceMs = silenceMs;
    const reconnect = { attemptsBeforeLive: 1000 };
    this.#client = connect({ url, token, role: 'observer', replayFrom: 0, reconnect, WebSocket: tapped((data) => this.#wire(data)) });
    const events: Partial<ClientEvents> = {
      state: (state) => this.#state(state),
      output: (bytes) => this.#output(bytes),
      closed: () => void this.closed++,
      notice: ({ kind, message }) => this.#notice(kind, message),
      error: (error) => this.#error(error),
    };
    for (const [name, listener] of Object.entries(events)) this.#client.on(name as keyof ClientEvents, listener as never);
  }

  get ended(): Promise<Ended> {
    return this.#client.ended;
  }

  /** Outputs that came. */
  get frames(): number {
    return this.#numbers.size;
  }

  get state(): State {
    return this.#client.state;
  }

  /** When all who watched the session have its end: counts what this one was not shown. */
  countLost(): void {
    const lost = [...this.#agreed.outputs.keys()].filter((sequence) => !this.#numbers.has(sequence));
    this.wrongs.lost = lost.length;
    if (lost.length > 0) this.#tell(`was not shown ${lost.length} of the frames ${Math.min(...lost)}…${Math.max(...lost)}`);
  }

  stop(): void {
    this.#client.close();
  }

  #wire(data: string | Uint8Array): void {
    const message = decode(data);
    if (message.type !== 'frame' || message.frame.kind !== 'Output') return;
    const { sequence } = message;
    if (this.#numbers.has(sequence)) this.#wrong('doubled', sequence);
    else if (sequence < this.#last) this.#wrong('outOfOrder', sequence);
    this.#last = Math.max(this.#last, sequence);
    this.#numbers.add(sequence);
    this.#agreed.shown(sequence, message.frame.bytes);
  }

  #wrong(what: 'doubled' | 'outOfOrder', sequence: number): void {
    this.wrongs[what]++;
    this.#tell(`${what}: ${sequence}, after ${this.#last}`);
  }

  /** The newest lines of its life are kept. */
  #tell(words: string): void {
    this.story.push(`${new Date().toISOString()} ${words}, on its connection ${this.connections}`);
    if (this.story.length > STORY_LINES) this.story.shift();
  }

  /** The client shows nothing until the Keyframe; the frames are counted all the same. */
  #notice(kind: Notice['kind'], message: string): void {
    this.lines.hole();
    this.#tell(`${kind} after ${this.#last}`);
    if (kind === 'lagged') this.lags++;
    else this.#complain(`${kind}: ${message}`);
  }

  /** One that says "try again" is followed. */
  #error(error: Fault | PtyError): void {
    if (!('retryable' in error && error.retryable)) this.#complain(`${error.code}: ${error.message}`);
  }

  #complain(words: string): void {
    this.complaints.push(`${new Date().toISOString()} ${words}`);
  }

  #output(bytes: Uint8Array): void {
    const now = performance.now();
    if (this.#outputAt !== undefined && now - this.#outputAt > this.#silenceMs) this.silences.push(now - this.#outputAt);
    this.#outputAt = now;
    this.lines.take(Buffer.from(bytes).toString('latin1'));
  }

  #state(state: State): void {
    const { name } = state;
    this.#tell(`${name} after ${this.#last}${'message' in state ? ` (${state.message})` : ''}`);
    if (name === 'ended' && !expectedEnds.includes(state.reason)) this.#complain(`${state.reason}: ${state.message}`);
    if (name === 'connecting') this.connections++;
    if (name === 'waiting' && this.#wasLive) this.#cutAt ??= performance.now();
    if (name !== 'live') return;
    if (this.#cutAt !== undefined) this.gaps.push(performance.now() - this.#cutAt);
    this.#cutAt = undefined;
    this.#wasLive = true;
  }
}

const expectedEnds: readonly string[] = ['session_closed', 'stopped'];

/** The WebSocket of `ws`, which shows every message to somebody else before the client reads it. */
function tapped(see: (data: string | Uint8Array) => void): WebSocketClass {
  class Tapped extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols, { perMessageDeflate: false });
      this.on('message', (data, isBinary) => see(isBinary ? new Uint8Array(data as ArrayBuffer) : data.toString()));
    }

    /** What still comes over a connection that the client has given up is not its own any more. */
    override close(...how: Parameters<WebSocket['close']>): void {
      this.removeAllListeners('message');
      super.close(...how);
    }
  }
  return Tapped as unknown as WebSocketClass;
}
