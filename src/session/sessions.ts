// The sessions of this replica and those that the log keeps: found, made, listed, ended. Knows no HTTP and no socket.
import type { Agent, Agents, SessionRequest } from '../agents.js';
import { Fault } from '../errors.js';
import { type Log, LogError, type LogWriter } from '../log/log.js';
import { newId } from '../protocol/ids.js';
import { type Command, type ScreenHost, type SpawnTerminal, TerminalError } from '../terminal/terminal.js';
import { closeAbandoned } from './abandoned.js';
import { Away } from './away.js';
import { bounded } from './bounded.js';
import { ClosedSession } from './closed-session.js';
import { commandOf } from './command.js';
import { Desk } from './desk.js';
import type { Neighbours } from './neighbours.js';
import { OwnedSession } from './owned-session.js';
import { sizeNow } from './past.js';
import type { KeptSession } from './record.js';
import type { Sessions } from './registry.js';
import { type Ask, RemoteSession } from './remote-session.js';
import type { Tiding, Tidings } from './remote-words.js';
import type { Home, Member, Session } from './session.js';

/** Ended sessions that are kept open for their late readers. */
const OPEN_CLOSED_LIMIT = 64;
/** How often ended sessions are looked through for those whose retention is over, in milliseconds. */
const SWEEP_MS = 60_000;
/** How long the end of all owned sessions is waited for, in milliseconds. */
const CLOSE_PATIENCE_MS = 8000;

export interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface SessionsParts {
  readonly log: Log;
  readonly screens: ScreenHost;
  readonly spawn: SpawnTerminal;
  readonly replicaId: string;
  readonly maxSessions: number;
  readonly logger: Logger;
  /** For those whose sessions outlive their replica. */
  readonly agents?: Pick<Agents, 'get'>;
  /** Undefined where there is one replica alone. */
  readonly neighbours?: Neighbours;
  /** Told when an owned session has its Closed. */
  onClosed?(session: Session): void;
}

/** Opens what the log keeps; sessions that were running when their process died are closed (`agent_disconnect`). */
export async function createSessions(parts: SessionsParts): Promise<Sessions> {
  const registry = new Registry(parts);
  await registry.begin();
  return registry;
}

class Registry implements Sessions {
  readonly #parts: SessionsParts;
  readonly #owned = new Map<string, OwnedSession>();
  /** In the order of their last use. */
  readonly #closed = new Map<string, ClosedSession>();
  readonly #sweep: NodeJS.Timeout;
  readonly #away = new Away();
  #taking = true;
  /** The agents of sessions that are being started. */
  readonly #starting: string[] = [];
  #desk: Desk | undefined;
  #allEnded: (() => void) | undefined;

  constructor(parts: SessionsParts) {
    this.#parts = parts;
    this.#sweep = setInterval(() => void this.#tidy(), SWEEP_MS).unref();
  }

  /** Nothing of what an earlier life of this replica owned runs any more. */
  async begin(): Promise<void> {
    const { neighbours, replicaId } = this.#parts;
    if (neighbours) this.#meet(neighbours);
    await this.closeAbandoned((owner) => !neighbours || owner === replicaId);
    await this.#removeExpired();
  }

