// The words between a session's owner and the replicas that its clients are connected to. Knows no bus and no session.

import type { PushConfig, TaskPushConfig } from '../../a2a/push.js';
import type { GoodbyeReason } from '../../errors.js';
import type { ClosedReason, Frame, Role } from '../../protocol/frames.js';
import type { PresenceAct } from '../../protocol/names.js';
import type { PresenceState } from '../../protocol/presence.js';
import type { ScreenView, Size } from '../../terminal/terminal.js';
import type { Author, JoinRequest, MessageJson, PlacedTask, Sender, SessionDescription, TaskJson } from '../session.js';

/** A frame without its body, which travels beside it as it is. */
export type FrameHead = Omit<Frame, 'body'>;
/** A frame whose body is JSON, as one value. */
export type FrameText = FrameHead & { readonly body: string };

/** What the owner is asked, and what it answers. Some come with bytes: input (asked), snapshot (answered). */
export interface Questions {
  describe: { ask: object; answer: SessionDescription };
  join: {
    ask: { handle: string; request: JoinRequest };
    answer: {
      clientId: string;
      role: Role;
      roleAssigned: FrameText;
      membership: FrameText;
      keyframe: number;
      oldest: number;
      closed?: FrameText;
    };
  };
  leave: { ask: { clientId: string }; answer: { told: number | null } };
  /** A join whose answer came too late: whoever it let in is to leave. */
  forget: { ask: { handle: string }; answer: object };
  input: { ask: { author: Author; answerTo?: readonly number[] }; answer: object };
  resize: { ask: { clientId: string; size: Size }; answer: object };
  requestRole: { ask: { clientId: string; role: Role }; answer: object };
  requestKeyframe: { ask: { clientId: string }; answer: object };
  lagged: { ask: { clientId: string }; answer: object };
  moveControl: { ask: { clientId: string | null }; answer: object };
  presence: { ask: { clientId: string; act: PresenceAct; target?: string }; answer: object };
  dismiss: { ask: { clientId: string }; answer: object };
  end: { ask: { reason: ClosedReason; by?: string }; answer: object };
  conceal: { ask: { text: string }; answer: { text: string } };
  view: { ask: object; answer: ScreenView };
  snapshot: { ask: object; answer: Size & { anchor: number } };
  task: { ask: { historyLength?: number }; answer: PlacedTask };
  message: { ask: { message: MessageJson } & Sender; answer: TaskJson };
  setPush: { ask: { config: PushConfig }; answer: TaskPushConfig };
  listPushes: { ask: object; answer: readonly TaskPushConfig[] };
  removePush: { ask: { id: string }; answer: object };
  cancel: { ask: { serviceParameters?: Record<string, unknown> }; answer: TaskJson };
}
export type Question = keyof Questions;

/** What the owner tells a member elsewhere, addressed by the handle that its replica gave it. */
export interface Tidings {
  /** A frame for it alone; without a head its content follows as `ready`. The body comes beside it. */
  deliver: { sessionId: string; handle: string; sequence: number; frame?: FrameHead };
  ready: { handle: string; frame: FrameHead };
  presenceState: { handle: string; state: PresenceState };
  sendAway: { handle: string; reason: GoodbyeReason; code: number; detail?: string };
}
export type Tiding = keyof Tidings;

/** A JSON value with bytes beside it. */
export interface Told<Head> {
  readonly head: Head;
  readonly bytes?: Uint8Array;
}

export function headOf({ sequence, kind, id, ts }: Frame): FrameHead {
  return { sequence, kind, id, ts };
}

export function textOf(frame: Frame): FrameText {
  return { ...headOf(frame), body: Buffer.from(frame.body).toString() };
}

export function frameOf({ body, ...head }: FrameText): Frame {
  return { ...head, body: Buffer.from(body) };
}
