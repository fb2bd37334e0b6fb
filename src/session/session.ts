// What a session is to those who attach to it, wherever its terminal runs. Knows no socket, no Redis and no HTTP.
import type { PushConfigs } from '../a2a/push.js';
import type { GoodbyeReason } from '../errors.js';
import type { LogReader } from '../log/log.js';
import type { ClosedReason, Frame, Role } from '../protocol/frames.js';
import type { PresenceAct } from '../protocol/names.js';
import type { PresenceState } from '../protocol/presence.js';
import type { ScreenView, Size, Snapshot } from '../terminal/terminal.js';

/** Frames whose audience is everyone are read from the log; the rest is delivered to one member in the order of their numbers. */
export interface Delivery {
  readonly sequence: number;
  /** A Keyframe is announced with its number before its picture is ready. Never rejects (KEYFRAME_UNAVAILABLE is a frame too). */
  readonly frame: Frame | Promise<Frame>;
}

/** Where a member on another replica is found. */
export interface Home {
  readonly replicaId: string;
  /** What its replica knows it by. */
  readonly handle: string;
}

/** A connection, as the session sees it. */
export interface Member {
  /** Undefined for one that is connected to the replica that runs the session. */
  readonly home?: Home;
  /** A frame for this connection alone, in ascending order; may be called inside any turn. */
  deliver(delivery: Delivery): void;
  /** What the others do, for one who wants to know (presence §2). */
  tell?(state: PresenceState): void;
  /** The session sends this connection away. */
  dismiss(reason: GoodbyeReason, closeCode: number, detail?: string): void;
}

export interface JoinRequest {
  readonly role: Role;
  /** Hints, used for the first controller alone (protocol R12). */
  readonly size?: Partial<Size>;
  readonly label?: string;
  /** Whether the principal has `pty:control`. */
  readonly mayControl: boolean;
  /** `sub` of the token. */
  readonly principal: string;
  /** Whether it is to be told what the others do (presence §1). */
  readonly hearsPresence?: boolean;
}

/**
 * A join, done in one turn (protocol R1): nothing falls between these. The member also gets later frames by `deliver`,
 * but RoleAssigned and the Keyframe of the flush are here.
 */
export interface Joined {
  readonly clientId: string;
  readonly role: Role;
  readonly roleAssigned: Frame;
  readonly membership: Frame;
  /** Ends the flush. All with a lower number is in it, or before `roleAssigned`; live begins after it. */
  readonly keyframe: Delivery;
  /** What could be replayed when the join was taken (protocol R2): in range iff oldest − 1 ≤ replay_from < roleAssigned.sequence. */
  readonly oldest: number;
  /** Set if the session has ended: to be sent after the Keyframe, then the goodbye. */
  readonly closed?: Frame;
}

/** Who types: a member, or a message that comes without one and needs a free lease (protocol, A2A). */
export type Author = { readonly clientId: string } | 'message';

/** Whose message it is, and what goes with all that comes of it. */
export interface Sender {
  readonly author: Author;
  /** `sub` of the token. */
  readonly principal?: string;
  readonly serviceParameters?: Record<string, unknown>;
}

export interface SessionDescription {
  readonly session_id: string;
  readonly instance_id: string;
  readonly task_id: string;
  readonly context_id: string;
  readonly state: 'running' | 'closed';
  readonly created_at: string;
  readonly closed_at?: string;
  readonly exit_code?: number | null;
  readonly reason?: ClosedReason;
  /** Who ended it, where somebody did who has a name. */
  readonly closed_by?: string;
  readonly cols: number;
  readonly rows: number;
  readonly title?: string;
  readonly label?: string;
  /** It was given secrets to conceal. */
  readonly sensitive?: true;
  /** Absent: secrets are concealed. */
  readonly redaction?: 'off';
  /** Absent: who watches live sees no more than what is kept. */
  readonly live_stream?: 'raw';
  readonly created_by: string;
  readonly replica_id: string;
  readonly current_sequence: number;
  readonly oldest_sequence: number;
  readonly controllers: ReadonlyArray<{ readonly client_id: string; readonly label?: string }>;
  readonly observers: ReadonlyArray<{ readonly client_id: string; readonly label?: string }>;
}

