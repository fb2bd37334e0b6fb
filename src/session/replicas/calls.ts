// Asking another replica and being asked, over the bus. Knows no Redis, and not what is asked.
import { asFault, type ErrorCode, errorTable, Fault, isFailure } from '../../errors.js';
import { around, currentSpan, partOf, type Tracing, untraced } from '../../tracing/tracing.js';
import type { Logger } from '../sessions.js';
import { type Bus, BusError, type Leases } from './cluster.js';
import { type Parcel, pack, unpack } from './parcel.js';

/** How long an answer is waited for unless told otherwise, in milliseconds. */
const CALL_MS = 5000;
/** Calls that may wait for their answers. */
const PENDING_LIMIT = 10_000;

/** Does what was asked. A call gets what it returns, or the Fault that it throws; of a tell nothing goes back. */
export type Server = (from: string, name: string, args: Parcel) => Promise<Parcel> | Parcel;

export interface CallOptions {
  /** How long the answer is waited for, in milliseconds, up to 2^31 − 1; 5,000 if absent. */
  readonly timeoutMs?: number;
}

interface Call {
  readonly kind: 'call';
  readonly call: number;
  readonly name: string;
  /** When it is given up, by the clock that all replicas share, in milliseconds. Former versions did not say. */
  readonly by?: number;
  /** The `traceparent` of the work that it is a part of. */
  readonly trace?: string | undefined;
  readonly data?: unknown;
}

type Asked = Call | { readonly kind: 'tell'; readonly name: string; readonly data?: unknown };
type Head =
  | Asked
  | { readonly kind: 'reply'; readonly call: number; readonly data?: unknown }
  | { readonly kind: 'fault'; readonly call: number; readonly fault: FaultJson };

interface FaultJson {
  readonly code: string;
  readonly message: string;
  readonly status: number;
  readonly retryable: boolean;
  readonly details?: Record<string, unknown>;
}

interface Pending {
  readonly to: string;
  settle(answer: Parcel | Fault): void;
}

export interface CallsParts {
  /** Its one handler is taken here, when `serve` is called. */
  readonly bus: Bus;
  readonly leases: Pick<Leases, 'onDeath' | 'now'>;
  readonly logger: Logger;
  /** Absent: nothing is traced. */
  readonly tracing?: Tracing;
}

/** What is called and told to one replica arrives in the order of the calls. */
export class Calls {
  readonly #parts: CallsParts;
  readonly #tracing: Tracing;
  readonly #pending = new Map<number, Pending>();
  readonly #stop: () => void;
  #count = 0;

  constructor(parts: CallsParts) {
    this.#parts = parts;
    this.#tracing = parts.tracing ?? untraced;
    this.#stop = parts.leases.onDeath((id) => this.#bury(id));
  }

  /** From now on answers arrive, and what others ask is taken, one after the other in the order in which it came; answers may take their time. */
  serve(server: Server): void {
    this.#parts.bus.receive((from, message) => this.#take(server, from, message));
  }

