// The shapes that the HTTP routes share, as they stand in openapi.json. Knows no handler.
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import type { FastifyPluginAsync, FastifyTypeProvider, RawServerDefault } from 'fastify';
import { errorTable } from '../src/errors.js';
import { closedReasons, MemberRef } from '../src/protocol/frames.js';
import { Side } from '../src/protocol/params.js';

/** What a request holds is typed by its schemas; what an answer holds is kept to its schema by the tests. */
interface RequestTypes extends FastifyTypeProvider {
  validator: this['schema'] extends TSchema ? Static<this['schema']> : unknown;
  serializer: unknown;
}
export type Routes = FastifyPluginAsync<Record<never, never>, RawServerDefault, RequestTypes>;

const Moment = Type.String({ description: 'RFC 3339, UTC.' });

export const InstanceParams = Type.Object({ inst: Type.String({ description: 'Instance id of the agent.' }) });
export const SessionParams = Type.Object({
  inst: Type.String({ description: 'Instance id of the agent.' }),
  id: Type.String({ description: 'Session id.' }),
});
export const MemberParams = Type.Object({
  ...SessionParams.properties,
  client_id: Type.String({ description: 'As in MembershipChanged.' }),
});

export const ErrorBody = Type.Object(
  {
    error: Type.Object({
      code: Type.Union(Object.keys(errorTable).map((code) => Type.Literal(code))),
      message: Type.String(),
      details: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    }),
  },
  { description: 'What went wrong, with the codes of the wire (pty-ws §6).' },
);

export const Session = Type.Object(
  {
    session_id: Type.String({ description: 'UUIDv7.' }),
    instance_id: Type.String(),
    task_id: Type.String(),
    context_id: Type.String(),
    state: Type.Union([Type.Literal('running'), Type.Literal('closed')]),
    created_at: Moment,
    closed_at: Type.Optional(Moment),
    exit_code: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    reason: Type.Optional(Type.Union(closedReasons.map((reason) => Type.Literal(reason)))),
    closed_by: Type.Optional(Type.String({ description: 'Who ended it with DELETE.' })),
    cols: Side,
    rows: Side,
    title: Type.Optional(Type.String()),
    label: Type.Optional(Type.String()),
    sensitive: Type.Optional(Type.Literal(true, { description: 'It was given secrets, which are concealed.' })),
    redaction: Type.Optional(Type.Literal('off', { description: 'Absent: secrets are concealed before anything is kept or shown.' })),
    live_stream: Type.Optional(Type.Literal('raw', { description: 'Who watches it live may see secrets. Absent: nobody does.' })),
    created_by: Type.String(),
    replica_id: Type.String(),
    current_sequence: Type.Integer({ minimum: 0 }),
    oldest_sequence: Type.Integer({ minimum: 1 }),
    controllers: Type.Array(MemberRef),
    observers: Type.Array(MemberRef),
    pty_ws_url: Type.String({ description: 'Where to attach (pty-ws §2.1).' }),
    pty_ws_subprotocols: Type.Array(Type.String(), { description: 'pty-ws §2.2.' }),
    damage: Type.Optional(Type.String({ description: 'Why none of its frames can be read; then the sequences tell of none.' })),
  },
  { description: 'A session: running, or closed and kept for its retention.' },
);

export const SessionPage = Type.Object({
  sessions: Type.Array(Session),
  next_page_token: Type.Union([Type.String(), Type.Null()], { description: 'Null on the last page.' }),
});

/** Most sessions on one page. */
export const MAX_PAGE_SIZE = 200;
export const SessionQuery = Type.Object(
  {
    state: Type.Optional(Type.Union([Type.Literal('running'), Type.Literal('closed')])),
    page_size: Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, default: 50 }),
    page_token: Type.Optional(Type.String({ maxLength: 64, description: 'The next_page_token of the page before.' })),
  },
  { additionalProperties: false },
);

export const ScreenQuery = Type.Object(
  {
    format: Type.String({ default: 'json', description: 'json, text, ansi, svg or png.' }),
    theme: Type.String({ default: 'dark', description: 'Of a picture (svg, png): dark or light.' }),
  },
  { additionalProperties: false },
);
export const Screen = Type.Object(
  {
    cols: Side,
    rows: Side,
    sequence: Type.Integer({ minimum: 0, description: 'The last output or resize that is in it.' }),
    cursor: Type.Object(
      { row: Type.Integer({ minimum: 0 }), col: Type.Integer({ minimum: 0 }), visible: Type.Boolean() },
      { description: 'Zero-based.' },
    ),
    title: Type.String(),
    lines: Type.Array(Type.String(), { description: 'One a row, blanks at the end trimmed.' }),
  },
  { description: 'What the terminal shows now.' },
);

export const TranscriptQuery = Type.Object(
  {
    format: Type.String({ default: 'ndjson', description: 'ndjson, text, asciicast (version 2), frames or index.' }),
    from: Type.Optional(Type.String({ maxLength: 64, description: 'First frame: its number, or an RFC 3339 time.' })),
    to: Type.Optional(Type.String({ maxLength: 64, description: 'Last frame: its number, or an RFC 3339 time.' })),
    q: Type.Optional(
      Type.String({ minLength: 1, maxLength: 256, description: 'Only lines in which this stands, in letters of either case.' }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description: 'Most lines of the answer.' })),
  },
  { additionalProperties: false },
);

export const ControllerRequest = Type.Object(
  {
    client_id: Type.Union([Type.String({ minLength: 1, maxLength: 128 }), Type.Null()], {
      description: 'Who gets the lease; null frees it.',
    }),
  },
  { additionalProperties: false },
);

export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(Type.String({ minLength: 1, maxLength: 255, description: 'The same key and body make one session.' })),
});