/** All verbs are turns: taken one at a time, in the order of the calls. They reject with a Fault that is meant for the client. */
export interface Session {
  readonly id: string;
  readonly instanceId: string;
  /** What everyone may see, in order. */
  readonly frames: LogReader;
  describe(): SessionDescription;
  /** RATE_LIMITED when observers are full (protocol R9). */
  join(request: JoinRequest, member: Member): Promise<Joined>;
  /** Resolves with the number of the MembershipChanged that tells of it; undefined if the client was no member. */
  leave(clientId: string): Promise<number | undefined>;
  /**
   * PERMISSION_DENIED unless the author has control. What the kernel did not take becomes a PTY_WRITE_FAILED delivery (or INTERNAL for a message).
   * With `answerTo`, the bytes may be a terminal's answer to CPR in one of these outputs: they are dropped if they say what was answered here.
   */
  input(author: Author, bytes: Uint8Array, answerTo?: readonly number[]): Promise<void>;
  /** A size that is the same is no event. */
  resize(clientId: string, size: Size): Promise<void>;
  /** RoleAssigned follows as a delivery. PERMISSION_DENIED if `mayControl` was false and controller is asked for. */
  requestRole(clientId: string, role: Role): Promise<void>;
  /** A Keyframe follows as a delivery: the first at once, more within a second share one at its end (protocol R9). */
  requestKeyframe(clientId: string): Promise<void>;
  /** This member's cursor fell out of the tail: PTY_OUTPUT_LAGGED and a Keyframe follow as deliveries; live goes on after the Keyframe's number. */
  lagged(clientId: string): Promise<void>;
  /** Asks the others for control, or answers one who asks (presence §3). PERMISSION_DENIED if that is not this member's to do. */
  presence(clientId: string, act: PresenceAct, target?: string): Promise<void>;
  /** Moves the lease to a member (others become observers), or frees it. */
  moveControl(clientId: string | null): Promise<void>;
  /** Sends a member away: `Member.dismiss` with `principal_revoked` and 4403, wherever it is connected. TASK_NOT_FOUND (404) if it is no member. */
  dismiss(clientId: string): Promise<void>;
  /** Ends the session, as `by` asked for; one Closed with this reason follows. TASK_NOT_CANCELABLE (409) if it has ended. */
  end(reason: ClosedReason, by?: string): Promise<void>;
  /** A text that somebody said of the session, as others may read it: without its secrets. */
  conceal(text: string): Promise<string>;
  view(): Promise<ScreenView>;
  /** The screen as bytes for any terminal of its size. */
  snapshot(): Promise<Snapshot>;
  /** The task that the session is (protocol, A2A). */
  readonly task: SessionTask;
}

/** What the session keeps for its task. */
export interface SessionTask {
  /** A2A 1.0 Task, as JSON. */
  snapshot(historyLength?: number): Promise<TaskJson>;
  /** The same, and its place in the log: what is told of the task with a higher number is not in it yet, all else is. */
  placed(historyLength?: number): Promise<PlacedTask>;
  /** Types a message; the same messageId twice is typed once. Resolves with the task when its state is WORKING. */
  send(message: MessageJson, from: Sender): Promise<TaskJson>;
  /** Resolves when the task rests (quiet, or ended). */
  rest(): Promise<TaskJson>;
  /** Who is told of its updates over HTTP (A2A 1.0 §3.1.7–3.1.10). */
  readonly push: PushConfigs;
  /** TASK_NOT_CANCELABLE if it has ended. */
  cancel(serviceParameters?: Record<string, unknown>): Promise<TaskJson>;
}

export interface PlacedTask {
  readonly task: TaskJson;
  readonly sequence: number;
}

export type TaskState =
  | 'TASK_STATE_SUBMITTED'
  | 'TASK_STATE_WORKING'
  | 'TASK_STATE_INPUT_REQUIRED'
  | 'TASK_STATE_AUTH_REQUIRED'
  | 'TASK_STATE_COMPLETED'
  | 'TASK_STATE_FAILED'
  | 'TASK_STATE_CANCELED'
  | 'TASK_STATE_REJECTED';

export interface MessageJson {
  readonly messageId: string;
  readonly role: string;
  readonly parts: ReadonlyArray<Readonly<Record<string, unknown>>>;
  readonly [key: string]: unknown;
}

/** One part of an artifact: text alone. */
export interface TextPart {
  readonly text: string;
  readonly mediaType: 'text/plain';
}

/** What came of the newest message: `output`, the program's answer to it, and `screen`, what the terminal shows as the task rests. */
export interface ArtifactJson {
  readonly artifactId: 'output' | 'screen';
  readonly name: string;
  readonly parts: readonly TextPart[];
  /**
   * `messageId`: what it is the answer to. `cut`: UTF-16 units that are missing at its beginning, where it was too long. `incomplete`: some of
   * it could not be followed.
   */
  readonly metadata?: { readonly messageId: string; readonly cut?: number; readonly incomplete?: true };
}

export interface TaskJson {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: TaskState; readonly timestamp: string; readonly message?: MessageJson };
  readonly history?: readonly MessageJson[];
  /** Of the newest message; absent before the first. */
  readonly artifacts?: readonly ArtifactJson[];
  readonly [key: string]: unknown;
}
