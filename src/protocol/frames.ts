// What the server says in a session: the frames, and the payload of each kind (pty-ext §7). Knows no socket and no log.
import { type Static, Type } from '@sinclair/typebox';
import { Side } from './params.js';

export const Role = Type.Union([Type.Literal('controller'), Type.Literal('observer')], {
  $id: 'Role',
  description: 'What a connection may do (pty-ext §5).',
});
export type Role = Static<typeof Role>;

const Base64 = Type.String({ contentEncoding: 'base64' });

export const Output = Type.Object(
  { kind: Type.Literal('Output'), stream: Type.Union([Type.Literal('stdout'), Type.Literal('stderr'), Type.Literal('log')]), data: Base64 },
  { $id: 'Output', description: 'Raw bytes that the program printed (pty-ext §7.1).' },
);
export type Output = Static<typeof Output>;

export const Resize = Type.Object(
  { kind: Type.Literal('Resize'), cols: Side, rows: Side },
  { $id: 'Resize', description: 'The terminal has a new size (pty-ext §7.2).' },
);
export type Resize = Static<typeof Resize>;

export const RoleAssigned = Type.Object(
  {
    kind: Type.Literal('RoleAssigned'),
    role: Role,
    client_id: Type.String(),
    downgraded: Type.Optional(Type.Literal(true)),
    reason: Type.Optional(Type.String()),
  },
  { $id: 'RoleAssigned', description: 'The role that this connection has now; sent to it alone (pty-ext §7.3).' },
);
export type RoleAssigned = Static<typeof RoleAssigned>;

export const MemberRef = Type.Object(
  { client_id: Type.String(), label: Type.Optional(Type.String()) },
  { description: 'Someone attached, by the name of the connection (pty-ext §7.4).' },
);
export type MemberRef = Static<typeof MemberRef>;

export const MembershipChanged = Type.Object(
  { kind: Type.Literal('MembershipChanged'), controllers: Type.Array(MemberRef), observers: Type.Array(MemberRef) },
  { $id: 'MembershipChanged', description: 'Who is attached now (pty-ext §7.4).' },
);
export type MembershipChanged = Static<typeof MembershipChanged>;

export const Keyframe = Type.Object(
  {
    kind: Type.Literal('Keyframe'),
    snapshot: Base64,
    snapshot_format: Type.Literal('vt100-screen-state-v1'),
    snapshot_cols: Side,
    snapshot_rows: Side,
    anchor_sequence: Type.Integer({ minimum: 0 }),
  },
  { $id: 'Keyframe', description: 'The whole screen, with all Output and Resize up to its anchor folded in (pty-ext §7.5).' },
);
export type Keyframe = Static<typeof Keyframe>;

/** pty-ext §9.10 names, then those of §7.6 that have no such name (protocol R10). */
export const closedReasons = [
  'command_result',
  'bridge_eof',
  'bridge_start_failed',
  'last_member_left',
  'agent_disconnect',
  'killed',
  'timeout',
  'instance_terminated',
] as const;
export type ClosedReason = (typeof closedReasons)[number];

export const Closed = Type.Object(
  {
    kind: Type.Literal('Closed'),
    exit_code: Type.Union([Type.Integer(), Type.Null()]),
    reason: Type.Union(closedReasons.map((r) => Type.Literal(r))),
    detail: Type.Optional(
      Type.String({ description: "The other vocabulary's word: normal, killed, timeout, instance_terminated, error." }),
    ),
  },
  { $id: 'Closed', description: 'The session has ended; nothing of the terminal follows (pty-ext §7.6).' },
);
export interface Closed {
  kind: 'Closed';
  exit_code: number | null;
  reason: ClosedReason;
  detail?: string;
}

export const PtyError = Type.Object(
  { kind: Type.Literal('Error'), code: Type.String(), message: Type.String() },
  { $id: 'PtyError', description: 'A fault of the terminal that does not end the connection (pty-ext §7.7).' },
);
export type PtyError = Static<typeof PtyError>;

/** Payload of `op: "pty.session_frame"`. */
export const SessionFramePayload = Type.Union([Output, Resize, RoleAssigned, MembershipChanged, Keyframe, Closed, PtyError], {
  $id: 'SessionFramePayload',
  description: 'What a `pty.session_frame` carries, by its `kind` (pty-ext §7).',
});
export type SessionFramePayload = Output | Resize | RoleAssigned | MembershipChanged | Keyframe | Closed | PtyError;

/** A2A 1.0 in its own JSON: what every reader of a task needs is checked, and the rest let through. */
export const Task = Type.Object(
  { id: Type.String(), contextId: Type.String(), status: Type.Object({ state: Type.String() }) },
  { $id: 'Task', description: 'The A2A task that the session is (pty-ws §4).' },
);

export const TaskStatusUpdate = Type.Object(
  { task: Task, delta: Type.Object({ metadata: Type.Optional(Type.Record(Type.String(), Type.Unknown())) }) },
  { $id: 'TaskStatusUpdate', description: 'The task after a change, and the change: an A2A update event (pty-ws §4).' },
);
export interface TaskStatusUpdate {
  task: { readonly id: string; readonly contextId: string; readonly status: { readonly state: string }; readonly [key: string]: unknown };
  delta: { readonly metadata?: Readonly<Record<string, unknown>>; readonly [key: string]: unknown };
}

/** `TaskStatusUpdate` is an op of its own; all others are kinds of `pty.session_frame`. */
export type FrameKind = SessionFramePayload['kind'] | 'TaskStatusUpdate';

/**
 * A numbered frame as the gateway holds it: the same shape as an entry of the log.
 * `body` is the raw bytes for Output, and the payload as UTF-8 JSON for every other kind.
 */
export interface Frame {
  readonly sequence: number;
  readonly kind: string;
  /** UUIDv7. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly ts: number;
  readonly body: Uint8Array;
}