  /**
   * Rejects with the Fault that the other replica threw, or INTERNAL (retryable) if it died, or was not reached, or did not answer in time: then
   * it does not begin with it later either.
   */
  call(to: string, name: string, args: Parcel = {}, options: CallOptions = {}): Promise<Parcel> {
    const span = { kind: 'client', attributes: { 'pty.replica_id': to } } as const;
    return partOf(this.#tracing, `ask ${name}`, span, () => this.#call(to, name, args, options));
  }

  #call(to: string, name: string, args: Parcel, { timeoutMs = CALL_MS }: CallOptions): Promise<Parcel> {
    if (this.#pending.size >= PENDING_LIMIT) return Promise.reject(fault('too many calls to other replicas wait for their answers'));
    const call = ++this.#count;
    return new Promise((resolve, reject) => {
      const silent = () => fault('the replica that runs this session did not answer', new Error(`replica ${to}, within ${timeoutMs} ms`));
      const timer = setTimeout(() => settle(silent()), timeoutMs);
      const settle = (answer: Parcel | Fault) => {
        clearTimeout(timer);
        this.#pending.delete(call);
        if (answer instanceof Fault) reject(answer);
        else resolve(answer);
      };
      this.#pending.set(call, { to, settle });
      const by = this.#parts.leases.now().from + timeoutMs;
      const asked: Asked = { kind: 'call', call, name, by, trace: currentSpan()?.traceparent, data: args.data };
      this.#send(to, asked, args.bytes, timeoutMs).catch((error) => settle(unreached(error)));
    });
  }

  /** Resolves when it is on its way for good. Rejects with INTERNAL (retryable) if it is not. */
  async tell(to: string, name: string, args: Parcel = {}): Promise<void> {
    await this.#send(to, { kind: 'tell', name, data: args.data }, args.bytes).catch((error) => {
      throw unreached(error);
    });
  }

  /** What that replica had told or answered may be lost; told before what comes next from it. */
  onGap(listener: (from: string) => void): void {
    this.#parts.bus.onGap((from) => listener(from));
  }

  /** Gives up what waits for answers. The bus is closed by whoever opened it. */
  close(): void {
    this.#stop();
    for (const { settle } of [...this.#pending.values()]) settle(fault('this replica ends'));
  }

  async #send(to: string, head: Head, bytes?: Uint8Array, timeoutMs = CALL_MS): Promise<void> {
    await this.#parts.bus.send(to, pack(head, bytes), { timeoutMs: Math.min(timeoutMs, CALL_MS) });
  }

  #bury(id: string): void {
    for (const { to, settle } of [...this.#pending.values()]) {
      if (to === id) settle(fault('the replica that runs this session has died', new Error(`replica ${id}`)));
    }
  }

  #take(server: Server, from: string, message: Uint8Array): void {
    const unpacked = unpack(message);
    const head = unpacked.head as Head;
    const parcel = { data: 'data' in head ? head.data : undefined, bytes: unpacked.bytes };
    if (head.kind === 'reply') this.#settle(head.call, parcel);
    else if (head.kind === 'fault') this.#settle(head.call, readFault(head.fault));
    else if (head.kind === 'call' || head.kind === 'tell') void this.#serve(server, from, head, parcel);
    else throw new RangeError('a message is neither a call nor an answer');
  }

  /** An answer after its time is dropped. */
  #settle(call: number, answer: Parcel | Fault): void {
    this.#pending.get(call)?.settle(answer);
  }

  async #serve(server: Server, from: string, asked: Asked, args: Parcel): Promise<void> {
    let answer: Parcel | Fault;
    try {
      answer = this.#isGivenUp(asked)
        ? fault('the replica that runs this session was held up')
        : await this.#traced(from, asked, async () => server(from, asked.name, args));
    } catch (error) {
      answer = asFault(error);
      if (isFailure(answer) && answer !== error)
        this.#parts.logger.error({ err: error, from, name: asked.name }, 'what another replica asked has failed');
    }
    if (asked.kind === 'call') await this.#answer(from, asked.call, answer);
  }

  /** Whether that may be so: who was told that it has failed may have asked again. */
  #isGivenUp(asked: Asked): boolean {
    return asked.kind === 'call' && asked.by !== undefined && this.#parts.leases.now().to > asked.by;
  }

  /** In the trace of whoever asked. */
  #traced(from: string, asked: Asked, work: () => Promise<Parcel>): Promise<Parcel> {
    if (asked.kind === 'tell' || asked.trace === undefined) return work();
    const span = { parent: asked.trace, kind: 'server', attributes: { 'pty.replica_id': from } } as const;
    return around(this.#tracing, `owner ${asked.name}`, span, work);
  }

  async #answer(to: string, call: number, answer: Parcel | Fault): Promise<void> {
    try {
      if (answer instanceof Fault) await this.#send(to, { kind: 'fault', call, fault: writeFault(answer) });
      else await this.#send(to, { kind: 'reply', call, data: answer.data }, answer.bytes);
    } catch (error) {
      this.#parts.logger.warn({ err: error, to }, 'an answer to another replica was not sent');
      const isTooBig = error instanceof BusError && error.failure === 'too_big' && !(answer instanceof Fault);
      if (isTooBig) await this.#answer(to, call, fault('the answer of the replica that runs this session is too big', error));
    }
  }
}

function fault(message: string, cause?: unknown): Fault {
  return new Fault('INTERNAL', message, { status: 503, retryable: true, cause });
}

function unreached(error: unknown): Fault {
  const isGone = error instanceof BusError && error.failure === 'gone';
  return fault(isGone ? 'the replica that runs this session has died' : 'the replica that runs this session could not be reached', error);
}

function writeFault({ code, message, status, retryable, details }: Fault): FaultJson {
  return { code, message, status, retryable, ...(details && { details }) };
}

function readFault({ code, message, status, retryable, details }: FaultJson): Fault {
  const known = code in errorTable ? (code as ErrorCode) : 'INTERNAL';
  return new Fault(known, message, { status, retryable, ...(details && { details }) });
}
