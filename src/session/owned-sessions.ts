// The sessions whose terminals run here: begun, counted and ended. Knows no other replica.
import type { Agent, SessionRequest } from '../agents/agents.js';
import { Fault } from '../errors.js';
import { FIRST_EPOCH, LogError, type LogWriter } from '../log/log.js';
import { tracedWriter } from '../log/traced-writer.js';
import { type Meter, noMeter } from '../metrics/meter.js';
import { newId } from '../protocol/ids.js';
import type { Redaction } from '../redaction/redaction.js';
import { type Command, TerminalError } from '../terminal/terminal.js';
import { bounded } from './bounded.js';
import type { ClosedSessions } from './closed-sessions.js';
import { commandOf } from './command.js';
import { EndedPushes } from './ended-pushes.js';
import { OwnedSession } from './owned-session.js';
import { noSender } from './pushes.js';
import type { KeptSession } from './record.js';
import { keptSecrecy, redactionOf } from './secrecy.js';
import type { SessionDescription } from './session.js';
import type { SessionsParts } from './sessions.js';
import type { Telling } from './telling.js';

/** How long the end of all of them is waited for, in milliseconds. */
const CLOSE_PATIENCE_MS = 8000;
/** The same on a disk that takes nothing: as long as programs that do not heed a hangup may live. */
const TROUBLED_PATIENCE_MS = 2500;

export class OwnedSessions {
  readonly #parts: SessionsParts;
  readonly #closed: ClosedSessions;
  readonly #telling: Telling;
  readonly #meter: Meter;
  readonly #running = new Map<string, OwnedSession>();
  /** The agents of sessions that are being started, by the sessions' ids. */
  readonly #starting = new Map<string, string>();
  #allEnded: (() => void) | undefined;

  constructor(parts: SessionsParts, closed: ClosedSessions, telling: Telling) {
    this.#parts = parts;
    this.#meter = parts.meter ?? noMeter;
    this.#telling = telling;
    this.#closed = closed;
  }

  get(sessionId: string): OwnedSession | undefined {
    return this.#running.get(sessionId);
  }

  /** Whether it runs here, or is about to. */
  has(sessionId: string): boolean {
    return this.#running.has(sessionId) || this.#starting.has(sessionId);
  }

  all(): OwnedSession[] {
    return [...this.#running.values()];
  }

  async create(agent: Agent, request: SessionRequest, createdBy: string, contextId = newId()): Promise<OwnedSession> {
    this.#refuseTooMany(agent);
    const { log, replicaId } = this.#parts;
    const secrecy = keptSecrecy(agent, request, log.isSealed?.() ?? false);
    const redaction = redactionOf(agent, secrecy, request.secrets ?? []);
    const kept = { ...newRecord(agent, concealed(request, redaction), { createdBy, contextId, replicaId }), ...secrecy };
    this.#starting.set(kept.session_id, agent.id);
    try {
      await this.#takePlace(agent, kept.session_id);
      return await this.#start(agent, kept, await commandOf(agent, request), redaction);
    } catch (error) {
      this.#parts.quota?.give(agent.id, kept.session_id);
      throw error;
    } finally {
      this.#starting.delete(kept.session_id);
    }
  }

  /** A session on a log that is there, without its terminal. */
  on(agent: Agent, kept: KeptSession, writer: LogWriter, redaction = redactionOf(agent, kept, kept.secrets ?? [])): OwnedSession {
    const { log, screens, sender = noSender, tracing } = this.#parts;
    const id = kept.session_id;
    return new OwnedSession({
      agent,
      kept,
      writer: tracing ? tracedWriter(writer, tracing, id) : writer,
      screens,
      ...(tracing && { tracing }),
      meter: this.#meter,
      redaction,
      claim: () => log.claim(id),
      redactionFailed: (session) => this.#redactionFailed(session),
      loud: (bytesPerSecond) => this.#loud(kept, bytesPerSecond),
      push: { sender, after: new EndedPushes(id, log, sender), failed: (error) => this.#telling.failed(id, error) },
      ended: (session, ...how) => this.#ended(session, ...how),
    });
  }

  /** It is not to be found before its terminal is there, nor after it has ended already. Rejects with TerminalError. */
  async run(session: OwnedSession, command: Command): Promise<void> {
    const events = { output: (bytes: Uint8Array) => session.printed(bytes), exit: session.exited.bind(session) };
    session.own(await this.#parts.spawn(command, events));
    if (!session.isOver) this.#running.set(session.id, session);
  }

  async close(): Promise<void> {
    for (const session of this.all()) await session.end('instance_terminated').catch(() => {});
    const ended = new Promise<void>((resolve) => {
      this.#allEnded = resolve;
      if (this.#running.size === 0) resolve();
    });
    await bounded(ended, this.#closePatience(), () => new Error('not all sessions have ended')).catch((error) => {
      this.#parts.logger.error({ sessions: [...this.#running.keys()], reason: this.#parts.log.trouble() }, error.message);
    });
  }

  /** What replicas share may come back in these seconds, or another replica ends what this one could not; nobody makes room on a disk in them. */
  #closePatience(): number {
    const { log, neighbours } = this.#parts;
    return !neighbours && log.trouble() ? TROUBLED_PATIENCE_MS : CLOSE_PATIENCE_MS;
  }

  #refuseTooMany(agent: Agent): void {
    const { maxSessions } = this.#parts;
    const agents = [...this.#starting.values(), ...this.all().map((session) => session.instanceId)];
    if (agents.length >= maxSessions) throw full(`this replica runs its ${maxSessions} sessions`);
    const limit = agent.policy.max_sessions;
    if (agents.filter((id) => id === agent.id).length >= limit) throw full(`${agent.id} runs its ${limit} sessions`);
  }

  /** Of the agent's sessions on all replicas. */
  async #takePlace({ id, policy }: Agent, sessionId: string): Promise<void> {
    const { quota } = this.#parts;
    const isTaken = await quota?.take(id, sessionId, policy.max_sessions).catch((cause) => {
      throw new Fault('INTERNAL', 'the running sessions cannot be counted now; try again', { status: 503, cause });
    });
    if (isTaken === false) throw full(`${id} runs its ${policy.max_sessions} sessions`);
  }

  async #start(agent: Agent, kept: KeptSession, command: Command, redaction: Redaction | undefined): Promise<OwnedSession> {
    const { log, logger } = this.#parts;
    const retention = { frames: agent.pty.replay_buffer_frames, seconds: agent.pty.replay_buffer_retention_seconds };
    const writer = await log.create(kept.session_id, kept, retention);
    const session = this.on(agent, kept, writer, redaction);
    try {
      await this.run(session, command);
    } catch (error) {
      await this.#forget(writer, kept.session_id);
      if (!(error instanceof TerminalError)) throw error;
      throw new Fault('INVALID_REQUEST', redaction?.text(error.message) ?? error.message, { status: 422 });
    }
    this.#meter.count('sessions_started_total');
    logger.info({ session_id: kept.session_id, instance_id: agent.id, principal: kept.created_by }, 'session started');
    return session;
  }

