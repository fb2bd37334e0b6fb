// What a client may ask for: one payload schema for each operation. Knows no envelope, no session and no permission.
import { FormatRegistry, type Static, type TObject, type TProperties, Type } from '@sinclair/typebox';
import { JsonObject, MAX_ID_CHARS } from './envelope.js';
import { Role } from './frames.js';
import { type Op, presenceActs } from './names.js';
import { Side } from './params.js';

/** Longest label and free word of a client, in characters (pty-ext §6.1). */
const MAX_LABEL_CHARS = 128;
/** Most parts in one message. */
const MAX_PARTS = 256;
/** Most tasks on one page. */
const MAX_PAGE = 100;

/** RFC 4648 §4, strictly. (One pattern for the groups of four would need a stack as deep as the text is long.) */
FormatRegistry.Set('base64', (text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text));

const Id = Type.String({ minLength: 1, maxLength: MAX_ID_CHARS });
const Word = Type.String({ maxLength: MAX_LABEL_CHARS });
const HistoryLength = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

/** Every payload may name its session, and then it must be the connection's (pty-ws §11). Other members are let through and ignored. */
function payload<P extends TProperties>(description: string, members: P) {
  return Type.Object({ ...members, session_id: Type.Optional(Id) }, { description });
}

const Message = Type.Object({
  messageId: Id,
  role: Type.Union([Type.Literal('ROLE_USER'), Type.Literal('ROLE_AGENT')]),
  parts: Type.Array(JsonObject, { minItems: 1, maxItems: MAX_PARTS }),
  contextId: Type.Optional(Type.String({ maxLength: MAX_ID_CHARS })),
  taskId: Type.Optional(Type.String({ maxLength: MAX_ID_CHARS })),
});

const Configuration = Type.Object({
  returnImmediately: Type.Optional(Type.Boolean()),
  historyLength: Type.Optional(HistoryLength),
});

/** An optional member may also be null, which is as good as leaving it out. */
export const verbs = {
  SendMessage: payload('Types a message and answers when the task rests, or at once if asked to (pty-ws §4).', {
    message: Message,
    configuration: Type.Optional(Configuration),
  }),
  SendStreamingMessage: payload('Types a message and tells of the task until it rests (pty-ws §4).', {
    message: Message,
    configuration: Type.Optional(Configuration),
  }),
  GetTask: payload('Asks how the task is (pty-ws §4).', { task_id: Id, history_length: Type.Optional(HistoryLength) }),
  ListTasks: payload('Asks for a page of tasks (pty-ws §4).', {
    page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE })),
    page_token: Type.Optional(Type.String({ maxLength: MAX_ID_CHARS })),
    filter: Type.Optional(JsonObject),
  }),
  CancelTask: payload('Ends the task and its terminal (pty-ws §4).', { task_id: Id }),
  SubscribeToTask: payload('Asks for updates as long as the connection lives (pty-ws §4).', { task_id: Id }),
  Unsubscribe: payload('Wants no more updates (pty-ws §4).', { task_id: Id }),
  UpdateServiceParameters: payload('Replaces what goes with every task event of this connection (pty-ws §4, §9).', {
    service_parameters: JsonObject,
  }),
  ping: payload('Asks for a `pong` (pty-ws §5.6).', { client_ts: Type.Optional(Type.String({ maxLength: 64 })) }),
  'pty.join_session': payload('Attaches to the terminal; sizes are hints of its first controller (pty-ext §6.1).', {
    role: Role,
    cols: Type.Optional(Side),
    rows: Type.Optional(Side),
    client_label: Type.Optional(Word),
    terminal_size: Type.Optional(Type.Object({ cols: Side, rows: Side })),
    session_backend: Type.Optional(Word),
    session_class: Type.Optional(Word),
  }),
  'pty.leave_session': payload('Detaches; the session goes on (pty-ext §6.2).', {}),
  'pty.session_input': payload('Types bytes (pty-ext §6.3).', { data: Type.String({ format: 'base64' }) }),
  'pty.session_resize': payload('Gives the terminal a size (pty-ext §6.4).', { cols: Side, rows: Side }),
  'pty.request_role': payload('Asks for another role on this connection (pty-ext §5.2, §6.5).', { role: Role }),
  'pty.request_keyframe': payload('Asks for a fresh picture of the screen (pty-ext §6.6).', {}),
  'presence.act': payload('Asks for control, answers one who does, or takes back what was lent (presence §3).', {
    act: Type.Union(presenceActs.map((act) => Type.Literal(act))),
    client_id: Type.Optional(Id),
  }),
} as const satisfies Record<Op, TObject>;

export type Payload<O extends Op = Op> = Static<(typeof verbs)[O]>;

export function isOp(op: string): op is Op {
  return Object.hasOwn(verbs, op);
}
