// What may be asked in A2A 1.0: the request of each operation (a2a.proto). Knows no operation's meaning.
import { FormatRegistry, type Static, Type } from '@sinclair/typebox';
import { JsonObject, MAX_EXTENSIONS, MAX_ID_CHARS, MAX_URI_CHARS } from '../protocol/envelope.js';
import { PushConfig } from './push.js';

/** Most parts in one message. */
const MAX_PARTS = 256;
/** Longest URL and name of a file, in characters. */
const MAX_URL_CHARS = 2048;
const MAX_NAME_CHARS = 1024;
/** Most output modes, and tasks referred to, that are read. */
const MAX_LISTED = 64;
/** Tasks on one page: the least and most that may be asked for, and how many there are if nothing is (A2A 1.0 §3.1.4). */
export const PAGE_SIZE = { minimum: 1, maximum: 100, default: 50 } as const;

const moment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/i;
FormatRegistry.Set('moment', (text) => moment.test(text) && !Number.isNaN(Date.parse(text)));

const Id = Type.String({ minLength: 1, maxLength: MAX_ID_CHARS });
const Mode = Type.String({ minLength: 1, maxLength: MAX_ID_CHARS });
const HistoryLength = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 });
const Extensions = Type.Array(Type.String({ minLength: 1, maxLength: MAX_URI_CHARS }), { maxItems: MAX_EXTENSIONS });

/** Not UNSPECIFIED: as a filter that is none. */
const taskStates = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
] as const;

/** One of text, raw, url and data is there; `send` sees to it. */
const Part = Type.Object({
  text: Type.Optional(Type.String()),
  raw: Type.Optional(Type.String({ format: 'base64' })),
  url: Type.Optional(Type.String({ maxLength: MAX_URL_CHARS })),
  data: Type.Optional(Type.Unknown()),
  metadata: Type.Optional(JsonObject),
  filename: Type.Optional(Type.String({ maxLength: MAX_NAME_CHARS })),
  mediaType: Type.Optional(Mode),
});
export type Part = Static<typeof Part>;

const Message = Type.Object({
  messageId: Id,
  role: Type.Union([Type.Literal('ROLE_USER'), Type.Literal('ROLE_AGENT')]),
  parts: Type.Array(Part, { minItems: 1, maxItems: MAX_PARTS }),
  contextId: Type.Optional(Id),
  taskId: Type.Optional(Id),
  metadata: Type.Optional(JsonObject),
  extensions: Type.Optional(Extensions),
  referenceTaskIds: Type.Optional(Type.Array(Id, { maxItems: MAX_LISTED })),
});
export type Message = Static<typeof Message>;

const Configuration = Type.Object({
  acceptedOutputModes: Type.Optional(Type.Array(Mode, { maxItems: MAX_LISTED })),
  taskPushNotificationConfig: Type.Optional(PushConfig),
  historyLength: Type.Optional(HistoryLength),
  returnImmediately: Type.Optional(Type.Boolean()),
});

export const SendMessageRequest = Type.Object(
  { message: Message, configuration: Type.Optional(Configuration), metadata: Type.Optional(JsonObject) },
  { description: 'A2A 1.0 §3.2.1.' },
);
export type SendMessageRequest = Static<typeof SendMessageRequest>;

export const GetTaskRequest = Type.Object({ id: Id, historyLength: Type.Optional(HistoryLength) });

export const ListTasksRequest = Type.Object(
  {
    contextId: Type.Optional(Id),
    status: Type.Optional(Type.Union([...taskStates, 'TASK_STATE_UNSPECIFIED' as const].map((state) => Type.Literal(state)))),
    pageSize: Type.Optional(Type.Integer(PAGE_SIZE)),
    pageToken: Type.Optional(Type.String({ minLength: 1, maxLength: 256 })),
    historyLength: Type.Optional(HistoryLength),
    statusTimestampAfter: Type.Optional(Type.String({ format: 'moment', maxLength: 64, title: 'a moment as 2026-01-31T12:00:00Z' })),
    includeArtifacts: Type.Optional(Type.Boolean()),
  },
  { description: 'A2A 1.0 §3.1.4.' },
);
export type ListTasksRequest = Static<typeof ListTasksRequest>;

export const CancelTaskRequest = Type.Object({ id: Id, metadata: Type.Optional(JsonObject) });
export const SubscribeToTaskRequest = Type.Object({ id: Id });
export const CreatePushConfigRequest = Type.Object({ ...PushConfig.properties, taskId: Id });
export const OnePushConfigRequest = Type.Object({ taskId: Id, id: Id });
export const ListPushConfigsRequest = Type.Object({
  taskId: Id,
  pageSize: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 })),
  pageToken: Type.Optional(Type.String({ maxLength: 256 })),
});
export const GetExtendedAgentCardRequest = Type.Object({});
