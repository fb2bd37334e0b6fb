// What the gateway says, decoded from both subprotocols. Knows no connection and no order.
import { Fault } from '../errors.js';
import { decodeOutput } from '../protocol/binary-codec.js';
import type { Closed, Keyframe, MembershipChanged, PtyError, Resize, RoleAssigned } from '../protocol/frames.js';
import { fromBase64 } from './base64.js';

export type Payload = Record<string, unknown>;

/** A server envelope (pty-ws §3). */
export interface Envelope {
  readonly op: string;
  readonly id: string;
  readonly sequence?: number;
  readonly payload: Payload;
}

/** A numbered frame of the session (pty-ext §7), its bytes decoded. */
export type SessionFrame =
  | { readonly kind: 'Output'; readonly bytes: Uint8Array }
  | (Omit<Keyframe, 'snapshot'> & { readonly snapshot: () => Uint8Array })
  | Resize
  | RoleAssigned
  | MembershipChanged
  | Closed
  | PtyError
  | ({ readonly kind: 'TaskStatusUpdate' } & TaskUpdate);

/** The session's task has changed (pty-ws §4). */
export interface TaskUpdate {
  readonly task: Task;
  readonly delta: Payload;
}

/** An A2A 1.0 Task. */
export interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string; readonly [key: string]: unknown };
  readonly [key: string]: unknown;
}

export type ServerMessage =
  | { readonly type: 'frame'; readonly sequence: number; readonly frame: SessionFrame }
  | { readonly type: 'envelope'; readonly envelope: Envelope };

/** Throws a Fault that says what was wrong with it. */
export function decode(data: string | Uint8Array): ServerMessage {
  if (typeof data !== 'string') {
    const { sequence, bytes } = decodeOutput(data);
    return { type: 'frame', sequence, frame: { kind: 'Output', bytes } };
  }
  const envelope = parseEnvelope(data);
  const frame = frameOf(envelope);
  if (!frame) return { type: 'envelope', envelope };
  if (!Number.isSafeInteger(envelope.sequence)) throw unreadable('a session frame has no sequence');
  return { type: 'frame', sequence: envelope.sequence as number, frame };
}

function parseEnvelope(text: string): Envelope {
  let value: Envelope;
  try {
    value = JSON.parse(text);
  } catch {
    throw unreadable('it is no JSON');
  }
  const { op, id, payload } = value ?? {};
  if (typeof op !== 'string' || typeof id !== 'string' || typeof payload !== 'object' || payload === null) {
    throw unreadable('op, id or payload is missing');
  }
  return value;
}

function frameOf({ op, payload }: Envelope): SessionFrame | undefined {
  if (op === 'TaskStatusUpdate') return { ...(payload as unknown as TaskUpdate), kind: 'TaskStatusUpdate' };
  if (op !== 'pty.session_frame') return undefined;
  const { kind, data, snapshot } = payload;
  if (kind === 'Output') return { kind, bytes: bytesOf(data) };
  // Most Keyframes are passed over, so their picture is decoded only when it is wanted.
  if (kind === 'Keyframe') return { ...(payload as unknown as Keyframe), snapshot: () => bytesOf(snapshot) };
  return payload as unknown as SessionFrame;
}

function bytesOf(base64: unknown): Uint8Array {
  try {
    return fromBase64(String(base64));
  } catch {
    throw unreadable('its data is no base64');
  }
}

const unreadable = (why: string) => new Fault('INVALID_REQUEST', `the gateway sent a message that cannot be read: ${why}`);
