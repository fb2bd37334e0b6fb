// Turns the numbered frames of a session into events, each once and in order, over any number of connections. Knows no socket.
import type { Fault } from '../errors.js';
import type { Closed, Keyframe, MembershipChanged, PtyError, Role, RoleAssigned } from '../protocol/frames.js';
import type { PresenceState } from '../protocol/presence.js';
import { Cursor } from './cursor.js';
import type { Emitter } from './emitter.js';
import { Gap, type Missed } from './gap.js';
import type { State } from './link.js';
import type { SessionFrame, Task, TaskUpdate } from './messages.js';

/** Cells. */
export interface Size {
  readonly cols: number;
  readonly rows: number;
}

export interface Members {
  readonly controllers: MembershipChanged['controllers'];
  readonly observers: MembershipChanged['observers'];
}

export interface Assigned {
  readonly role: Role;
  /** Of this connection: another after each reconnect. */
  readonly clientId: string;
  /** Set when less was given than was asked for. */
  readonly downgraded: boolean;
  readonly reason?: string;
}

export interface Picture extends Size {
  /** Written as it is to any terminal of that size, it gives the session's screen (pty-ext §7.5). */
  readonly snapshot: Uint8Array;
  readonly sequence: number;
  readonly anchor: number;
  /**
   * True when it ends a replay that was applied in full: whoever had the screen of `replay_from` has this one already, and may ignore it.
   * False: it must be written, what is on the screen is not the session's.
   */
  readonly afterReplay: boolean;
}

/**
 * Something that the screen missed. `lagged`: this connection was too slow; `out_of_range`: what came after `after` is not kept any more; a Keyframe
 * follows both. `no_picture`: no Keyframe could be made.
 */
export interface Notice {
  readonly kind: 'lagged' | 'out_of_range' | 'no_picture';
  /** The last number that was applied, if any. */
  readonly after: number | undefined;
  readonly message: string;
}

export type ClientEvents = {
  state(state: State): void;
  /** What the program printed; `replayed` if it comes from the past. The gateway answers its queries: a terminal's own answers need not be sent. */
  output(bytes: Uint8Array, sequence: number, replayed: boolean): void;
  /** A screen to be written. Those that tell nothing new are not announced. */
  keyframe(picture: Picture): void;
  /** The session's size; before the output or the Keyframe that needs it. */
  resize(size: Size): void;
  role(assigned: Assigned): void;
  members(members: Members): void;
  /** Who asks for control, who has lent it, and who types, as it is now; to those who set `presence` (presence §2). */
  presence(state: PresenceState): void;
  /** The session is over. */
  closed(closed: Closed): void;
  notice(notice: Notice): void;
  /** Something was not seen live: after the replay, or just before the Keyframe that stands for it. Once for each stretch. */
  missed(missed: Missed): void;
  /** The task has changed; comes to subscribers, and in a replay. */
  task(update: { readonly task: Task; readonly delta: TaskUpdate['delta'] }, sequence: number): void;
  /** The gateway refused something that no promise waits for (input, resize), the terminal failed at something, or a message could not be read. */
  error(error: Fault | PtyError): void;
};

/** What the receiver tells its client beside the events. */
export interface ReceiverHooks {
  /** The flush has ended: all that was missed is there. */
  live(): void;
  /** `joining` if it answers a join. */
  assigned(assigned: Assigned, joining: boolean): void;
}

export class Receiver {
  readonly #events: Emitter<ClientEvents>;
  readonly #hooks: ReceiverHooks;
  readonly #cursor: Cursor;
  readonly #gap = new Gap();
  /** Task id → number of the last update: a subscription has a cursor of its own. */
  readonly subscriptions = new Map<string, number>();
  #joined = false;
  #newest = 0;
  #membersAt = 0;
  size: Size | undefined;
  assigned: Assigned | undefined;
  members: Members = { controllers: [], observers: [] };
  closed: Closed | undefined;

  constructor(events: Emitter<ClientEvents>, hooks: ReceiverHooks, replayFrom: number | undefined) {
    this.#events = events;
    this.#hooks = hooks;
    this.#cursor = new Cursor(replayFrom);
  }

  /** `replay_from` of the next join. */
  get position(): number | undefined {
    return this.#cursor.position;
  }

  /** The highest number seen. */
  get newest(): number {
    return this.#newest;
  }

  get joined(): boolean {
    return this.#joined;
  }

  begin(): void {
    this.#joined = false;
    this.#cursor.begin();
    if (this.position !== undefined) this.#gap.resume(this.position);
  }

  lost(): void {
    this.#joined = false;
  }

  askForKeyframe(): void {
    this.#cursor.askForKeyframe();
  }

  outOfRange(message: string): void {
    const after = this.#cursor.position;
    this.#cursor.outOfRange();
    this.#missed(this.#gap.lose('out_of_range', after ?? 0));
    this.#events.emit('notice', { kind: 'out_of_range', after, message });
  }

