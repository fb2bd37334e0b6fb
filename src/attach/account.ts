// What is told of one connection, always under the same names: to the audit, to the log, and to who follows its trace. Knows no frame and no socket.
import type { Principal } from '../access/principal.js';
import type { Audit, AuditEvent, AuditLine } from '../audit/audit.js';
import { type Fault, isFailure, whyOf } from '../errors.js';
import type { Seldom } from '../logging/seldom.js';
import type { Role } from '../protocol/frames.js';
import type { Session } from '../session/session.js';
import { readTraceparent } from '../tracing/traceparent.js';

/** Longest trace id in the audit, in characters. */
const MAX_TRACE_CHARS = 128;

/** Where it is told. */
export interface Tellers {
  readonly audit: Audit;
  /** For what fails many connections for the same cause. */
  readonly seldom: Pick<Seldom, 'tell'>;
  readonly logger: Record<'info' | 'warn' | 'error', (details: object, message: string) => void>;
}

/** What does not change while it is connected. */
export interface Origin {
  readonly session: Pick<Session, 'id' | 'instanceId'>;
  readonly principal: Principal;
  readonly address: string;
  /** The `traceparent` that its verbs continue, unless the client names another. */
  readonly trace: string | undefined;
}

/** What becomes of it. */
export interface Standing {
  readonly clientId: string | undefined;
  readonly role: Role | undefined;
  readonly serviceParameters: Readonly<Record<string, unknown>> | undefined;
}

export class Account {
  readonly #tellers: Tellers;
  readonly #origin: Origin;
  readonly #standing: Standing;

  constructor(tellers: Tellers, origin: Origin, standing: Standing) {
    this.#tellers = tellers;
    this.#origin = origin;
    this.#standing = standing;
  }

  record(event: AuditEvent, outcome: AuditLine['outcome'], detail?: string): void {
    const { session, principal, address } = this.#origin;
    this.#tellers.audit.record({
      event,
      outcome,
      principal: principal.name,
      address,
      instance_id: session.instanceId,
      session_id: session.id,
      client_id: this.#standing.clientId,
      role: this.#standing.role,
      trace_id: this.#traceId,
      detail,
    });
  }

  /** It was sent what it asked for, or told why it is not. */
  replay(replayFrom: number | undefined, refusal?: Fault): void {
    const from = `from ${replayFrom}`;
    this.record('replay', refusal ? 'failed' : 'granted', refusal ? `${from}: ${refusal.code}` : from);
  }

  /**
   * A refusal is what was to be expected, and what passes by itself (another replica does not answer, Redis is away) a warning. What fails many for
   * one cause is told now and then, of the last of them.
   */
  complain(fault: Fault, what: string): void {
    const { logger, seldom } = this.#tellers;
    const [who, reason] = [this.who, whyOf(fault)];
    const told = (say: (times: number) => void) => seldom.tell(`${what}: ${reason}`, say);
    if (isFailure(fault)) told((times) => logger.error({ ...who, err: fault.cause ?? fault, times }, what));
    else if (fault.status === 503) told((times) => logger.warn({ ...who, reason, times }, what));
    else logger.info({ ...who, reason }, what);
  }

  /** Under the names that all lines of the log have. */
  get who() {
    const { session, principal } = this.#origin;
    const trace = this.#traceId;
    return {
      session_id: session.id,
      instance_id: session.instanceId,
      principal: principal.name,
      client_id: this.#standing.clientId,
      ...(trace !== undefined && { trace_id: trace }),
    };
  }

  /** Whom an operator would ask what they do. */
  get sender() {
    return { ...this.who, address: this.#origin.address };
  }

  /** The client's own (service parameter `trace_id`), or that of the upgrade. */
  get traceparent(): string | undefined {
    const given = this.#standing.serviceParameters?.trace_id;
    return typeof given === 'string' && readTraceparent(given) ? given : this.#origin.trace;
  }

  /** Of the client's trace, or what else it calls so. */
  get #traceId(): string | undefined {
    const given = this.#standing.serviceParameters?.trace_id;
    if (typeof given === 'string') return readTraceparent(given)?.traceId ?? given.slice(0, MAX_TRACE_CHARS);
    return readTraceparent(this.#origin.trace)?.traceId;
  }
}