  #meet(neighbours: Neighbours): void {
    const desk = new Desk(
      (id) => this.#owned.get(id) ?? this.#closed.get(id),
      (to, what, head, bytes) => {
        if (to === this.#parts.replicaId) this.#tellHere(desk, what, head, bytes);
        else neighbours.tell(to, what, head, bytes);
      },
    );
    this.#desk = desk;
    neighbours.serve({ desk, away: this.#away, adopt: (id) => this.#adopt(id) });
    neighbours.onDeath((replicaId) => {
      desk.forsake(replicaId);
      this.#away.forsake(replicaId);
      void this.closeAbandoned((owner) => owner === replicaId);
    });
    neighbours.onDoubt(() => void this.#lookWhoOwns());
  }

  /** A session that was taken over may have members who have been here all the time, as guests of its former owner. */
  #tellHere<T extends Tiding>(desk: Desk, what: T, head: Tidings[T], bytes: Uint8Array | undefined): void {
    const { replicaId } = this.#parts;
    if (this.#away.hear(replicaId, what, { head, ...(bytes && { bytes }) }) || !('sessionId' in head)) return;
    desk.answer(replicaId, head.sessionId, 'forget', { handle: head.handle }, new Uint8Array()).catch(() => {});
  }

  /** Sessions that others have taken meanwhile are no longer ours: their terminals end, and nothing of them is written. */
  async #lookWhoOwns(): Promise<void> {
    for (const session of this.#owned.values()) {
      const record = await this.#parts.log.record(session.id).catch(() => undefined);
      if (record && (record.state === 'closed' || record.replica_id !== this.#parts.replicaId))
        session.giveUp(new LogError('fenced', 'another replica has it'));
    }
  }

  async create(agent: Agent, request: SessionRequest, createdBy: string): Promise<Session> {
    this.#refuseTooMany(agent);
    const command = await commandOf(agent, request);
    this.#starting.push(agent.id);
    try {
      return await this.#start(agent, request, createdBy, command);
    } finally {
      this.#starting.splice(this.#starting.indexOf(agent.id), 1);
    }
  }

  async find(instanceId: string, sessionId: string): Promise<Session | undefined> {
    const owned = this.#owned.get(sessionId);
    if (owned) return owned.instanceId === instanceId ? owned : undefined;
    const record = await this.#parts.log.record(sessionId);
    const kept = record as KeptSession | undefined;
    if (kept?.instance_id !== instanceId || isExpired(kept)) return undefined;
    return kept.state === 'closed' ? this.#openClosed(kept) : this.#findElsewhere(kept);
  }

  async #findElsewhere(kept: KeptSession): Promise<Session | undefined> {
    const { neighbours, log, replicaId } = this.#parts;
    if (!neighbours || kept.replica_id === replicaId) return undefined;
    if (!neighbours.isAlive(kept.replica_id)) {
      await this.#inherit(kept);
      return this.find(kept.instance_id, kept.session_id);
    }
    const ask = this.#asker(neighbours, kept);
    const reader = await log.reader(kept.session_id);
    return new RemoteSession({ description: (await ask('describe', {})).head, reader, away: this.#away, ask });
  }

  /** Asks the owner, whoever it is by now. What may have been done already is not asked again. */
  #asker(neighbours: Neighbours, { session_id, replica_id }: KeptSession): Ask {
    let owner = replica_id;
    const askOwner: Ask = async (question, asked, bytes = new Uint8Array()) => {
      if (owner === this.#parts.replicaId && this.#desk) return this.#desk.answer(owner, session_id, question, asked, bytes);
      return neighbours.asker(owner, session_id)(question, asked, bytes);
    };
    const findOwner = async () => {
      owner = (await this.#ownerOf(session_id)) ?? owner;
    };
    return async (question, asked, bytes) => {
      if (owner !== this.#parts.replicaId && !neighbours.isAlive(owner)) await findOwner();
      const asking = owner;
      return askOwner(question, asked, bytes).catch(async (error) => {
        if (!hasMoved(error)) throw error;
        await findOwner();
        if (owner === asking) throw error;
        return askOwner(question, asked, bytes);
      });
    };
  }

  async #ownerOf(sessionId: string): Promise<string | undefined> {
    const record = await this.#parts.log.record(sessionId).catch(() => undefined);
    return (record as KeptSession | undefined)?.replica_id;
  }

  async list(instanceId: string): Promise<Session[]> {
    const records = await this.#parts.log.records();
    const ids = records.filter(({ record }) => record.instance_id === instanceId).map(({ sessionId }) => sessionId);
    const found = await Promise.all(ids.reverse().map((id) => this.#owned.get(id) ?? this.#ifItCanBeRead(instanceId, id)));
    return found.filter((session) => session !== undefined);
  }

  owned(): readonly Session[] {
    return [...this.#owned.values()];
  }

  trouble(): string | undefined {
    return this.#taking ? this.#parts.log.trouble() : 'the gateway is shutting down';
  }

  stopTaking(): void {
    this.#taking = false;
  }

  async close(): Promise<void> {
    this.stopTaking();
    clearInterval(this.#sweep);
    await this.handOver();
    for (const session of this.#owned.values()) await session.end('instance_terminated').catch(() => {});
    const ended = new Promise<void>((resolve) => {
      this.#allEnded = resolve;
      if (this.#owned.size === 0) resolve();
    });
    await bounded(ended, CLOSE_PATIENCE_MS, () => new Error('not all sessions have ended')).catch((error) => {
      this.#parts.logger.error({ sessions: [...this.#owned.keys()] }, error.message);
    });
    await Promise.all([...this.#closed.values()].map((session) => session.release().catch(() => {})));
  }

  async handOver(): Promise<void> {
    this.stopTaking();
    const others = this.#parts.neighbours?.others() ?? [];
    const movable = [...this.#owned.values()].filter(({ instanceId }) => this.#parts.agents?.get(instanceId)?.policy.reattach);
    if (others.length === 0) return;
    await Promise.all(movable.map((session, i) => this.#moveTo(others[i % others.length] as string, session)));
  }

  /** If that one does not go on with it, the first does that finds this replica gone. */
  async #moveTo(to: string, session: OwnedSession): Promise<void> {
    await session.handOver();
    await this.#parts.neighbours?.handOver(to, session.id).catch((error) => {
      this.#parts.logger.warn({ session_id: session.id, to, err: error }, 'a session could not be handed over');
    });
  }

  /** I4: whoever notices closes them, once. Those of an owner that is alive are left alone. */
  async closeAbandoned(isOwner: (replicaId: string) => boolean): Promise<void> {
    for (const { sessionId, record } of await this.#parts.log.records()) {
      const kept = record as KeptSession;
      if (kept.state !== 'running' || this.#owned.has(sessionId) || !isOwner(kept.replica_id)) continue;
      await this.#inherit(kept);
    }
  }

  /** A session whose replica is gone goes on here, where its agent says how; else it is closed. Of all who try, one does. */
  async #inherit(kept: KeptSession): Promise<void> {
    const { log, logger } = this.#parts;
    const fields = { session_id: kept.session_id, replica_id: kept.replica_id };
    try {
      const epoch = await log.epoch?.(kept.session_id);
      const writer = await log.claim(kept.session_id, epoch);
      if (await this.#goOn(kept, writer)) return logger.warn(fields, 'a session whose replica is gone goes on here');
      await closeAbandoned(kept, writer);
      await writer.release();
      logger.warn(fields, 'a session whose replica is gone was closed');
    } catch (error) {
      if (isFenced(error)) return; // somebody else has noticed, too
      logger.error({ ...fields, err: error }, 'a session whose replica is gone could not be closed');
    }
  }

  async #goOn(kept: KeptSession, writer: LogWriter): Promise<boolean> {
    const { agents, neighbours, replicaId } = this.#parts;
    const agent = agents?.get(kept.instance_id);
    const argv = agent?.policy.reattach;
    if (!agent || !argv || !this.#taking || (await writer.reader.latest('Closed'))) return false;
    const size = await sizeNow(writer.reader, kept);
    const ours = { ...kept, replica_id: replicaId };
    await writer.amend(ours);
    const session = this.#sessionOf(agent, ours, writer);
    const present = (kept.members ?? []).filter(({ home }) => home.replicaId === replicaId || neighbours?.isAlive(home.replicaId));
    const members = present.map(({ home, label, ...member }) => ({ ...member, label, member: this.#seat(session, member.clientId, home) }));
    await session.resume(size, members);
    const command = await commandOf(agent, {});
    await this.#run(session, { ...command, ...size, argv }).then(
      () => session.welcomeBack(),
      () => session.cannotGoOn(),
    );
    return true;
  }

  #seat(session: Session, clientId: string, home: Home): Member {
    if (!this.#desk) throw new Error('there are no other replicas');
    return this.#desk.adopt(session, clientId, home);
  }

  /** Its owner has let go of it in order. */
  async #adopt(sessionId: string): Promise<void> {
    const record = (await this.#parts.log.record(sessionId)) as KeptSession | undefined;
    if (record?.state === 'running' && !this.#owned.has(sessionId)) await this.#inherit(record);
    if (!this.#owned.has(sessionId)) throw new Fault('INTERNAL', 'this replica does not go on with the session');
  }

  #refuseTooMany(agent: Agent): void {
    const trouble = this.trouble();
    if (trouble) throw new Fault('INTERNAL', `no session can be started now: ${trouble}`, { status: 503 });
    if (this.#owned.size + this.#starting.length >= this.#parts.maxSessions) {
      throw new Fault('RATE_LIMITED', `this replica runs its ${this.#parts.maxSessions} sessions; try again later`, { status: 503 });
    }
    const agents = [...this.#starting, ...[...this.#owned.values()].map((session) => session.instanceId)];
    const ofAgent = agents.filter((id) => id === agent.id).length;
    if (ofAgent >= agent.policy.max_sessions) {
      throw new Fault('RATE_LIMITED', `${agent.id} runs its ${agent.policy.max_sessions} sessions; try again later`, { status: 503 });
    }
  }

  async #start(agent: Agent, request: SessionRequest, createdBy: string, command: Command): Promise<Session> {
    const kept = newRecord(agent, request, createdBy, this.#parts.replicaId);
    const retention = { frames: agent.pty.replay_buffer_frames, seconds: agent.pty.replay_buffer_retention_seconds };
    const writer = await this.#parts.log.create(kept.session_id, kept, retention);
    const session = this.#sessionOf(agent, kept, writer);
    try {
      await this.#run(session, command);
    } catch (error) {
      await this.#forget(writer, kept.session_id);
      if (error instanceof TerminalError) throw new Fault('INVALID_REQUEST', error.message, { status: 422, cause: error });
      throw error;
    }
    this.#parts.logger.info({ session_id: kept.session_id, instance_id: agent.id, principal: createdBy }, 'session started');
    return session;
  }

  #sessionOf(agent: Agent, kept: KeptSession, writer: LogWriter): OwnedSession {
    const { log, screens } = this.#parts;
    const claim = () => log.claim(kept.session_id);
    return new OwnedSession({ agent, kept, writer, screens, claim, ended: (...told) => this.#ended(...told) });
  }

  /** It is not to be found before its terminal is there, nor after it has ended already. */
  async #run(session: OwnedSession, command: Command): Promise<void> {
    const events = { output: (bytes: Uint8Array) => session.printed(bytes), exit: session.exited.bind(session) };
    session.own(await this.#parts.spawn(command, events));
    if (!session.isOver) this.#owned.set(session.id, session);
  }

  async #forget(writer: LogWriter, sessionId: string): Promise<void> {
    await writer.release().catch(() => {});
    await this.#parts.log.remove(sessionId).catch(() => {});
  }

  #ended(session: OwnedSession, after: ClosedSession | undefined, error: unknown): void {
    this.#owned.delete(session.id);
    if (after) this.#keepOpen(after);
    if (error) this.#parts.logger.error({ session_id: session.id, err: error }, 'the log of a session has failed');
    else this.#parts.logger.info({ session_id: session.id, reason: session.describe().reason }, 'session closed');
    this.#parts.onClosed?.(session);
    if (this.#owned.size === 0) this.#allEnded?.();
  }

  async #openClosed(kept: KeptSession): Promise<ClosedSession> {
    const { log, screens } = this.#parts;
    const open =
      this.#closed.get(kept.session_id) ??
      new ClosedSession({ kept, screens, reader: await log.reader(kept.session_id), claim: () => log.claim(kept.session_id) });
    this.#keepOpen(this.#closed.get(kept.session_id) ?? open);
    return this.#closed.get(kept.session_id) as ClosedSession;
  }

  #keepOpen(session: ClosedSession): void {
    this.#closed.delete(session.id);
    this.#closed.set(session.id, session);
    const [longestUnused] = this.#closed.values();
    if (this.#closed.size <= OPEN_CLOSED_LIMIT || !longestUnused) return;
    this.#closed.delete(longestUnused.id);
    void longestUnused.release().catch(() => {});
  }

  async #ifItCanBeRead(instanceId: string, sessionId: string): Promise<Session | undefined> {
    try {
      return await this.find(instanceId, sessionId);
    } catch (error) {
      this.#parts.logger.warn({ session_id: sessionId, err: error }, 'a kept session cannot be read');
      return undefined;
    }
  }

  async #tidy(): Promise<void> {
    const { neighbours, logger } = this.#parts;
    try {
      if (neighbours) await this.closeAbandoned((owner) => !neighbours.isAlive(owner));
      await this.#removeExpired();
    } catch (error) {
      logger.warn({ err: error }, 'what is kept could not be looked through');
    }
  }

  async #removeExpired(): Promise<void> {
    for (const { sessionId, record } of await this.#parts.log.records()) {
      if (!isExpired(record as KeptSession)) continue;
      const open = this.#closed.get(sessionId);
      this.#closed.delete(sessionId);
      await open?.release().catch(() => {});
      await this.#parts.log
        .remove(sessionId)
        .catch((error) => this.#parts.logger.warn({ session_id: sessionId, err: error }, 'an expired session could not be removed'));
    }
  }
}

function newRecord(agent: Agent, request: SessionRequest, createdBy: string, replicaId: string): KeptSession {
  return {
    session_id: newId(),
    instance_id: agent.id,
    context_id: newId(),
    state: 'running',
    created_at: new Date().toISOString(),
    cols: request.cols ?? agent.pty.default_cols,
    rows: request.rows ?? agent.pty.default_rows,
    created_by: createdBy,
    replica_id: replicaId,
    pty: agent.pty,
    ...(request.label === undefined ? {} : { label: request.label }),
    ...(request.default_role === undefined ? {} : { default_role: request.default_role }),
  };
}

/** Nothing was done: whoever was asked does not own the session. */
const hasMoved = (error: unknown) => error instanceof Fault && error.details?.moved === true;
const isFenced = (error: unknown) => error instanceof LogError && error.failure === 'fenced';

function isExpired(kept: KeptSession): boolean {
  if (kept.state !== 'closed' || kept.closed_at === undefined) return false;
  return Date.parse(kept.closed_at) + kept.pty.replay_buffer_retention_seconds * 1000 < Date.now();
}
