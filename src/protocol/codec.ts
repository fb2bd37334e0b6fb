// What a way to speak in TEXT frames has to know: the one seam between a connection and the words on its wire. Knows no socket.
import type { Fault, GoodbyeReason } from '../errors.js';
import type { ClientEnvelope, ServerOp } from './envelope.js';
import type { Frame } from './frames.js';

/** What goes with a frame beside its payload. */
export interface Extra {
  readonly extensions?: readonly string[] | undefined;
  readonly service_parameters?: Readonly<Record<string, unknown>> | undefined;
}

export interface MessageOptions extends Extra {
  /** The request's, for an answer. */
  readonly id?: string | undefined;
  readonly sequence?: number | undefined;
}

/** How a connection is ended: what is said last, if there is a word for it, and the close code. */
export interface Goodbye {
  readonly text: string | undefined;
  readonly code: number;
}

export interface Codec {
  /** What one frame of a client asks for, in order. Throws RequestFault. */
  decode(text: string): readonly ClientEnvelope[];
  /** A numbered frame of the session. */
  frame(frame: Frame, extra?: Extra): Uint8Array;
  /** Whether a frame that everyone may see is nothing for those who speak so, unless they ask for it. */
  leavesOut(frame: Frame): boolean;
  /** Undefined: there is no word for it. */
  message(op: ServerOp, payload: object, options?: MessageOptions): string | undefined;
  error(fault: Fault, requestId?: string): string;
  goodbye(reason: GoodbyeReason, code: number, detail?: string): Goodbye;
}
