// A session without a terminal, for tests of what attaches to one: what is typed is printed, and tests print the rest.
import { adapterOf } from '../../src/agents/adapter.js';
import { Fault } from '../../src/errors.js';
import type { ClosedReason, Frame } from '../../src/protocol/frames.js';
import { newId } from '../../src/protocol/ids.js';
import { entry, type Unnumbered } from '../../src/protocol/make-frames.js';
import type { PresenceAct } from '../../src/protocol/names.js';
import { Presence } from '../../src/session/presence.js';
import { noSender, Pushes } from '../../src/session/pushes.js';
import { type Attached, Roster } from '../../src/session/roster.js';
import type { Author, Delivery, Joined, JoinRequest, Member, Session, SessionDescription } from '../../src/session/session.js';
import { TerminalTask } from '../../src/session/task/task.js';
import type { Look, ScreenView, Size, Snapshot } from '../../src/terminal/terminal.js';
import { MemoryLog } from './memory-log.js';

const EMPTY_SCREEN: ScreenView = { cols: 80, rows: 24, sequence: 0, cursor: { row: 0, col: 0, visible: true }, title: '', lines: [] };
const EMPTY_LOOK: Look = { ...EMPTY_SCREEN, prompt: '', onAlternate: false, bracketedPaste: false, fold: 1 };

export class MemorySession implements Session {
  readonly id = newId();
  readonly instanceId = 'inst-a';
  readonly frames = new MemoryLog();
  readonly pushes = new Pushes({ taskId: this.id, frames: this.frames, sender: noSender, keep: async () => {}, failed: () => {} });
  readonly task: TerminalTask;
  readonly #roster: Roster;
  readonly #presence: Presence;
  #closed: Frame | undefined;
  /** What was typed, in order. */
  readonly typed: string[] = [];
  /** Client ids, in the order of leaving, once for each call. */
  readonly left: string[] = [];
  laggedCalls = 0;
  /** It is about to end, and answers no lag any more. */
  isEnding = false;
  /** Keyframes wait for this. */
  pictures: Promise<unknown> = Promise.resolve();
  /** How many joins were asked for. */
  knocks = 0;
  /** Joins wait for this. */
  doors: Promise<unknown> = Promise.resolve();

  constructor({ maxObservers = 32, maxControllers = 1 } = {}) {
    this.#roster = new Roster({ maxControllers, maxObservers, firstRole: 'controller' });
    this.#presence = new Presence(this.#roster);
    this.task = new TerminalTask({ id: this.id, contextId: newId() }, adapterOf(), {
      typed: () => {},
      permit: (author) => this.#permit(author),
      activity: () => 'unknown',
      look: async () => EMPTY_LOOK,
      pending: () => false,
      mark: () => {},
      keep: () => {},
      conceal: (value) => value,
      push: this.pushes,
      type: async (bytes) => this.#typed(bytes),
      publish: (update) => this.publish(entry('TaskStatusUpdate', update as never)),
      place: () => this.frames.extent().current,
      end: () => void this.end('killed').catch(() => {}),
    });
  }

  /** Appends one frame for everyone. */
  publish(draft: Unnumbered): number {
    const { first, tell } = this.frames.append([draft]);
    tell();
    return first;
  }

  print(text: string): number {
    return this.publish(entry('Output', Buffer.from(text)));
  }

  close(reason: ClosedReason = 'command_result'): void {
    this.task.close({ exit_code: 0, reason });
    const { kept, tell } = this.frames.append([entry('Closed', { exit_code: 0, reason })]);
    this.#closed = kept[0];
    tell();
  }

  describe(): SessionDescription {
    const { oldest, current } = this.frames.extent();
    return {
      session_id: this.id,
      instance_id: this.instanceId,
      task_id: this.id,
      context_id: this.task.now().contextId,
      state: this.#closed ? 'closed' : 'running',
      created_at: new Date().toISOString(),
      cols: 80,
      rows: 24,
      created_by: 'test',
      replica_id: 'test',
      current_sequence: current,
      oldest_sequence: oldest,
      ...this.#roster.members(),
    };
  }

