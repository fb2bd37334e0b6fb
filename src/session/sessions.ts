// The sessions of this replica and those that the log keeps: found, made, listed, ended. Knows no HTTP and no socket.
import type { Agent, SessionRequest } from '../agents.js';
import { Fault } from '../errors.js';
import type { Log, LogWriter } from '../log/log.js';
import { newId } from '../protocol/ids.js';
import { entry } from '../protocol/make-frames.js';
import { type ScreenHost, type SpawnTerminal, TerminalError } from '../terminal/terminal.js';
import { bounded } from './bounded.js';
import { ClosedSession } from './closed-session.js';
import { abandoned } from './closing.js';
import { commandOf } from './command.js';
import { OwnedSession } from './owned-session.js';
import type { KeptSession } from './record.js';
import type { Sessions } from './registry.js';
import type { Session } from './session.js';
import { statusNow, taskUpdate } from './task.js';

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
  /** Told when an owned session has its Closed. */
  onClosed?(session: Session): void;
}

/** Opens what the log keeps; sessions that were running when the process died are closed (`agent_disconnect`). */
export async function createSessions(parts: SessionsParts): Promise<Sessions> {
  const registry = new Registry(parts);
  await registry.closeAbandoned();
  return registry;
}

class Registry implements Sessions {
  readonly #parts: SessionsParts;
  readonly #owned = new Map<string, OwnedSession>();
  /** In the order of their last use. */
  readonly #closed = new Map<string, ClosedSession>();
  readonly #sweep: NodeJS.Timeout;
  #taking = true;
  #starting = 0;
  #allEnded: (() => void) | undefined;

  constructor(parts: SessionsParts) {
    this.#parts = parts;
    this.#sweep = setInterval(() => void this.#removeExpired(), SWEEP_MS).unref();
  }

  async create(agent: Agent, request: SessionRequest, createdBy: string): Promise<Session> {
    this.#refuseTooMany(agent);
    const command = await commandOf(agent, request);
    this.#starting++;
    try {
      return await this.#start(agent, request, createdBy, command);
    } finally {
      this.#starting--;
    }
  }

  async find(instanceId: string, sessionId: string): Promise<Session | undefined> {
    const owned = this.#owned.get(sessionId);
    if (owned) return owned.instanceId === instanceId ? owned : undefined;
    const record = await this.#parts.log.record(sessionId);
    const kept = record as KeptSession | undefined;
    if (kept?.instance_id !== instanceId || kept.state !== 'closed' || isExpired(kept)) return undefined;
    return this.#openClosed(kept);
  }

  async list(instanceId: string): Promise<Session[]> {
    const records = await this.#parts.log.records();
    const ids = records.filter(({ record }) => record.instance_id === instanceId).map(({ sessionId }) => sessionId);
    const found = await Promise.all(ids.reverse().map((id) => this.#owned.get(id) ?? this.#unlessCorrupt(instanceId, id)));
    return found.filter((session) => session !== undefined);
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

  /** I4: whoever notices closes it, once; here nobody else could. */
  async closeAbandoned(): Promise<void> {
    for (const { sessionId, record } of await this.#parts.log.records()) {
      if (record.state !== 'running') continue;
      await this.#closeAbandonedOne(record as KeptSession).catch((error) => {
        this.#parts.logger.error({ session_id: sessionId, err: error }, 'a session that was running could not be closed');
      });
    }
    await this.#removeExpired();
  }

  async #closeAbandonedOne(kept: KeptSession): Promise<void> {
    const writer = await this.#parts.log.claim(kept.session_id);
    const status = statusNow('TASK_STATE_FAILED');
    const task = { id: kept.session_id, contextId: kept.context_id, status, history: [] };
    const { kind, ...closed } = abandoned();
    // The process may have died between the Closed and the record that tells of it: there is exactly one.
    const done = await writer.reader.latest('Closed');
    if (!done) await writer.append([entry('TaskStatusUpdate', { ...taskUpdate(task) }), entry(kind, closed)]);
    const told = done ? JSON.parse(Buffer.from(done.body).toString()) : closed;
    const closed_at = new Date(done?.ts ?? Date.now()).toISOString();
    await writer.amend({ ...kept, state: 'closed', closed_at, exit_code: told.exit_code, reason: told.reason, task: kept.task ?? task });
    await writer.release();
  }

  #refuseTooMany(agent: Agent): void {
    const trouble = this.trouble();
    if (trouble) throw new Fault('INTERNAL', `no session can be started now: ${trouble}`, { status: 503 });
    if (this.#owned.size + this.#starting >= this.#parts.maxSessions) {
      throw new Fault('RATE_LIMITED', `this replica runs its ${this.#parts.maxSessions} sessions; try again later`, { status: 503 });
    }
    const ofAgent = [...this.#owned.values()].filter((session) => session.instanceId === agent.id).length;
    if (ofAgent >= agent.policy.max_sessions) {
      throw new Fault('RATE_LIMITED', `${agent.id} runs its ${agent.policy.max_sessions} sessions; try again later`, { status: 503 });
    }
  }

  async #start(agent: Agent, request: SessionRequest, createdBy: string, command: Awaited<ReturnType<typeof commandOf>>): Promise<Session> {
    const kept = newRecord(agent, request, createdBy, this.#parts.replicaId);
    const retention = { frames: agent.pty.replay_buffer_frames, seconds: agent.pty.replay_buffer_retention_seconds };
    const writer = await this.#parts.log.create(kept.session_id, kept, retention);
    const session = new OwnedSession({
      agent,
      kept,
      writer,
      screens: this.#parts.screens,
      ended: (s, after, error) => this.#ended(s, after, error),
    });
    this.#owned.set(kept.session_id, session);
    try {
      const events = { output: (bytes: Uint8Array) => session.printed(bytes), exit: session.exited.bind(session) };
      session.own(await this.#parts.spawn(command, events));
    } catch (error) {
      this.#owned.delete(kept.session_id);
      await this.#forget(writer, kept.session_id);
      if (error instanceof TerminalError) throw new Fault('INVALID_REQUEST', error.message, { status: 422, cause: error });
      throw error;
    }
    this.#parts.logger.info({ session_id: kept.session_id, instance_id: agent.id, principal: createdBy }, 'session started');
    return session;
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
      new ClosedSession({ kept, screens, reader: await log.reader(kept.session_id), writer: () => log.claim(kept.session_id) });
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

  async #unlessCorrupt(instanceId: string, sessionId: string): Promise<Session | undefined> {
    try {
      return await this.find(instanceId, sessionId);
    } catch (error) {
      this.#parts.logger.warn({ session_id: sessionId, err: error }, 'a kept session cannot be read');
      return undefined;
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

function isExpired(kept: KeptSession): boolean {
  if (kept.state !== 'closed' || kept.closed_at === undefined) return false;
  return Date.parse(kept.closed_at) + kept.pty.replay_buffer_retention_seconds * 1000 < Date.now();
}