  async #forget(writer: LogWriter, sessionId: string): Promise<void> {
    await writer.release().catch(() => {});
    await this.#parts.log.remove(sessionId).catch(() => {});
  }

  /** Why is not told, since that may hold what was to be concealed. */
  #redactionFailed(session: OwnedSession): void {
    this.#meter.count('redaction_failures_total');
    this.#parts.logger.error({ session_id: session.id }, 'what a session printed could not be redacted; it shows nothing more, and ends');
    this.#parts.onRedactionFailed?.(session);
  }

  #loud({ session_id, instance_id, created_by }: KeptSession, bytesPerSecond: number): void {
    const fields = { session_id, instance_id, principal: created_by, bytes_per_second: bytesPerSecond };
    this.#parts.logger.warn(fields, 'a session prints very much');
  }

  #ended(session: OwnedSession, after: Parameters<ClosedSessions['keep']>[0] | undefined, error?: unknown): void {
    const { logger, onClosed } = this.#parts;
    this.#running.delete(session.id);
    if (!after) this.#parts.quota?.forget(session.id);
    const fields = { session_id: session.id, instance_id: session.instanceId };
    if (error) this.#meter.count('sessions_failed_total');
    if (error) logger.error({ ...fields, ...whyFailed(error) }, 'the log of a session has failed');
    else if (after) logger.info({ ...fields, ...howItEnded(after.describe()) }, 'session closed');
    else logger.info(fields, 'session handed over');
    if (after) {
      this.#parts.quota?.give(session.instanceId, session.id);
      this.#closed.keep(after);
      this.#telling.finish(session.id, session.pushes);
      onClosed?.(after.describe());
    }
    if (this.#running.size === 0) this.#allEnded?.();
  }
}

const full = (why: string) => new Fault('RATE_LIMITED', `${why}; try again later`, { status: 503 });

/** A name that somebody has given it is read by everyone. */
function concealed(request: SessionRequest, redaction: Redaction | undefined): SessionRequest {
  return redaction && request.label !== undefined ? { ...request, label: redaction.text(request.label) } : request;
}

interface Origin {
  readonly createdBy: string;
  readonly contextId: string;
  readonly replicaId: string;
}

function newRecord(agent: Agent, request: SessionRequest, { createdBy, contextId, replicaId }: Origin): KeptSession {
  return {
    session_id: newId(),
    instance_id: agent.id,
    context_id: contextId,
    state: 'running',
    created_at: new Date().toISOString(),
    cols: request.cols ?? agent.pty.default_cols,
    rows: request.rows ?? agent.pty.default_rows,
    created_by: createdBy,
    replica_id: replicaId,
    epoch: FIRST_EPOCH,
    pty: agent.pty,
    ...(request.label === undefined ? {} : { label: request.label }),
    ...(request.default_role === undefined ? {} : { default_role: request.default_role }),
  };
}

/** What the log says is a whole sentence; anything else is a fault of ours, and wants its stack. */
function whyFailed(error: unknown) {
  return error instanceof LogError ? { reason: error.message } : { err: error };
}

function howItEnded({ reason, exit_code }: SessionDescription) {
  return { reason, exit_code: exit_code ?? null };
}
