// What the session and the gateway say, in the words of the reference implementation: `{op, seq, ts, payload}`. Knows no socket and no request.
import { type ErrorCode, errorTable, type Fault } from '../errors.js';
import type { Hello, ServerOp } from './envelope.js';
import type { Frame, Keyframe, MembershipChanged, PtyError, Resize } from './frames.js';
import { readPayload } from './make-frames.js';
import { EXTENSION_URI } from './names.js';

const OPERATIONS = [
  ...['message/send', 'message/stream', 'tasks/get', 'tasks/list', 'tasks/cancel', 'tasks/subscribe'],
  ...['pty.join_session', 'pty.session_input', 'pty.session_resize', 'pty.request_keyframe', 'pty.request_role', 'pty.release_role'],
  'pty.leave_session',
];

const codes: Readonly<Record<ErrorCode, string>> = {
  TASK_NOT_FOUND: 'task.not_found',
  TASK_NOT_CANCELABLE: 'task.not_cancelable',
  INVALID_REQUEST: 'request.invalid_params',
  UNSUPPORTED_OPERATION: 'request.unsupported_operation',
  UNAUTHENTICATED: 'unauthenticated',
  PERMISSION_DENIED: 'pty.permission_denied',
  RATE_LIMITED: 'request.rate_limited',
  INTERNAL: 'internal.error',
  REPLAY_OUT_OF_RANGE: 'replay.out_of_range',
};

/** A frame inside of a keyframe. */
interface Drawn {
  readonly op: 'resize' | 'output';
  readonly payload: object;
}

/** A numbered frame. Those who speak so take every number for their place, so a frame that is no place to go on from has none: RoleAssigned, Error. */
export function encodeLegacyFrame(frame: Frame): Buffer {
  const { sequence, ts } = frame;
  if (frame.kind === 'Output') return numbered('output', sequence, ts, `{"data":"${base64(frame.body)}"}`);
  const payload = readPayload(frame);
  switch (payload.kind) {
    case 'RoleAssigned':
      return Buffer.from(unnumbered('role_assigned', withoutKind(payload), ts));
    case 'Error':
      return Buffer.from(unnumbered('error', fromPty(payload), ts));
    case 'Keyframe':
      return encodeLegacyKeyframe(sequence, [frame], ts);
    case 'MembershipChanged':
      return numbered('membership_changed', sequence, ts, JSON.stringify({ members: membersOf(payload) }));
    case 'TaskStatusUpdate':
      return numbered('task', sequence, ts, JSON.stringify(taskOf(payload.task)));
    default:
      return numbered(payload.kind.toLowerCase(), sequence, ts, JSON.stringify(withoutKind(payload)));
  }
}

/** The screen as it was at a place: what a fresh terminal has to be shown for it, as `resize` and `output`, Keyframes among `frames` included. */
export function encodeLegacyKeyframe(cursor: number, frames: readonly Frame[], ts: number = Date.now()): Buffer {
  return numbered('keyframe', cursor, ts, JSON.stringify({ cursor, frames: frames.flatMap(drawn) }));
}

/** Undefined for an answer that they do not wait for. */
export function encodeLegacyMessage(op: ServerOp, payload: object): string | undefined {
  const [theirs, body] = answerOf(op, payload);
  if (op === 'binding_hello') return JSON.stringify({ op, seq: 0, ts: new Date().toISOString(), payload: body });
  return theirs && unnumbered(theirs, body);
}

export function encodeLegacyError({ code, message, details }: Fault): string {
  return unnumbered('error', { code: codes[code], message, status: errorTable[code].status, oldest: details?.oldest });
}

/** To one who has seen the end of the session, and comes again. */
export function encodeSessionClosed(): string {
  return unnumbered('error', {
    code: 'session.closed',
    message: 'the session has ended, and there is nothing after replay_from',
    status: 409,
  });
}

function answerOf(op: ServerOp, payload: object): readonly [op: string | undefined, payload: object] {
  const { task, tasks, next_page_token } = payload as { task?: object; tasks?: object[]; next_page_token?: string | null };
  if (op === 'binding_hello') return [op, helloOf(payload as Hello)];
  if (op === 'ListTasks.Response') return ['task_list', { tasks: tasks?.map(taskOf), next_cursor: next_page_token }];
  if (task) return ['task', taskOf(task)];
  return [op === 'pong' ? op : undefined, payload];
}

function helloOf(hello: Hello): Hello {
  return { ...hello, supported_operations: OPERATIONS, activated_extensions: [EXTENSION_URI] };
}

/** TASK_STATE_INPUT_REQUIRED is `input-required`. */
function taskOf(task: object): object {
  const { status } = task as { status: { state: string } };
  const state = status.state
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-');
  return { ...task, kind: 'task', status: { ...status, state } };
}

function membersOf({ controllers, observers }: MembershipChanged): object[] {
  return [
    ...controllers.map((member) => ({ ...member, role: 'controller' })),
    ...observers.map((member) => ({ ...member, role: 'observer' })),
  ];
}

function fromPty({ code, message }: PtyError): object {
  return { code: code === 'PTY_OUTPUT_LAGGED' ? 'broadcast.lagged' : code.toLowerCase().replace('_', '.'), message, status: 200 };
}

function drawn(frame: Frame): Drawn[] {
  if (frame.kind === 'Output') return [{ op: 'output', payload: { data: base64(frame.body) } }];
  const payload = readPayload(frame);
  if (payload.kind === 'Resize') return [sized(payload)];
  return payload.kind === 'Keyframe' ? painted(payload) : [];
}

function painted({ snapshot, snapshot_cols: cols, snapshot_rows: rows }: Keyframe): Drawn[] {
  return [sized({ cols, rows }), { op: 'output', payload: { data: snapshot } }];
}

function sized({ cols, rows }: Pick<Resize, 'cols' | 'rows'>): Drawn {
  return { op: 'resize', payload: { cols, rows } };
}

function withoutKind({ kind: _, ...members }: { readonly kind: string }): object {
  return members;
}

function numbered(op: string, seq: number, ts: number, payload: string): Buffer {
  return Buffer.from(`{"op":"${op}","seq":${seq},"ts":"${new Date(ts).toISOString()}","payload":${payload}}`);
}

function unnumbered(op: string, payload: object, ts: number = Date.now()): string {
  return JSON.stringify({ op, ts: new Date(ts).toISOString(), payload });
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
}
