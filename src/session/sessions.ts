// All sessions, wherever they run: found, made, listed, ended. Knows no HTTP and no socket.
import type { PushSender } from '../a2a/push.js';
import type { Agent, Agents, SessionRequest } from '../agents/agents.js';
import { Fault } from '../errors.js';
import { type Log, LogError } from '../log/log.js';
import type { Meter } from '../metrics/meter.js';
import { newId } from '../protocol/ids.js';
import type { ScreenHost, SpawnTerminal } from '../terminal/terminal.js';
import type { Tracing } from '../tracing/tracing.js';
import { ClosedSessions } from './closed-sessions.js';
import { ListedSession } from './listed-session.js';
import { OwnedSessions } from './owned-sessions.js';
import { noSender } from './pushes.js';
import type { Quota } from './quota.js';
import { isExpired, type KeptSession, keptSession } from './record.js';
import type { Sessions } from './registry.js';
import { Elsewhere } from './replicas/elsewhere.js';
import type { Neighbours } from './replicas/neighbours.js';
import { Succession } from './replicas/succession.js';
import type { Session, SessionDescription } from './session.js';
import { Telling } from './telling.js';

/** How often what is kept is looked through for what is over, in milliseconds. */
const SWEEP_MS = 60_000;
/** After how long sessions that could not be settled are tried again, in milliseconds: doubled each time, up to a sweep. */
const AGAIN_MS = 500;
/** How often a session is looked for again that changes hands while it is looked for. */
const FIND_TRIES = 3;

export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** What is told of a session that has ended. */
export type Ended = Pick<SessionDescription, 'session_id' | 'instance_id' | 'reason' | 'exit_code'>;

export interface SessionsParts {
  readonly log: Log;
  readonly screens: ScreenHost;
  readonly spawn: SpawnTerminal;
  readonly replicaId: string;
  readonly maxSessions: number;
  readonly logger: Logger;
  /** Absent: nothing is traced. */
  readonly tracing?: Tracing;
  /** Counts nothing where it is absent. */
  readonly meter?: Meter;
  /** For those whose sessions outlive their replica. */
  readonly agents?: Pick<Agents, 'get'>;
  /** Tells receivers of the updates of tasks; nobody is told where it is absent. */
  readonly sender?: PushSender;
  /** Undefined where there is one replica alone. */
  readonly neighbours?: Neighbours;
  /** Undefined where there is one replica alone: then the sessions that run here are all. */
  readonly quota?: Quota;
  /** Told when a session has its Closed, whether its owner wrote it or whoever found that one gone. */
  onClosed?(ended: Ended): void;
  /** Told when nothing is left of a session, since its retention is over. */
  onRemoved?(kept: KeptSession): void;
  /** Told when what a session printed could not be redacted; it ends. */
  onRedactionFailed?(session: Session): void;
}

/** Opens what the log keeps; sessions whose process died while they ran go on here or are closed (`agent_disconnect`). */
export async function createSessions(parts: SessionsParts): Promise<Sessions> {
  const registry = new Registry(parts);
  await registry.begin();
  return registry;
}

class Registry implements Sessions {
  readonly #parts: SessionsParts;
  readonly #closed: ClosedSessions;
  readonly #owned: OwnedSessions;
  readonly #elsewhere: Elsewhere | undefined;
  readonly #telling: Telling;
  readonly #succession: Succession;
  readonly #sweep: NodeJS.Timeout;
  #again: NodeJS.Timeout | undefined;
  #againMs = AGAIN_MS;
  #isTaking = true;

  constructor(parts: SessionsParts) {
    const { log, screens, neighbours } = parts;
    this.#parts = parts;
    const sender = parts.sender ?? noSender;
    this.#closed = new ClosedSessions(log, screens, sender);
    this.#telling = new Telling({ log, sender, replicaId: parts.replicaId, logger: parts.logger });
    this.#owned = new OwnedSessions(parts, this.#closed, this.#telling);
    this.#succession = new Succession(parts, this.#owned, this.#telling, () => this.#elsewhere?.desk);
    this.#elsewhere = neighbours && this.#meet(neighbours);
    this.#sweep = setInterval(() => void this.#tidy(), SWEEP_MS).unref();
  }