  take(sequence: number, frame: SessionFrame): void {
    this.#newest = Math.max(this.#newest, sequence);
    switch (frame.kind) {
      case 'Output':
        this.#output(sequence, frame.bytes);
        break;
      case 'Resize':
        if (this.#cursor.screen(sequence)) this.#resize(frame.cols, frame.rows);
        break;
      case 'RoleAssigned':
        this.#role(sequence, frame);
        break;
      case 'MembershipChanged':
        this.#members(sequence, frame);
        break;
      case 'Keyframe':
        this.#keyframe(sequence, frame);
        break;
      case 'Closed':
        this.#close(sequence, frame);
        break;
      case 'Error':
        this.#fault(sequence, frame);
        break;
      case 'TaskStatusUpdate':
        this.#task(sequence, frame);
        break;
      default:
        // A kind that a later version may add: it has its number, and no meaning here.
        this.#cursor.other(sequence);
    }
  }

  #output(sequence: number, bytes: Uint8Array): void {
    if (this.#cursor.screen(sequence)) this.#events.emit('output', bytes, sequence, this.#cursor.flushing);
  }

  #resize(cols: number, rows: number): void {
    if (this.size?.cols === cols && this.size.rows === rows) return;
    this.size = { cols, rows };
    this.#events.emit('resize', this.size);
  }

  #role(sequence: number, { role, client_id, downgraded, reason }: RoleAssigned): void {
    const joining = !this.#joined;
    this.#joined = true;
    if (joining) this.#cursor.joined(sequence);
    else this.#cursor.other(sequence);
    this.assigned = { role, clientId: client_id, downgraded: downgraded === true, ...(reason !== undefined && { reason }) };
    this.#hooks.assigned(this.assigned, joining);
    this.#events.emit('role', this.assigned);
  }

  /** An older one may come after a newer one: the join's is sent before the replay. */
  #members(sequence: number, { controllers, observers }: MembershipChanged): void {
    this.#cursor.other(sequence);
    if (sequence <= this.#membersAt) return;
    this.#membersAt = sequence;
    this.members = { controllers, observers };
    this.#events.emit('members', this.members);
  }

  #keyframe(sequence: number, frame: Omit<Keyframe, 'snapshot'> & { snapshot: () => Uint8Array }): void {
    const wasFlushing = this.#cursor.flushing;
    const verdict = this.#cursor.keyframe(sequence);
    const { snapshot_cols: cols, snapshot_rows: rows, anchor_sequence: anchor } = frame;
    this.#endGap(sequence, sequence);
    if (verdict !== 'skip') {
      this.#resize(cols, rows);
      this.#events.emit('keyframe', { snapshot: frame.snapshot(), cols, rows, sequence, anchor, afterReplay: verdict === 'after replay' });
    }
    this.#endFlush(wasFlushing);
  }

  #fault(sequence: number, error: PtyError): void {
    const wasFlushing = this.#cursor.flushing;
    const after = this.#cursor.position;
    if (error.code === 'PTY_OUTPUT_LAGGED') {
      this.#cursor.lagged();
      // Who has no screen yet waits for its first Keyframe, and misses nothing.
      if (after !== undefined) this.#missed(this.#gap.lose('lagged', after));
      this.#events.emit('notice', { kind: 'lagged', after, message: error.message });
    } else if (error.code === 'KEYFRAME_UNAVAILABLE') {
      this.#cursor.keyframeUnavailable(sequence);
      this.#events.emit('notice', { kind: 'no_picture', after, message: error.message });
      this.#endGap(sequence, undefined);
      this.#endFlush(wasFlushing);
    } else if (this.#cursor.other(sequence)) this.#events.emit('error', error);
  }

  /** Where the cursor neither waits for the end of a flush nor for a Keyframe, all is there. */
  #endGap(to: number, keyframe: number | undefined): void {
    if (this.#cursor.live) this.#missed(this.#gap.end(to, keyframe));
  }

  #missed(missed: Missed | undefined): void {
    if (missed) this.#events.emit('missed', missed);
  }

  #endFlush(wasFlushing: boolean): void {
    if (wasFlushing && !this.#cursor.flushing) this.#hooks.live();
  }

  /** A session that has ended sends its stored Closed after a Keyframe with a higher number, so the cursor does not judge it. */
  #close(sequence: number, closed: Closed): void {
    this.#cursor.other(sequence);
    if (this.closed) return;
    this.closed = closed;
    this.#events.emit('closed', closed);
  }

  #task(sequence: number, { task, delta }: TaskUpdate): void {
    if (this.#isNewUpdate(sequence, task.id)) this.#events.emit('task', { task, delta }, sequence);
  }

  /** In a flush, the updates of a subscribed task are left to the subscription, which is taken up again after it from its own place. */
  #isNewUpdate(sequence: number, taskId: string): boolean {
    const last = this.subscriptions.get(taskId);
    if (this.#cursor.flushing) return this.#cursor.other(sequence) && last === undefined;
    if (last === undefined) return true;
    if (sequence <= last) return false;
    this.subscriptions.set(taskId, sequence);
    return true;
  }
}
