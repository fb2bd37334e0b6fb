// All connections of this process. Knows no session.
import type { GoodbyeReason } from '../errors.js';
import type { Role } from '../protocol/frames.js';

/** What went over a connection so far, in frames and in bytes of its socket. */
export interface Traffic {
  readonly receivedFrames: number;
  readonly receivedBytes: number;
  readonly sentFrames: number;
  readonly sentBytes: number;
}

/** What can be seen of a connection from outside. */
export interface Farewell {
  /** Undefined until it has joined. */
  readonly role: Role | undefined;
  readonly traffic: Traffic;
  /** Frames that it has yet to be sent. */
  readonly lag: number;
  /** Bytes that wait for its socket. */
  readonly waitingBytes: number;
  /** Says goodbye and closes in order; harmless when it is closing already. */
  goodbye(reason: GoodbyeReason): void;
  /** Resolves when the socket is closed. */
  readonly closed: Promise<void>;
  /** Ends the connection at once. */
  terminate(): void;
}

export class Connections {
  readonly #open = new Set<Farewell>();
  /** Of those that are closed. */
  #past: Traffic = { receivedFrames: 0, receivedBytes: 0, sentFrames: 0, sentBytes: 0 };

  get count(): number {
    return this.#open.size;
  }

  add(connection: Farewell): void {
    this.#open.add(connection);
    void connection.closed.then(() => {
      this.#open.delete(connection);
      this.#past = sum(this.#past, connection.traffic);
    });
  }

  open(): readonly Farewell[] {
    return [...this.#open];
  }

  /** Of all that were ever here. */
  get traffic(): Traffic {
    return this.open().reduce((all, { traffic }) => sum(all, traffic), this.#past);
  }

  /** Says goodbye to all. Resolves when all are closed; who is not after `boundMs` is cut off. */
  async goodbyeAll(reason: GoodbyeReason, boundMs: number): Promise<void> {
    const leaving = [...this.#open];
    for (const connection of leaving) connection.goodbye(reason);
    const bound = setTimeout(() => {
      for (const connection of leaving) connection.terminate();
    }, boundMs);
    await Promise.all(leaving.map((connection) => connection.closed));
    clearTimeout(bound);
  }
}

function sum(one: Traffic, other: Traffic): Traffic {
  return {
    receivedFrames: one.receivedFrames + other.receivedFrames,
    receivedBytes: one.receivedBytes + other.receivedBytes,
    sentFrames: one.sentFrames + other.sentFrames,
    sentBytes: one.sentBytes + other.sentBytes,
  };
}
