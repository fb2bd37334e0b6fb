// Envelopes to text and back (pty-ws §3): strangers' are checked here, once, and ours built. Knows no socket.
import { type ErrorCode, errorTable, Fault } from '../errors.js';
import { checker, withoutNulls } from './check.js';
import type { Codec, Extra, MessageOptions } from './codec.js';
import { ClientEnvelope, MAX_ID_CHARS, MAX_SERVICE_PARAMETERS_CHARS, type ServerOp } from './envelope.js';
import type { Frame, TaskStatusUpdate } from './frames.js';
import { newId } from './ids.js';
import type { Op } from './names.js';
import { JsonRefused, namesPrototype, parseJson } from './safe-json.js';
import { isOp, type Payload, verbs } from './verbs.js';

/** A fault about one request; `requestId` is the id to echo, where its text had a usable one. */
export class RequestFault extends Fault {
  readonly requestId: string | undefined;

  constructor(code: ErrorCode, message: string, requestId?: string) {
    super(code, message);
    this.requestId = requestId;
  }
}

const checkEnvelope = checker(ClientEnvelope, '');
const checkers = Object.fromEntries(Object.entries(verbs).map(([op, schema]) => [op, checker(schema, 'payload')]));

/** A client's TEXT frame. RequestFault INVALID_REQUEST says what was wrong and where. */
export function decodeEnvelope(text: string): ClientEnvelope {
  return readEnvelope(text, parse(text));
}

/** As `decodeEnvelope`, for an envelope that was made of what a text says. */
export function readEnvelope(text: string, value: unknown): ClientEnvelope {
  const problem = checkEnvelope(value) ?? polluted(text, value) ?? tooLarge(value, '');
  if (problem) throw new RequestFault('INVALID_REQUEST', problem, usableId(value));
  return value as ClientEnvelope;
}

/** An operation's payload, with nulls of optional members left out. Fault UNSUPPORTED_OPERATION, or INVALID_REQUEST naming the member. */
export function checkPayload<O extends Op>(op: O, payload: Record<string, unknown>): Payload<O>;
export function checkPayload(op: string, payload: Record<string, unknown>): Payload;
export function checkPayload(op: string, payload: Record<string, unknown>): Payload {
  if (!isOp(op)) throw new Fault('UNSUPPORTED_OPERATION', `op: there is no operation ${JSON.stringify(op)} here`);
  const given = withoutNulls(payload, verbs[op]);
  const problem = checkers[op]?.(given) ?? tooLarge(given, 'payload.');
  if (problem) throw new Fault('INVALID_REQUEST', problem);
  return given as Payload;
}

/** The envelope of a numbered frame. A TaskStatusUpdate tells `service_parameters` twice: here, and in `delta.metadata` (pty-ws §9). */
export function encodeFrame(frame: Frame, extra: Extra = {}): Buffer {
  const head = JSON.stringify(envelope(opOf(frame), frame.id, frame.ts, { sequence: frame.sequence, ...extra }));
  const open = `${head.slice(0, -1)},"payload":`;
  if (frame.kind === 'Output')
    return joined(Buffer.from(`${open}{"kind":"Output","stream":"stdout","data":"`), base64(frame.body), DATA_END);
  return Buffer.concat([Buffer.from(open), bodyOf(frame, extra), CLOSE]);
}

/** The envelope of anything else that the server says: an answer has its request's `id`, what it begins has a fresh one. */
export function encodeMessage(op: ServerOp, payload: object, options: MessageOptions = {}): string {
  const { id = newId(), ...rest } = options;
  return JSON.stringify({ ...envelope(op, id, Date.now(), rest), payload });
}

/** `op: "Error"` (pty-ws §6), with the id of the request that failed, or a fresh one. */
export function encodeError(fault: Fault, requestId?: string): string {
  const id = requestId ?? (fault instanceof RequestFault ? fault.requestId : undefined);
  const { code, message, retryable } = fault;
  return encodeMessage('Error', { code, message, a2a_error: { type: errorTable[code].a2a }, retryable }, { id });
}

/** `pty-ws.v1`, and all that is no BINARY frame of `pty-ws.v1.binary`. */
export const jsonCodec: Codec = {
  decode: (text) => [decodeEnvelope(text)],
  frame: encodeFrame,
  leavesOut: () => false,
  message: encodeMessage,
  error: encodeError,
  goodbye: (reason, code, detail) => ({ text: encodeMessage('binding_goodbye', { reason, detail }), code }),
};

const CLOSE = Buffer.from('}');
const DATA_END = Buffer.from('"}}');

/** `middle` has no character beyond ASCII. */
function joined(head: Buffer, middle: string, tail: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(head.length + middle.length + tail.length);
  bytes.set(head);
  bytes.write(middle, head.length, 'latin1');
  bytes.set(tail, head.length + middle.length);
  return bytes;
}

function envelope(op: ServerOp, id: string, ts: number, rest: object) {
  return { op, id, ts: new Date(ts).toISOString(), ...rest };
}

function opOf(frame: Frame): ServerOp {
  return frame.kind === 'TaskStatusUpdate' ? 'TaskStatusUpdate' : 'pty.session_frame';
}

/** The payload as it is kept, untouched but for a task event that carries parameters of its receiver. */
function bodyOf({ kind, body }: Frame, { service_parameters }: Extra): Uint8Array {
  if (kind !== 'TaskStatusUpdate' || !service_parameters) return body;
  const { task, delta }: TaskStatusUpdate = JSON.parse(Buffer.from(body).toString());
  return Buffer.from(JSON.stringify({ task, delta: { ...delta, metadata: { ...delta.metadata, ...service_parameters } } }));
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}

/** The value of a TEXT frame, whatever it is. RequestFault INVALID_REQUEST for what is no JSON. */
export function parse(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw error instanceof JsonRefused ? new RequestFault('INVALID_REQUEST', `the frame: ${error.message}`) : error;
  }
}

function usableId(value: unknown): string | undefined {
  const id = value !== null && typeof value === 'object' && 'id' in value ? value.id : undefined;
  return typeof id === 'string' && id !== '' && id.length <= MAX_ID_CHARS ? id : undefined;
}

function polluted(text: string, value: unknown): string | undefined {
  return namesPrototype(text, value) ? 'the frame: expected no member named __proto__' : undefined;
}

function tooLarge(holder: unknown, where: string): string | undefined {
  const size = JSON.stringify((holder as Extra).service_parameters ?? null).length;
  if (size <= MAX_SERVICE_PARAMETERS_CHARS) return undefined;
  return `${where}service_parameters: expected at most ${MAX_SERVICE_PARAMETERS_CHARS} characters of JSON, got ${size}`;
}
