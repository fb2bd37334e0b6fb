// All connections of this process. Knows no session.
import type { GoodbyeReason } from '../errors.js';

export interface Farewell {
  /** Says goodbye and closes in order; harmless when it is closing already. */
  goodbye(reason: GoodbyeReason): void;
  /** Resolves when the socket is closed. */
  readonly closed: Promise<void>;
  /** Ends the connection at once. */
  terminate(): void;
}

export class Connections {
  readonly #open = new Set<Farewell>();

  get count(): number {
    return this.#open.size;
  }

  add(connection: Farewell): void {
    this.#open.add(connection);
    void connection.closed.then(() => this.#open.delete(connection));
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
