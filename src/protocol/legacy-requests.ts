// What the clients of the reference implementation ask for, in our operations: their names, what they leave out, what they say in one. Knows no session.

import type { ClientEnvelope } from './envelope.js';
import { newId } from './ids.js';
import { parse, readEnvelope } from './json-codec.js';
import { EXTENSION_URI, type Op } from './names.js';
import { JsonRefused, parseJson } from './safe-json.js';

type Members = Readonly<Record<string, unknown>>;
type Asked = readonly [op: string, payload: Members];

/** Tasks on one page where they name no limit, and the most that they get. */
const PAGE = { usual: 25, most: 100 } as const;

/** Operations of theirs that ours do not know by that name. */
const slashOperations: Readonly<Record<string, (payload: Members) => readonly Asked[]>> = {
  // They are told of the task at once.
  'message/send': ({ message }) => [ask('SendMessage', { message: messageOf(message), configuration: { returnImmediately: true } })],
  'message/stream': ({ message }) => [ask('SendStreamingMessage', { message: messageOf(message) })],
  'tasks/get': (payload) => [ask('GetTask', payload)],
  'tasks/list': ({ limit, state }) => [ask('ListTasks', { page_size: pageSize(limit), filter: stateFilter(state) })],
  'tasks/cancel': (payload) => [ask('CancelTask', payload)],
  // The answer is the task as it is.
  'tasks/subscribe': (payload) => [ask('GetTask', payload), ask('SubscribeToTask', payload)],
};

/** Terminal verbs that they say in other words. */
const terminalVerbs: Readonly<Record<string, (payload: Members) => readonly Asked[]>> = {
  'pty.join_session': (payload) => [ask('pty.join_session', { role: 'controller', ...payload })],
  'pty.session_input': ({ terminal_size, ...payload }) => [
    ...('data' in payload || !isMembers(terminal_size) ? [ask('pty.session_input', payload)] : []),
    ...(isMembers(terminal_size) ? [ask('pty.session_resize', terminal_size)] : []),
  ],
  'pty.request_role': (payload) => [ask('pty.request_role', { role: 'observer', ...payload })],
  'pty.release_role': (payload) => [ask('pty.request_role', { ...payload, role: 'observer' })],
};

const requests = { ...slashOperations, ...terminalVerbs };

/** Members of an envelope that only ours has. */
const modernMembers = ['id', 'extensions', 'replay_from', 'service_parameters'];

/** Whether the first frame of a connection is one of theirs: an operation that is named so by them alone, or a terminal verb in their envelope. */
export function isLegacyRequest(text: string): boolean {
  const frame = jsonOf(text);
  if (!isMembers(frame) || typeof frame.op !== 'string') return false;
  if (Object.hasOwn(slashOperations, frame.op)) return true;
  return frame.op.startsWith('pty.') && !modernMembers.some((member) => member in frame);
}

/** What one frame of theirs asks for. RequestFault INVALID_REQUEST says what was wrong and where. */
export function decodeLegacy(text: string): ClientEnvelope[] {
  const frame = parse(text);
  if (!isMembers(frame)) return [readEnvelope(text, frame)];
  const { op, payload = {} } = frame;
  const known = typeof op === 'string' && Object.hasOwn(requests, op) && isMembers(payload) ? requests[op]?.(payload) : undefined;
  return (known ?? [[op, payload]]).map(([op, payload]) => readEnvelope(text, { op, payload, id: newId(), extensions: [EXTENSION_URI] }));
}

function ask(op: Op, payload: Members): Asked {
  return [op, payload];
}

/** A2A messages of before 1.0 have other words for the role and name the kind of a part; some clients leave the id out. */
function messageOf(message: unknown): unknown {
  if (!isMembers(message)) return message;
  const { role = 'user', parts } = message;
  const roles: Members = { user: 'ROLE_USER', agent: 'ROLE_AGENT' };
  return {
    messageId: newId(),
    ...message,
    role: roles[String(role)] ?? role,
    parts: Array.isArray(parts) ? parts.map(withoutKind) : parts,
  };
}

function withoutKind(part: unknown): unknown {
  if (!isMembers(part)) return part;
  const { kind: _, ...rest } = part;
  return rest;
}

function pageSize(limit: unknown): unknown {
  return typeof limit === 'number' ? Math.min(Math.max(limit, 1), PAGE.most) : (limit ?? PAGE.usual);
}

/** `input-required` is TASK_STATE_INPUT_REQUIRED. */
function stateFilter(state: unknown): Members {
  return typeof state === 'string' ? { state: `TASK_STATE_${state.toUpperCase().replaceAll('-', '_')}` } : {};
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonRefused) return undefined;
    throw error;
  }
}

function isMembers(value: unknown): value is Members {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
