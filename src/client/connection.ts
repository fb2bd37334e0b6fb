// One connection, from the dial to its end: who asked what, and whether the peer is still there. Knows no screen and does not come back.
import { type ErrorCode, errorTable, Fault, type GoodbyeReason } from '../errors.js';
import { encodeInput } from '../protocol/binary-codec.js';
import { BINARY_SUBPROTOCOL } from '../protocol/names.js';
import { toBase64 } from './base64.js';
import { newId } from './ids.js';
import { decode, type Envelope, type Payload, type SessionFrame } from './messages.js';
import { type Heartbeat, Pulse } from './pulse.js';
import type { ConnectionEnd } from './retry.js';
import type { Dial, Socket, Target } from './socket.js';

/** From the dial to the hello, in milliseconds. */
const HELLO_MS = 15_000;
/** Requests that may be waiting for their answers. */
const MAX_PENDING = 256;
/** Bytes typed in one frame. */
const INPUT_BYTES = 16_384;

export interface Hello {
  readonly session: { readonly session_id: string; readonly current_sequence: number };
  readonly [key: string]: unknown;
}

export interface ConnectionEvents {
  hello(hello: Hello): void;
  frame(sequence: number, frame: SessionFrame): void;
  /** What the gateway begins that is no frame of the session. */
  told(op: string, payload: Payload): void;
  /** An Error that answers none of the requests that are waiting. */
  fault(fault: Fault, requestId?: string): void;
  /** Once, last. */
  ended(end: ConnectionEnd): void;
}

/** What an envelope may carry beside its payload (pty-ws §3). */
export interface Extra {
  readonly replay_from?: number;
  readonly service_parameters?: Payload;
  readonly extensions?: readonly string[];
}

export interface RequestOptions {
  readonly extra?: Extra;
  /** Stops waiting, with its reason; what was asked is not taken back. */
  readonly signal?: AbortSignal;
  /** Called in the turn in which the answer arrives, before the frames that follow it. */
  answered?(payload: Payload): void;
}

interface Pending {
  readonly op: string;
  answered(payload: Payload): void;
  failed(why: unknown): void;
}

/** Throws what the dial throws: nothing was begun then. */
export class Connection {
  readonly #target: Target;
  readonly #events: ConnectionEvents;
  readonly #socket: Socket;
  readonly #pending = new Map<string, Pending>();
  readonly #heartbeat: Heartbeat;
  /** A peer that is gone without a word is noticed here: browsers show nobody the pings of the WebSocket. Undefined until the socket is open. */
  #pulse: Pulse | undefined;
  readonly #helloTimer: ReturnType<typeof setTimeout>;
  #open = false;
  #over = false;
  #greeted = false;
  #held = false;
  #paused = false;
  #goodbye: ConnectionEnd['goodbye'];

