// Between what the gateway says and how the log keeps it: payloads to entries, and frames back to payloads. Knows no log.
import type { Frame, FrameKind, SessionFramePayload, TaskStatusUpdate } from './frames.js';
import { newId } from './ids.js';

/** A frame that has no number yet: what is handed to the log. */
export type Unnumbered = Omit<Frame, 'sequence'>;

type Told = Exclude<SessionFramePayload, { kind: 'Output' }>;
/** The members of a payload but its kind. */
type Members<K extends FrameKind> = K extends 'Output'
  ? Uint8Array
  : K extends 'TaskStatusUpdate'
    ? TaskStatusUpdate
    : Omit<Extract<Told, { kind: K }>, 'kind'>;

/** A frame's payload as code reads it: Output has its bytes, and a TaskStatusUpdate is told apart by a kind too. */
export type FramePayload =
  | Told
  | { readonly kind: 'Output'; readonly stream: 'stdout'; readonly bytes: Uint8Array }
  | ({ readonly kind: 'TaskStatusUpdate' } & TaskStatusUpdate);

/** `members` are the raw bytes for Output, and the payload without its kind for all others. `now` is in milliseconds since the epoch. */
export function entry<K extends FrameKind>(kind: K, members: Members<K>, now: number = Date.now()): Unnumbered {
  return { kind, id: newId(), ts: now, body: members instanceof Uint8Array ? members : encodeBody(kind, members) };
}

/** The payload of a frame that `entry` made. */
export function readPayload(frame: Pick<Frame, 'kind' | 'body'>): FramePayload {
  if (frame.kind === 'Output') return { kind: 'Output', stream: 'stdout', bytes: frame.body };
  const payload = JSON.parse(new TextDecoder().decode(frame.body));
  return frame.kind === 'TaskStatusUpdate' ? { kind: frame.kind, ...payload } : payload;
}

function encodeBody(kind: FrameKind, members: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(kind === 'TaskStatusUpdate' ? members : { kind, ...members }));
}
