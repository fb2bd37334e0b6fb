// The way out of one connection: frames, in the words of its client, to its socket; and when there is room for more. Knows no session.
import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import type { Fault } from '../errors.js';
import type { Codec, Extra, MessageOptions } from '../protocol/codec.js';
import type { ServerOp } from '../protocol/envelope.js';
import type { Frame } from '../protocol/frames.js';
import { HIGH_WATER_BYTES } from './limits.js';
import type { WireMessage } from './wire-message.js';

export class Outlet {
  readonly #ws: WebSocket;
  readonly #socket: Duplex;
  readonly #dialect: { readonly codec: Codec };
  readonly #refused: (fault: Fault) => void;
  #drained: Array<() => void> = [];
  /** Frames that were sent. */
  sentFrames = 0;

  /** `socket` is the one below the WebSocket; `dialect` says at any time how the client is spoken to; `refused` is told of each Error. */
  constructor(
    ws: WebSocket,
    socket: Duplex,
    dialect: { readonly codec: Codec },
    onDrain: () => void,
    refused: (fault: Fault) => void = () => {},
  ) {
    this.#ws = ws;
    this.#socket = socket;
    this.#dialect = dialect;
    this.#refused = refused;
    socket.on('drain', () => {
      this.#wake();
      onDrain();
    });
    ws.once('close', () => this.#wake());
  }

  get isOpen(): boolean {
    return this.#ws.readyState === WebSocket.OPEN;
  }

  /** Whether frames may be sent now; when not, `onDrain` follows (or the connection ends). */
  get hasRoom(): boolean {
    return this.isOpen && this.#ws.bufferedAmount < HIGH_WATER_BYTES;
  }

  /** Bytes that wait for the socket. */
  get waitingBytes(): number {
    return this.#ws.bufferedAmount;
  }

  get codec(): Codec {
    return this.#dialect.codec;
  }

  frame(frame: Frame, extra?: Extra): void {
    this.text(this.codec.frame(frame, extra));
  }

  /** What the client has no word for is not sent. */
  message(op: ServerOp, payload: object, options?: MessageOptions, taken?: () => void): void {
    const text = this.codec.message(op, payload, options);
    if (text !== undefined) this.text(text, taken);
    else taken?.();
  }

  error(fault: Fault, requestId?: string, taken?: () => void): void {
    this.#refused(fault);
    this.text(this.codec.error(fault, requestId), taken);
  }

  /** `taken` is called when the operating system has it, or the connection has ended. */
  text(data: string | Uint8Array, taken?: () => void): void {
    this.sentFrames += 1;
    this.#ws.send(data, { binary: false }, taken);
  }

  /** What was made once for all who are sent it. The WebSocket compresses nothing, so it holds nothing back that would have to go first. */
  shared(message: WireMessage): void {
    if (!this.isOpen) return;
    this.sentFrames += 1;
    for (const piece of message) this.#socket.write(piece);
  }

  /** The answer to a Ping. A peer that does not read is not answered: it has to take in first what waits for it. */
  pong(data: Uint8Array): void {
    if (this.hasRoom) this.#ws.pong(data);
  }

  /** All that `work` sends goes out in one write. */
  together(work: () => void): void {
    this.#socket.cork();
    try {
      work();
    } finally {
      this.#socket.uncork();
    }
  }

  /** Sends all of these at the pace of the socket; resolves when the last was sent, or the connection has ended. */
  async each<T>(items: readonly T[], encode: (item: T) => string | Uint8Array): Promise<void> {
    let next = 0;
    const sendSome = () => {
      for (; next < items.length && this.hasRoom; next += 1) this.text(encode(items[next] as T));
    };
    while (next < items.length && this.isOpen) {
      this.together(sendSome);
      if (next < items.length && !this.hasRoom) await this.#room();
    }
  }

  async #room(): Promise<void> {
    while (this.isOpen && !this.hasRoom) await new Promise<void>((resolve) => this.#drained.push(resolve));
  }

  #wake(): void {
    for (const resolve of this.#drained.splice(0)) resolve();
  }
}