  constructor(dial: Dial, target: Target, heartbeat: Heartbeat, events: ConnectionEvents) {
    this.#target = target;
    this.#heartbeat = heartbeat;
    this.#events = events;
    this.#socket = dial(target, {
      opened: () => this.#opened(),
      message: (data) => this.#receive(data),
      closed: (end) => this.#end(end),
    });
    this.#helloTimer = setTimeout(() => this.drop('the gateway said no hello in time'), HELLO_MS);
  }

  /** Returns the id of the request. Nothing is sent once the connection is at its end. */
  send(op: string, payload: Payload, extra: Extra = {}): string {
    const id = newId();
    this.#transmit(JSON.stringify({ op, id, ts: new Date().toISOString(), payload, ...extra }));
    return id;
  }

  /**
   * Resolves with the answer's payload; rejects with the Fault that the gateway names, with a retryable INTERNAL when the connection ends first, or with
   * the reason of the signal.
   */
  request(op: string, payload: Payload, { extra, signal, answered }: RequestOptions = {}): Promise<Payload> {
    if (this.#over) return Promise.reject(connectionLost());
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#pending.size >= MAX_PENDING) {
      return Promise.reject(new Fault('RATE_LIMITED', `${MAX_PENDING} requests are waiting for their answers already`));
    }
    const id = this.send(op, payload, extra);
    const abort = () => this.#settle(id)?.failed(signal?.reason);
    signal?.addEventListener('abort', abort);
    return this.#answerTo(id, op, answered).finally(() => signal?.removeEventListener('abort', abort));
  }

  #answerTo(id: string, op: string, answered: RequestOptions['answered']): Promise<Payload> {
    return new Promise((resolve, failed) => {
      const take = (answer: Payload) => {
        answered?.(answer);
        resolve(answer);
      };
      this.#pending.set(id, { op, answered: take, failed });
      this.#flow();
    });
  }

  /** Stops reading, where the platform can do that, until it is released: the gateway then waits, for as long as it hears no Pong from here. */
  hold(on: boolean): void {
    this.#held = on;
    this.#flow();
  }

  /** Who waits for the hello or for an answer reads on: it would never come. Silence says nothing about a peer that nobody listens to. */
  #flow(): void {
    const paused = this.#held && this.#greeted && this.#pending.size === 0;
    if (paused === this.#paused || this.#over || !this.#socket.pause) return;
    this.#paused = paused;
    this.#pulse?.stop();
    if (!paused) this.#startPulse();
    this.#socket.pause(paused);
  }

  /** Some requests are answered by a session frame, which names no request: the oldest of that op has its answer now. */
  answerOldest(op: string, payload: Payload): void {
    const oldest = [...this.#pending].find(([, pending]) => pending.op === op);
    if (oldest) this.#settle(oldest[0])?.answered(payload);
  }

  /** Types bytes, in frames of bounded size (pty-ext §6.3). */
  input(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += INPUT_BYTES) {
      const piece = bytes.subarray(at, at + INPUT_BYTES);
      if (this.#target.subprotocol === BINARY_SUBPROTOCOL) this.#transmit(encodeInput(piece));
      else this.send('pty.session_input', { data: toBase64(piece) });
    }
  }

  /** Ends it in order. */
  close(code = 1000): void {
    if (this.#open) this.#socket.close(code);
    else this.#socket.drop();
    this.#end({ code, message: 'closed by this client' });
  }

  /** Ends it at once: the peer may not be there any more. */
  drop(message: string): void {
    this.#socket.drop();
    this.#end({ code: 1006, message });
  }

  #opened(): void {
    if (this.#over) return;
    this.#open = true;
    this.#startPulse();
  }

  #startPulse(): void {
    this.#pulse = new Pulse(this.#heartbeat, {
      ask: () => void this.send('ping', { client_ts: new Date().toISOString() }),
      gone: () => this.drop('the network or the gateway has gone silent'),
    });
  }

  #transmit(data: string | Uint8Array): void {
    if (!this.#over) this.#socket.send(data);
  }

  #receive(data: string | Uint8Array): void {
    if (this.#over) return;
    this.#pulse?.heard();
    try {
      const message = decode(data);
      if (message.type === 'frame') this.#events.frame(message.sequence, message.frame);
      else this.#take(message.envelope);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      this.#events.fault(error);
    }
  }

  #take({ op, id, payload }: Envelope): void {
    if (op === 'binding_hello') {
      clearTimeout(this.#helloTimer);
      this.#greeted = true;
      this.#events.hello(payload as Hello);
      this.#flow();
    } else if (op === 'binding_goodbye') {
      this.#goodbye = payload as { reason: GoodbyeReason; detail?: string };
    } else if (op === 'Error') {
      this.#fail(id, asFault(payload));
    } else {
      const asked = this.#settle(id);
      if (asked) asked.answered(payload);
      else this.#events.told(op, payload);
    }
  }

  #fail(id: string, fault: Fault): void {
    const pending = this.#settle(id);
    if (pending) pending.failed(fault);
    else this.#events.fault(fault, id);
  }

  #settle(id: string): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    this.#flow();
    return pending;
  }

  #end(end: ConnectionEnd): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#helloTimer);
    this.#pulse?.stop();
    for (const pending of this.#pending.values()) pending.failed(connectionLost());
    this.#pending.clear();
    this.#events.ended({ ...end, ...(this.#goodbye && { goodbye: this.#goodbye }) });
  }
}

const connectionLost = () => new Fault('INTERNAL', 'the connection ended before the answer came', { retryable: true });

function asFault({ code, message, retryable }: Payload): Fault {
  const known = typeof code === 'string' && code in errorTable ? (code as ErrorCode) : 'INTERNAL';
  return new Fault(known, String(message), typeof retryable === 'boolean' ? { retryable } : {});
}
