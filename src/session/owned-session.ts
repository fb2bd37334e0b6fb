// A session whose terminal runs here: one owner, one turn at a time (design, idea 1). Knows no socket, no HTTP and no store.
import type { PushConfigs, PushSender } from '../a2a/push.js';
import { adapterOf } from '../agents/adapter.js';
import type { Agent } from '../agents/agents.js';
import { closeCode, Fault } from '../errors.js';
import { type Draft, LogError, type LogReader, type LogWriter, type Numbered } from '../log/log.js';
import type { Meter } from '../metrics/meter.js';
import type { ClosedReason, Role } from '../protocol/frames.js';
import { entry } from '../protocol/make-frames.js';
import type { PresenceAct } from '../protocol/names.js';
import type { Redaction } from '../redaction/redaction.js';
import {
  type Exit,
  type Screen,
  type ScreenHost,
  type ScreenView,
  type Size,
  type Snapshot,
  type Terminal,
  TerminalError,
} from '../terminal/terminal.js';
import type { Tracing } from '../tracing/tracing.js';
import { Answers } from './answers.js';
import { Asides } from './asides.js';
import { bounded, gate } from './bounded.js';
import { ClosedSession } from './closed-session.js';
import { closing } from './closing.js';
import { Journal } from './journal.js';
import { LastController } from './last-controller.js';
import { TimeLimit } from './limits.js';
import { Membership } from './membership.js';
import { past, refold } from './past.js';
import { Presence } from './presence.js';
import { Printing } from './printing.js';
import { type KeptPush, Pushes, whichever } from './pushes.js';
import { RawLive } from './raw-live.js';
import { describe, type KeptSession } from './record.js';
import { type Attached, keptMembers, Roster } from './roster.js';
import { RunningRecord } from './running-record.js';
import { canBeInherited } from './secrecy.js';
import type { Author, Joined, JoinRequest, Member, Session, SessionDescription } from './session.js';
import { type TaskPorts, TerminalTask } from './task/task.js';
import { TaskTrace } from './task/trace.js';
import { WindowSize } from './window-size.js';

/** How long a verb waits for the log, in milliseconds, before its client is told to try again. */
const LOG_PATIENCE_MS = 10_000;
/** How long the end waits for the log to take what was printed, so that the task's answer is whole, in milliseconds. */
const FINISH_MS = 2000;

export interface OwnedSessionParts {
  readonly agent: Agent;
  readonly kept: KeptSession;
  readonly writer: LogWriter;
  readonly screens: ScreenHost;
  readonly tracing?: Tracing;
  readonly meter: Meter;
  /** Undefined: nothing is redacted. */
  readonly redaction: Redaction | undefined;
  /** Once, if that could not be done. */
  redactionFailed(session: OwnedSession): void;
  /** Its program prints very much: so many bytes a second. Told at most every ten minutes. */
  loud(bytesPerSecond: number): void;
  /** For the numbers of its late readers, should the writer be fenced. */
  claim(): Promise<LogWriter>;
  readonly push: {
    readonly sender: PushSender;
    /** Once it has ended. */
    readonly after: PushConfigs;
    /** Receivers cannot be told all. */
    failed(error: unknown): void;
  };
  /** Once, when the Closed is in the log and the record tells of it; or, without `after`, when the log has failed. */
  ended(session: OwnedSession, after: ClosedSession | undefined, error?: unknown): void;
}

export class OwnedSession implements Session {
  readonly id: string;
  readonly instanceId: string;
  readonly frames: LogReader;
  readonly task: TerminalTask;
  readonly pushes: Pushes;
  readonly #parts: OwnedSessionParts;
  readonly #roster: Roster;
  readonly #presence: Presence;
  readonly #journal: Journal;
  readonly #screen: Screen;
  readonly #answers: Answers;
  readonly #printing: Printing;
  readonly #limit: TimeLimit;
  readonly #asides: Asides;
  readonly #lastController: LastController;
  readonly #membership: Membership;
  /** Whether another replica can go on with it: then its record tells who is attached. */
  readonly #canBeTakenOver: boolean;
  readonly #record: RunningRecord;
  #terminal: Terminal | undefined;
  readonly #size: WindowSize;
  #wanted: ClosedReason | 'handed_over' | undefined;
  #endedBy: string | undefined;
  #exit: Exit | undefined;
  /** The Closed is appended, or never will be. */
  #closing = false;
  #isFinishing = false;
  #over = false;
  #after: ClosedSession | undefined;
  readonly #gone = gate();
  /** The record tells how it ended, or never will. */
  readonly #recorded = gate();

