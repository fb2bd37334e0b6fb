// What a client sends, one frame after the other: decoded, in bounds, and answered. Knows no verb and no session.
import { asFault, Fault } from '../errors.js';
import { decodeInput } from '../protocol/binary-codec.js';
import type { ClientEnvelope, ServerOp } from '../protocol/envelope.js';
import { decodeEnvelope, RequestFault } from '../protocol/json-codec.js';
import type { Dialect } from './dialect.js';
import type { Outlet } from './outlet.js';
import { RequestBudget } from './request-budget.js';

/** Answers a request, echoing its id. */
export type Reply = (op: ServerOp, payload: object) => void;

export interface InboxEvents {
  /** Begins in the turn of the call; rejects with what the client is to be told. */
  request(envelope: ClientEnvelope, reply: Reply): Promise<void>;
  /** A binary frame to be typed. */
  input(bytes: Uint8Array): Promise<void>;
  /** Whether later frames wait until this one is done. */
  isTurn(op: string): boolean;
  /** The client goes on asking for more than it may. */
  flooded(): void;
  /** Whether so much is in flight that no more should be read for now. */
  crowded(isCrowded: boolean): void;
  /** Something failed that the client is not told of. */
  broken(fault: Fault): void;
}

interface Message {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

export class Inbox {
  readonly #outlet: Outlet;
  readonly #dialect: Dialect;
  readonly #takesBinary: boolean;
  readonly #events: InboxEvents;
  readonly #budget = new RequestBudget();
  readonly #queue: Message[] = [];
  readonly #inFlight = new Set<Promise<void>>();
  /** Frames that came. */
  receivedFrames = 0;
  #isBlocked = false;
  #isClosed = false;

  constructor(outlet: Outlet, dialect: Dialect, takesBinary: boolean, events: InboxEvents) {
    this.#outlet = outlet;
    this.#dialect = dialect;
    this.#takesBinary = takesBinary;
    this.#events = events;
  }

  receive(data: Buffer, isBinary: boolean): void {
    if (this.#isClosed) return;
    this.receivedFrames += 1;
    switch (this.#budget.admit(data.length)) {
      case 'take':
        this.#queue.push({ data, isBinary });
        this.#next();
        if (this.#budget.isCrowded) this.#events.crowded(true);
        break;
      case 'refuse':
        this.#refuse(data, isBinary);
        break;
      case 'dismiss':
        this.#events.flooded();
    }
  }

  /** Takes no more frames. */
  close(): void {
    this.#isClosed = true;
    this.#queue.length = 0;
  }

  /** Resolves when all that was taken is answered. */
  async settled(): Promise<void> {
    await Promise.all(this.#inFlight);
  }

  #next(): void {
    while (!this.#isBlocked) {
      const message = this.#queue.shift();
      if (!message) return;
      this.#take(message);
    }
  }

  /** The order in which requests begin is the order of their effects: a session takes its turns in the order of the calls. */
  #take(message: Message): void {
    const pending = new Pending(() => this.#done(message));
    const done = this.#perform(message, pending).finally(() => {
      this.#inFlight.delete(done);
      pending.settle();
    });
    this.#inFlight.add(done);
  }

  #done({ data }: Message): void {
    const wasCrowded = this.#budget.isCrowded;
    this.#budget.done(data.length);
    if (wasCrowded && !this.#budget.isCrowded) this.#events.crowded(false);
  }

  async #perform({ data, isBinary }: Message, pending: Pending): Promise<void> {
    let id: string | undefined;
    try {
      if (isBinary) return await this.#events.input(this.#decodeInput(data));
      const envelopes = this.#dialect.decode(data.toString());
      id = envelopes[0]?.id;
      await Promise.all(envelopes.map((envelope) => this.#request(envelope, pending)));
    } catch (error) {
      const fault = asFault(error);
      if (fault.code === 'INTERNAL') this.#events.broken(fault);
      this.#outlet.error(fault, id, pending.flush());
    }
  }

  #request(envelope: ClientEnvelope, pending: Pending): Promise<void> {
    const { id, op } = envelope;
    const work = this.#events.request(envelope, (answer, payload) => this.#outlet.message(answer, payload, { id }, pending.flush()));
    if (this.#events.isTurn(op)) this.#block(work);
    return work;
  }

  #block(work: Promise<void>): void {
    this.#isBlocked = true;
    const unblock = () => {
      this.#isBlocked = false;
      this.#next();
    };
    work.then(unblock, unblock);
  }

  #decodeInput(data: Buffer): Uint8Array {
    if (!this.#takesBinary) throw new Fault('INVALID_REQUEST', 'a binary frame came on a connection that speaks JSON (pty-ws.v1)');
    return decodeInput(data);
  }

  #refuse(data: Buffer, isBinary: boolean): void {
    const fault = new Fault('RATE_LIMITED', 'this connection asks for more at a time than it may, or does not read the answers');
    this.#outlet.error(fault, isBinary ? undefined : idOf(data));
  }
}

/** A request counts until its work is done and the socket has taken all its answers. */
class Pending {
  readonly #done: () => void;
  /** Its work, and each answer on its way. */
  #open = 1;

  constructor(done: () => void) {
    this.#done = done;
  }

  flush(): () => void {
    this.#open += 1;
    return () => this.settle();
  }

  settle(): void {
    this.#open -= 1;
    if (this.#open === 0) this.#done();
  }
}

function idOf(data: Buffer): string | undefined {
  try {
    return decodeEnvelope(data.toString()).id;
  } catch (error) {
    return error instanceof RequestFault ? error.requestId : undefined;
  }
}
