// What stands around every payload, in both directions: envelopes (pty-ws §3) and the server's answers (§4…§6). Knows no socket.
import { type Static, type TObject, type TProperties, type TSchema, Type } from '@sinclair/typebox';
import { type ErrorCode, errorTable, type GoodbyeReason } from '../errors.js';
import { SessionFramePayload, Task, TaskStatusUpdate } from './frames.js';
import { BINDING_URI, BINDING_VERSION } from './names.js';
import { PresenceState } from './presence.js';

/** Longest `id` that a client may choose, in characters (protocol R7). */
export const MAX_ID_CHARS = 128;
/** Most extension URIs in one frame or header. */
export const MAX_EXTENSIONS = 16;
/** Longest extension URI, in characters. */
export const MAX_URI_CHARS = 256;
/** Largest `service_parameters`, in characters of JSON: they are kept for the connection and go out with every task event. */
export const MAX_SERVICE_PARAMETERS_CHARS = 8192;

/** An object of any members, which are kept and not looked at. */
export const JsonObject = Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: Type.Unknown() }));
const Id = Type.String({ minLength: 1, maxLength: MAX_ID_CHARS });
const Extensions = Type.Array(Type.String({ minLength: 1, maxLength: MAX_URI_CHARS }), { maxItems: MAX_EXTENSIONS });
const Sequence = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** The counter of a session starts at 1 (protocol R3). */
const Numbered = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

/** Members that are not named here are let through and ignored, so that later versions may add some. */
export const ClientEnvelope = Type.Object(
  {
    op: Type.String({ minLength: 1, maxLength: MAX_ID_CHARS }),
    id: Id,
    ts: Type.Optional(Type.String({ maxLength: 64, description: 'When the client sent it; not interpreted.' })),
    payload: JsonObject,
    sequence: Type.Optional(Type.Never({ description: 'Only the server numbers frames.' })),
    replay_from: Type.Optional(Type.Union([Sequence, Type.Null()])),
    extensions: Type.Optional(Extensions),
    service_parameters: Type.Optional(JsonObject),
  },
  { $id: 'ClientEnvelope', description: 'Every TEXT frame of a client (pty-ws §3).' },
);
export type ClientEnvelope = Static<typeof ClientEnvelope>;

/** RFC 3339, UTC, milliseconds. */
const Timestamp = Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' });

const OneTask = Type.Object({ task: Task });
const Tasks = Type.Object({ tasks: Type.Array(Task), next_page_token: Type.Union([Type.String(), Type.Null()]) });
const TaskId = Type.Object({ task_id: Type.String() });
const Place = Type.Object({ current_sequence: Sequence });
const Nothing = Type.Object({});
const Pong = Type.Object({ client_ts: Type.Optional(Type.String()), server_ts: Timestamp });

const SessionHost = Type.Object({
  supported_backends: Type.Array(Type.String()),
  default_backend: Type.String(),
  supported_classes: Type.Array(Type.String()),
  default_class: Type.String(),
  observe_supported: Type.Boolean(),
  drive_supported: Type.Boolean(),
  reattach_supported: Type.Boolean(),
});

const Hello = Type.Object({
  binding_uri: Type.Literal(BINDING_URI),
  binding_version: Type.Literal(BINDING_VERSION),
  supported_operations: Type.Array(Type.String()),
  activated_extensions: Type.Array(Type.String()),
  session: Type.Object({ session_id: Type.String(), current_sequence: Sequence }),
  session_host: SessionHost,
  payload_mode: Type.Optional(
    Type.Object({ binary: Type.Literal(true), binary_subprotocol: Type.String(), json_subprotocol: Type.String() }),
  ),
});
export type Hello = Static<typeof Hello>;

const goodbyeReasons = [
  'server_shutdown',
  'session_closed',
  'principal_revoked',
  'rate_limited',
  'other',
] as const satisfies readonly GoodbyeReason[];
const Goodbye = Type.Object({ reason: Type.Union(goodbyeReasons.map((r) => Type.Literal(r))), detail: Type.Optional(Type.String()) });

const errorCodes = Object.keys(errorTable) as ErrorCode[];
const ErrorPayload = Type.Object({
  code: Type.Union(errorCodes.map((c) => Type.Literal(c))),
  message: Type.String({ minLength: 1 }),
  a2a_error: Type.Object({ type: Type.String() }),
  retryable: Type.Boolean(),
});

type Message = readonly [payload: TSchema, sentence: string, beside?: TProperties];

const messages = {
  binding_hello: [Hello, 'The first frame of a connection, once (pty-ws §5.1).', { sequence: Type.Literal(0) }],
  binding_goodbye: [Goodbye, 'The last frame before an orderly close (pty-ws §5.4).'],
  pong: [Pong, 'The answer to a `ping` (pty-ws §5.6).'],
  Error: [ErrorPayload, 'A request that was not done, and why (pty-ws §6).'],
  'SendMessage.Response': [OneTask, 'The task, at rest or as it was when the message had been typed (pty-ws §4).'],
  'SendStreamingMessage.Accepted': [TaskId, 'The message was typed; updates follow until the task rests (pty-ws §4).'],
  'GetTask.Response': [OneTask, 'The task as it is now (pty-ws §4).'],
  'ListTasks.Response': [Tasks, 'One page of tasks (pty-ws §4).'],
  'CancelTask.Response': [OneTask, 'The task, canceled (pty-ws §4).'],
  'SubscribeToTask.Accepted': [Place, 'Updates follow as long as the connection lives (pty-ws §4).'],
  'Unsubscribe.Response': [Nothing, 'No more updates follow (pty-ws §4).'],
  'UpdateServiceParameters.Response': [Nothing, 'The new parameters hold from now on (pty-ws §4).'],
  'presence.act.Response': [Nothing, 'It is done (presence §3).'],
  'presence.state': [PresenceState, 'Who asks for control, who has lent it, and who types; sent to who has activated it (presence §2).'],
  TaskStatusUpdate: [
    TaskStatusUpdate,
    'The task has changed: a numbered frame of the session (pty-ws §4, §9).',
    { sequence: Numbered, service_parameters: Type.Optional(JsonObject) },
  ],
  'pty.session_frame': [
    SessionFramePayload,
    'What happened to the terminal: a numbered frame of the session (pty-ext §7).',
    { sequence: Numbered, extensions: Type.Optional(Extensions) },
  ],
} as const satisfies Record<string, Message>;

/** All that the server says in TEXT frames, by its `op`. */
export type ServerOp = keyof typeof messages;

function envelope(op: string, [payload, description, beside = {}]: Message): TObject {
  return Type.Object({ op: Type.Literal(op), id: Id, ts: Timestamp, ...beside, payload }, { description });
}

/** An answer has its request's `id`, and what the server begins has a fresh UUIDv7 (protocol R7). */
export const serverEnvelopes = Object.fromEntries(
  Object.entries<Message>(messages).map(([op, message]) => [op, envelope(op, message)]),
) as Record<ServerOp, TObject>;