  constructor(parts: OwnedSessionParts) {
    const { kept, agent, writer } = parts;
    this.#parts = parts;
    this.#canBeTakenOver = agent.policy.reattach !== undefined;
    this.id = kept.session_id;
    this.instanceId = kept.instance_id;
    this.#size = new WindowSize(kept, (size) => this.#fit(size));
    this.#roster = new Roster({
      maxControllers: agent.pty.max_controllers,
      maxObservers: agent.pty.max_observers,
      firstRole: kept.default_role === 'observer' ? undefined : 'controller',
    });
    this.#presence = new Presence(this.#roster);
    const journalEvents = { taken: (entries: readonly Numbered[]) => this.#taken(entries), failed: (error: unknown) => this.#fail(error) };
    this.#journal = new Journal(writer, journalEvents, parts.meter);
    this.#record = new RunningRecord(kept, (record) => this.#journal.amend(record));
    // After the journal, which is to be told first.
    const live = kept.live_stream === 'raw' && parts.redaction ? new RawLive(writer.reader) : undefined;
    this.frames = live ?? writer.reader;
    this.#answers = new Answers((bytes) => this.#terminal?.write(bytes) ?? Promise.resolve());
    const answering = {
      after: this.frames.extent().current,
      answer: (text: string, sequence: number) => this.#answers.answer(text, sequence),
    };
    this.#screen = parts.screens.open(this.#size.now, (upTo) => past(this.frames, upTo), answering, this.id);
    this.#printing = new Printing({
      agent,
      screen: this.#screen,
      redaction: parts.redaction,
      live,
      meter: parts.meter,
      cols: this.#size.now.cols,
      append: (draft) => void this.#append([draft]),
      bytesInFlight: () => this.#journal.bytesInFlight,
      terminal: { pause: () => this.#terminal?.pause(), resume: () => this.#terminal?.resume() },
      drained: () => this.#closeIfEnded(),
      loud: (bytesPerSecond) => parts.loud(bytesPerSecond),
      redactionFailed: () => this.#redactionFailed(),
    });
    this.#asides = new Asides(
      this.#screen,
      (clientId) => (this.#closing ? undefined : this.#roster.get(clientId)),
      (...aside) => void this.#append(...aside),
    );
    const { terminate_on_last_controller: isOn, controller_return_seconds } = agent.policy;
    this.#lastController = new LastController({ isOn, returnMs: this.#canBeTakenOver ? controller_return_seconds * 1000 : 0 }, () =>
      this.#end('last_member_left'),
    );
    this.#membership = new Membership({
      roster: this.#roster,
      presence: this.#presence,
      lastController: this.#lastController,
      append: (drafts, taken) => this.#append(drafts, taken),
      logged: (logged, late) => this.#logged(logged, late),
      changed: () => {
        if (this.#canBeTakenOver) this.#keepRecord();
      },
      firstSize: (size) => this.#size.first(size),
      keyframe: (sequence, clientId) => this.#asides.develop(sequence, clientId),
      oldest: () => this.frames.extent().oldest,
    });
    this.#limit = new TimeLimit(
      { idleSeconds: agent.policy.idle_timeout_seconds, ageSeconds: agent.policy.max_session_seconds },
      () => this.#end('timeout'),
      Date.now() - Date.parse(kept.created_at),
    );
    this.pushes = new Pushes(
      {
        taskId: this.id,
        frames: writer.reader,
        ...parts.push,
        keep: (pushes) => this.#keepPushes(pushes),
      },
      kept.push,
    );
    this.task = new TerminalTask(
      { id: kept.session_id, contextId: kept.context_id },
      adapterOf(agent.adapter),
      this.#taskPorts(),
      kept.task,
    );
  }

  /** What the task does to the session, and sees of it. */
  #taskPorts(): TaskPorts {
    const trace = new TaskTrace(this.#parts.tracing);
    return {
      permit: (author) => this.#permit(author),
      typed: ({ author, principal }) => {
        if (author !== 'message') this.#presence.typed(author.clientId);
        else if (principal !== undefined) this.#presence.messageFrom(principal);
      },
      type: (bytes) => this.#write(bytes),
      publish: (update) => void trace.tell(update, () => this.#append([entry('TaskStatusUpdate', { ...update })])).catch(() => {}),
      place: () => this.#journal.next - 1,
      keep: () => this.#keepRecord(),
      end: () => this.#end('killed'),
      conceal: (value) => this.#conceal(value),
      push: whichever(() => this.#pushConfigs()),
      activity: () => this.#terminal?.activity() ?? 'unknown',
      look: (place) => this.#screen.look(place),
      mark: (at) => (at ? this.#screen.mark(at) : this.#screen.unmark()),
      pending: () => this.#journal.bytesInFlight > 0 || !this.#printing.isDrained,
    };
  }

  /** The terminal that this session owns; to be given once, before any verb. */
  own(terminal: Terminal): void {
    this.#terminal = terminal;
    this.task.begin();
    if (this.#wanted) terminal.end(); // it came too late
  }

  /** Goes on with a session of another replica, before any verb: its size, its screen, and those who are still attached. */
  async resume(size: Size, members: readonly Attached[]): Promise<void> {
    this.#size.restore(size);
    this.#printing.resized(size.cols);
    this.#roster.restore(members);
    await refold(this.#screen, past(this.frames));
  }

  /** Tells those who are still attached that they have missed something. To be called when the terminal is there. */
  welcomeBack(): void {
    if (this.#parts.kept.awaits_controller && this.#roster.count('controller') === 0) this.#lastController.left();
    void this.#append([this.#membership.told()]);
    this.#presence.anew();
    for (const { clientId } of this.#roster.all()) void this.lagged(clientId);
  }

  /** There is nothing to go on with. */
  cannotGoOn(): void {
    this.#wanted = 'bridge_start_failed';
    this.exited({ code: null, signal: null });
  }

  /** Ends the terminal here without ending the session: another replica goes on with it. Resolves when this one has let go. */
  handOver(): Promise<void> {
    this.#wanted ??= 'handed_over';
    this.#terminal?.end();
    return this.#gone.promise;
  }

  /** Whether another replica could go on with it and conceal what this one does. */
  get canBeInherited(): boolean {
    return canBeInherited(this.#record.now);
  }

  /** Nothing more will be written here. */
  get isOver(): boolean {
    return this.#over;
  }

  describe(): SessionDescription {
    if (this.#after) return this.#after.describe();
    return describe(this.#record.now, this.frames, { ...this.#size.now, members: this.#roster.members() });
  }

  // ── Members ──

  async join(request: JoinRequest, member: Member): Promise<Joined> {
    if (this.#closing) await this.#gone.promise;
    if (this.#after) return this.#after.join(request, member);
    if (this.#over) throw goesOnElsewhere();
    this.#refuseIfOver();
    // Nobody is told how that leave went: whoever asked has been answered.
    return this.#membership.join(this.#concealed(request), member, (clientId) => void this.leave(clientId).catch(() => {}));
  }

  async leave(clientId: string): Promise<number | undefined> {
    this.#asides.forget(clientId);
    const gone = this.#roster.leave(clientId);
    return gone && !this.#closing ? this.#membership.left(gone) : undefined;
  }

  async requestRole(clientId: string, role: Role): Promise<void> {
    this.#refuseIfOver();
    await this.#membership.request(clientId, role);
  }

  async moveControl(clientId: string | null): Promise<void> {
    this.#refuseIfOver();
    await this.#membership.reassigned(this.#roster.moveControl(clientId));
  }

  async presence(clientId: string, act: PresenceAct, target?: string): Promise<void> {
    this.#refuseIfOver();
    await this.#membership.reassigned(this.#presence.act(clientId, act, target));
  }

  async dismiss(clientId: string): Promise<void> {
    const gone = this.#roster.get(clientId);
    if (!gone) throw new Fault('TASK_NOT_FOUND', `no member ${clientId} is attached to this session`);
    gone.member.dismiss('principal_revoked', closeCode.authorization);
    await this.leave(clientId);
  }

  // ── What a member may do ──

  async input(author: Author, bytes: Uint8Array, answerTo?: readonly number[]): Promise<void> {
    if (answerTo && this.#answers.isAnswer(Buffer.from(bytes).toString('latin1'), answerTo)) return;
    const written = this.#type(author, bytes);
    if (author === 'message') return written;
    this.task.touched();
    this.#presence.typed(author.clientId);
    written.catch((error: Error) => this.#asides.error(author.clientId, 'PTY_WRITE_FAILED', error.message));
  }

  async resize(clientId: string, size: Size): Promise<void> {
    this.#refuseIfOver();
    if (!this.#roster.isController(clientId)) throw new Fault('PERMISSION_DENIED', 'observers cannot send pty.session_resize');
    try {
      const resize = this.#size.change(size);
      if (resize) await this.#logged(this.#append([resize]));
    } catch (error) {
      if (!(error instanceof TerminalError)) throw error;
      this.#asides.error(clientId, 'PTY_RESIZE_FAILED', error.message);
    }
  }

  async requestKeyframe(clientId: string): Promise<void> {
    this.#refuseIfOver();
    this.#attached(clientId);
    this.#asides.askForPicture(clientId);
  }

  async lagged(clientId: string): Promise<void> {
    if (this.#closing) return;
    this.#asides.error(clientId, 'PTY_OUTPUT_LAGGED', 'this connection was too slow for the output; a Keyframe follows');
    this.#asides.picture(clientId);
  }

  async end(reason: ClosedReason, by?: string): Promise<void> {
    if (this.#wanted || this.#exit) throw new Fault('TASK_NOT_CANCELABLE', 'the session has ended');
    this.#endedBy = by;
    this.#end(reason);
  }

  view(): Promise<ScreenView> {
    return this.#after ? this.#after.view() : this.#screen.view();
  }

  snapshot(): Promise<Snapshot> {
    return this.#after ? this.#after.snapshot() : this.#screen.snapshot();
  }

  // ── The terminal's side ──

  /** The terminal printed. */
  printed(bytes: Uint8Array): void {
    this.#limit.touch();
    this.task.heard();
    this.#printing.print(bytes);
  }

  /** The terminal's process has ended, and all that it printed was told. */
  exited(exit: Exit): void {
    this.#exit = exit;
    this.#printing.end();
  }

  /** Nothing of it is shown any more, and so it cannot go on. */
  #redactionFailed(): void {
    this.#parts.redactionFailed(this);
    this.#end('instance_terminated');
  }

  /** What was printed is on the screen as it is in the log. */
  #taken(entries: readonly Numbered[]): void {
    this.#printing.fold(entries);
    if (entries.some(({ kind }) => kind === 'Output')) this.task.heard();
  }

  #closeIfEnded(): void {
    if (this.#exit && !this.#closing && !this.#isFinishing) void this.#finish(this.#exit);
  }

  // ── The end ──

  #end(reason: ClosedReason): void {
    if (this.#wanted || this.#exit) return;
    this.#wanted = reason;
    this.#terminal?.end();
  }

  /** What the program printed last belongs to the answer, which is told before the Closed. */
  async #finish(exit: Exit): Promise<void> {
    this.#isFinishing = true;
    if (this.task.isAnswering)
      await bounded(this.#journal.idle(), FINISH_MS, () => new Error()).then(
        () => this.task.finish(),
        () => {},
      );
    if (!this.#over) this.#close(exit);
  }

  #close(exit: Exit): void {
    this.#rest();
    if (this.#wanted === 'handed_over') {
      void this.#depart();
      return;
    }
    const { kind, ...closed } = closing(exit, this.#wanted);
    this.task.close(closed);
    const kept = this.#record.closed(closed, { by: this.#endedBy, size: this.#size.now, task: this.task.kept(), push: this.pushes.kept() });
    void this.#append([entry(kind, closed)], () => void this.#closed(kept));
  }

  async #closed(kept: KeptSession): Promise<void> {
    const { writer, claim, screens, push } = this.#parts;
    this.#over = true;
    this.#journal.stop();
    this.#after = new ClosedSession({ kept, reader: this.frames, writer, claim, screens, push: push.after });
    this.#gone.open();
    try {
      await this.#journal.amend(kept);
      this.#parts.ended(this, this.#after);
    } catch (error) {
      this.#parts.ended(this, undefined, error);
    }
    this.#recorded.open();
    await this.#asides.developed();
    this.#screen.dispose();
  }

  /** All that was printed is in the log; what follows is written by another replica. */
  async #depart(): Promise<void> {
    this.#over = true;
    const push = this.pushes.leave();
    if (push.length > 0) this.#record.keep({ push }).catch(() => {}); // its successor sends more of it again
    await this.#parts.writer.release().catch(() => {});
    this.#journal.stop();
    this.#screen.dispose();
    this.#parts.ended(this, undefined);
    this.#gone.open();
    this.#recorded.open();
  }

  /** This session is somebody else's now. */
  giveUp(error: unknown): void {
    this.#fail(error);
  }

  #fail(error: unknown): void {
    if (this.#over) return;
    this.#over = true;
    this.#rest();
    this.pushes.leave();
    this.#journal.stop();
    this.#terminal?.end();
    // Where another replica has the session, those who are connected to others are its members.
    const isElsewhere = error instanceof LogError && error.failure === 'fenced';
    for (const { member } of this.#roster.all())
      if (!isElsewhere || !member.home) member.dismiss('other', closeCode.fault, 'the log of this session has failed');
    this.#screen.dispose();
    this.#parts.ended(this, undefined, error);
    this.#gone.open();
    this.#recorded.open();
  }

  #rest(): void {
    this.#closing = true;
    this.task.stop();
    this.#printing.stop();
    this.#limit.stop();
    this.#lastController.came();
  }

  async conceal(text: string): Promise<string> {
    return this.#conceal(text);
  }

  // ── Helpers of the turns ──

  #conceal<T>(value: T): T {
    return this.#parts.redaction?.json(value) ?? value;
  }

  #concealed({ label, ...request }: JoinRequest): JoinRequest {
    return label === undefined ? request : { ...request, label: this.#conceal(label) };
  }

  #append(drafts: readonly Draft[], taken?: (first: number) => void): Promise<number> {
    const first = this.#journal.next;
    const appended = this.#journal.append(drafts, taken);
    appended.catch(() => {}); // told to all by #fail
    this.#printing.appended(drafts, first);
    return appended;
  }

  #logged<T>(logged: Promise<T>, late?: () => void): Promise<T> {
    return bounded(logged, LOG_PATIENCE_MS, () => {
      late?.();
      return new Fault('INTERNAL', 'the log does not take anything at the moment; try again', { status: 503 });
    });
  }

  #refuseIfOver(): void {
    if (!this.#closing) return;
    throw this.#wanted === 'handed_over' ? goesOnElsewhere() : new Fault('INVALID_REQUEST', 'the session has ended');
  }

  #attached(clientId: string): Attached {
    const attached = this.#roster.get(clientId);
    if (!attached) throw new Fault('PERMISSION_DENIED', 'join the session first');
    return attached;
  }

  /** Throws at once if the author may not; else resolves when the kernel has the bytes. */
  #type(author: Author, bytes: Uint8Array): Promise<void> {
    this.#permit(author);
    return this.#write(bytes);
  }

  #write(bytes: Uint8Array): Promise<void> {
    this.#limit.touch();
    return this.#terminal?.write(bytes) ?? Promise.reject(new TerminalError('write', 'the terminal is not there'));
  }

  #permit(author: Author): void {
    // What is typed into a terminal that ends would be lost.
    if (this.#wanted === 'handed_over') throw goesOnElsewhere();
    this.#refuseIfOver();
    const may = author === 'message' ? this.#roster.count('controller') === 0 : this.#roster.isController(author.clientId);
    if (may) return;
    const why = author === 'message' ? 'another connection holds the control' : 'observers cannot send pty.session_input';
    throw new Fault('PERMISSION_DENIED', why);
  }

  /** The terminal and what follows it have the new size; throws TerminalError if the terminal does not take it. */
  #fit(size: Size): void {
    this.#terminal?.resize(size);
    this.#printing.resized(size.cols);
  }

  /** For who goes on with it, or tells of its end: what was sent, and who is attached. */
  #keepRecord(): void {
    const task = this.task.kept();
    // Where this fails an append does as well, and tells all.
    if (!this.#canBeTakenOver) return void this.#record.keep({ task }).catch(() => {});
    const all = this.#roster.all();
    const awaits_controller = this.#lastController.isAwaited || all.some(({ role }) => role === 'controller');
    this.#record.keep({ members: keptMembers(all), task, awaits_controller }).catch(() => {});
  }

  /** While it ends, nobody but its owner may write its record. */
  async #pushConfigs(): Promise<PushConfigs> {
    if (!this.#closing) return this.pushes;
    await this.#recorded.promise;
    if (this.#after) return this.#after.task.push;
    throw goesOnElsewhere();
  }

  async #keepPushes(push: readonly KeptPush[]): Promise<void> {
    if (this.#closing) throw goesOnElsewhere();
    await this.#logged(this.#record.keep({ push }));
  }
}

const goesOnElsewhere = () =>
  new Fault('INTERNAL', 'this session goes on elsewhere; attach again', { status: 503, details: { moved: true } });