  async join(request: JoinRequest, member: Member): Promise<Joined> {
    this.knocks += 1;
    await this.doors;
    const clientId = newId();
    const closed = this.#closed;
    const grant = this.#roster.join(clientId, closed ? { ...request, mayControl: false } : request, member);
    const { oldest } = this.frames.extent();
    const own = { to: clientId };
    const { first, kept, tell } = this.frames.append([own, entry('MembershipChanged', this.#roster.members()), own]);
    const downgraded = grant.downgraded === undefined ? {} : { downgraded: true as const, reason: grant.downgraded };
    tell();
    this.#presence.greet(clientId);
    return {
      clientId,
      role: grant.role,
      oldest,
      roleAssigned: { ...entry('RoleAssigned', { role: grant.role, client_id: clientId, ...downgraded }), sequence: first },
      membership: kept[0] as Frame,
      keyframe: { sequence: first + 2, frame: this.#picture(first + 2) },
      ...(closed && { closed }),
    };
  }

  async presence(clientId: string, act: PresenceAct, target?: string): Promise<void> {
    this.#reassign(this.#presence.act(clientId, act, target));
  }

  async leave(clientId: string): Promise<number | undefined> {
    this.left.push(clientId);
    if (!this.#roster.leave(clientId)) return undefined;
    return this.publish(entry('MembershipChanged', this.#roster.members()));
  }

  async input(author: Author, bytes: Uint8Array): Promise<void> {
    this.#permit(author);
    this.#typed(bytes);
  }

  #typed(bytes: Uint8Array): void {
    this.typed.push(Buffer.from(bytes).toString());
    this.publish(entry('Output', bytes));
    this.task.heard();
  }

  async resize(clientId: string, size: Size): Promise<void> {
    if (!this.#roster.isController(clientId)) throw new Fault('PERMISSION_DENIED', 'observers cannot resize');
    this.publish(entry('Resize', size));
  }

  async requestRole(clientId: string, role: 'controller' | 'observer'): Promise<void> {
    const grant = this.#roster.request(clientId, role);
    this.deliver(clientId, entry('RoleAssigned', { role: grant.role, client_id: clientId }));
    if (grant.changed) this.publish(entry('MembershipChanged', this.#roster.members()));
  }

  async requestKeyframe(clientId: string): Promise<void> {
    const { first, tell } = this.frames.append([{ to: clientId }]);
    this.#memberOf(clientId)?.deliver({ sequence: first, frame: this.#picture(first) });
    tell();
  }

  async lagged(clientId: string): Promise<void> {
    this.laggedCalls += 1;
    if (this.isEnding) return;
    this.deliver(clientId, entry('Error', { code: 'PTY_OUTPUT_LAGGED', message: 'output was skipped' }));
    await this.requestKeyframe(clientId);
  }

  async moveControl(clientId: string | null): Promise<void> {
    this.#reassign(this.#roster.moveControl(clientId));
    this.publish(entry('MembershipChanged', this.#roster.members()));
  }

  #reassign(changed: readonly Attached[]): void {
    for (const { clientId, role } of changed) this.deliver(clientId, entry('RoleAssigned', { role, client_id: clientId }));
  }

  async dismiss(clientId: string): Promise<void> {
    this.#memberOf(clientId)?.dismiss('principal_revoked', 4403);
  }

  async end(reason: ClosedReason): Promise<void> {
    if (this.#closed) throw new Fault('TASK_NOT_CANCELABLE', 'it has ended');
    this.close(reason);
  }

  async conceal(text: string): Promise<string> {
    return text;
  }

  async view(): Promise<ScreenView> {
    return EMPTY_SCREEN;
  }

  async snapshot(): Promise<Snapshot> {
    return { cols: 80, rows: 24, bytes: new Uint8Array(), anchor: 0 };
  }

  /** A frame for one member alone: delivered before the log's readers hear of its number, as sessions do. */
  deliver(clientId: string, draft: Unnumbered, frame?: Delivery['frame']): void {
    const { first, tell } = this.frames.append([{ to: clientId }]);
    this.#memberOf(clientId)?.deliver({ sequence: first, frame: frame ?? { ...draft, sequence: first } });
    tell();
  }

  #permit(author: Author): void {
    const allowed = author === 'message' ? this.#roster.count('controller') === 0 : this.#roster.isController(author.clientId);
    if (!allowed) throw new Fault('PERMISSION_DENIED', 'observers cannot type');
  }

  #memberOf(clientId: string): Member | undefined {
    return this.#roster.get(clientId)?.member;
  }

  async #picture(sequence: number): Promise<Frame> {
    await this.pictures;
    const keyframe = {
      snapshot: '',
      snapshot_format: 'vt100-screen-state-v1',
      snapshot_cols: 80,
      snapshot_rows: 24,
      anchor_sequence: sequence - 1,
    } as const;
    return { ...entry('Keyframe', keyframe), sequence };
  }
}