  /** Nothing of what an earlier life of this replica owned runs any more. */
  async begin(): Promise<void> {
    const { neighbours, replicaId } = this.#parts;
    const settled = this.#settle((owner) => !neighbours || owner === replicaId);
    // Where others serve meanwhile, nobody has to wait for it.
    if (!neighbours) await settled;
    await this.#removeExpired();
  }

  async create(agent: Agent, request: SessionRequest, createdBy: string, contextId?: string): Promise<Session> {
    const trouble = this.trouble();
    if (trouble) throw new Fault('INTERNAL', `no session can be started now: ${trouble}`, { status: 503 });
    return this.#owned.create(agent, request, createdBy, contextId);
  }

  async find(instanceId: string, sessionId: string): Promise<Session | undefined> {
    const owned = this.#owned.get(sessionId);
    if (owned) return owned.instanceId === instanceId ? owned : undefined;
    const kept = await this.#kept(sessionId);
    if (kept?.instance_id !== instanceId || this.#isGoneForGood(kept)) return undefined;
    return this.#open(kept);
  }

  async creatorOf(instanceId: string, sessionId: string): Promise<string | undefined> {
    // What is not there is looked for longer than what is: so that no clock tells the two apart, something that is not there is looked for each time.
    const [kept] = await Promise.all([this.#kept(sessionId), this.#kept(newId())]);
    return kept?.instance_id === instanceId && !this.#isGoneForGood(kept) ? kept.created_by : undefined;
  }

  async list(instanceId: string): Promise<ListedSession[]> {
    const records = await this.#parts.log.records();
    const kept = records.flatMap(({ record }) => keptSession(record) ?? []);
    return kept
      .filter((one) => one.instance_id === instanceId && !this.#isGoneForGood(one))
      .map((one) => this.#listed(one))
      .reverse();
  }

  owned(): readonly Session[] {
    return this.#owned.all();
  }

  trouble(): string | undefined {
    if (!this.#isTaking) return 'the gateway is shutting down';
    const { log, neighbours } = this.#parts;
    return log.trouble() ?? neighbours?.trouble();
  }

  stopTaking(): void {
    this.#isTaking = false;
    this.#succession.stop();
  }

  handOver(): Promise<void> {
    return this.#succession.handOver();
  }

  async close(): Promise<void> {
    this.stopTaking();
    clearInterval(this.#sweep);
    clearTimeout(this.#again);
    await this.handOver();
    await this.#owned.close();
    this.#elsewhere?.close();
    await this.#parts.sender?.close();
    await this.#telling.settled();
    await this.#closed.close();
  }

  #meet(neighbours: Neighbours): Elsewhere {
    const elsewhere = new Elsewhere({
      log: this.#parts.log,
      replicaId: this.#parts.replicaId,
      neighbours,
      here: (id) => this.#owned.get(id) ?? this.#closed.get(id),
      settled: (id) => this.#succession.settled(id),
      adopt: (id) => this.#succession.adopt(id),
    });
    neighbours.onDeath((replicaId) => {
      elsewhere.forsake(replicaId);
      void this.#settle((owner) => owner === replicaId);
    });
    neighbours.onUsurped(() => {
      this.stopTaking();
      this.#succession.giveUpAll();
    });
    neighbours.onDoubt(() => {
      elsewhere.sendBack();
      void this.#succession.giveUpLost().catch((error) => this.#complain(error));
    });
    return elsewhere;
  }

  async #kept(sessionId: string): Promise<KeptSession | undefined> {
    return keptSession(await this.#parts.log.record(sessionId));
  }

  /** Where it runs may change while it is looked for: then it is looked for again. */
  async #open(kept: KeptSession, triesLeft = FIND_TRIES): Promise<Session | undefined> {
    try {
      return await (kept.state === 'closed' ? this.#closed.open(kept) : this.#findElsewhere(kept));
    } catch (error) {
      const now = triesLeft > 0 ? await this.#kept(kept.session_id) : undefined;
      if (!now || !this.#hasMoved(kept, now)) throw error;
      return this.#open(now, triesLeft - 1);
    }
  }

  #hasMoved(before: KeptSession, now: KeptSession): boolean {
    return now.state !== before.state || now.replica_id !== before.replica_id || this.#isGone(now.replica_id);
  }

  async #findElsewhere(kept: KeptSession): Promise<Session | undefined> {
    if (this.#elsewhere && !this.#isGone(kept.replica_id)) return this.#elsewhere.session(kept);
    if (this.#owned.has(kept.session_id)) throw later('this session is just starting here');
    if (!this.#isTaking) throw later('this replica is shutting down, and the session goes on elsewhere');
    return this.#settled(kept);
  }

  /** A session that nobody runs any more. Undefined if nothing is left of it. */
  async #settled(kept: KeptSession): Promise<Session | undefined> {
    await this.#succession.inherit(kept);
    const after = await this.#kept(kept.session_id);
    if (!after) return undefined;
    if (after.state === 'closed') return this.#closed.open(after);
    const goesOn = this.#owned.get(kept.session_id);
    if (goesOn) return goesOn;
    if (this.#elsewhere && !this.#isGone(after.replica_id)) return this.#elsewhere.session(after);
    throw later('the replica that ran this session is gone');
  }

  /** Of what was this replica's own, all that does not run is gone. */
  #isGone(owner: string): boolean {
    const { neighbours, replicaId } = this.#parts;
    return !neighbours || owner === replicaId || !neighbours.isAlive(owner);
  }

  #listed(kept: KeptSession): ListedSession {
    const { session_id: id, instance_id: instanceId } = kept;
    const owned = this.#owned.get(id);
    if (owned) return new ListedSession({ about: owned.describe(), task: owned.task, open: async () => owned });
    const task = kept.state === 'closed' ? this.#closed.taskOf(kept) : undefined;
    return new ListedSession({ about: kept, task, open: () => this.#ifItCanBeRead(instanceId, id) });
  }

  async #ifItCanBeRead(instanceId: string, sessionId: string): Promise<Session | undefined> {
    try {
      return await this.find(instanceId, sessionId).catch((error) => this.#ifItRuns(sessionId, error));
    } catch (error) {
      // Of damage the log has told once.
      const isKnown = error instanceof LogError && error.failure === 'corrupt';
      if (!isKnown) this.#parts.logger.warn({ session_id: sessionId, err: error }, 'a kept session cannot be read');
      return undefined;
    }
  }

  /** A session whose owner is silent for the moment is told of all the same. Else rejects with the error. */
  async #ifItRuns(sessionId: string, error: unknown): Promise<Session> {
    const kept = error instanceof Fault && error.retryable ? await this.#kept(sessionId) : undefined;
    if (kept?.state !== 'running' || !this.#elsewhere) throw error;
    return this.#elsewhere.unasked(kept);
  }

  /** Never rejects. What Redis refused in the moment of a death is not left until the next sweep. */
  async #settle(isGone: (owner: string) => boolean): Promise<void> {
    const isDone = await this.#succession.settle(isGone).catch((error) => void this.#complain(error));
    if (isDone) this.#againMs = AGAIN_MS;
    else if (this.#isTaking) this.#settleLater();
  }

  #settleLater(): void {
    this.#again ??= setTimeout(() => {
      this.#again = undefined;
      this.#againMs = Math.min(2 * this.#againMs, SWEEP_MS);
      if (this.#isTaking) void this.#settle((owner) => this.#isGone(owner));
    }, this.#againMs).unref();
  }

  async #tidy(): Promise<void> {
    try {
      if (this.#isTaking) await this.#settle((owner) => this.#isGone(owner));
      await this.#removeExpired();
    } catch (error) {
      this.#complain(error);
    }
  }

  async #removeExpired(): Promise<void> {
    const { log } = this.#parts;
    for (const { record } of await log.records()) {
      const kept = keptSession(record);
      if (!kept || !isExpired(kept)) continue;
      const step = this.#isGoneForGood(kept) ? this.#remove(kept) : log.settle?.(kept.session_id);
      await step?.catch((error) => this.#complain(error));
    }
  }

  #isGoneForGood(kept: KeptSession): boolean {
    return isExpired(kept, this.#parts.log.archiveSeconds?.());
  }

  async #remove(kept: KeptSession): Promise<void> {
    await this.#closed.letGo(kept.session_id);
    await this.#parts.log.remove(kept.session_id);
    this.#parts.onRemoved?.(kept);
  }

  #complain(error: unknown): void {
    this.#parts.logger.warn({ err: error }, 'what is kept could not be looked through');
  }
}

const later = (why: string) => new Fault('INTERNAL', `${why}; try again`, { status: 503 });
