// How a client came to its end, as an error. Knows no client.
import type { Ended } from './link.js';
import type { EndReason } from './retry.js';

/** The client came to its end before what was waited for. */
export class ClientEnded extends Error {
  override readonly name = 'ClientEnded';
  readonly reason: EndReason;

  constructor({ reason, message }: Ended) {
    super(message);
    this.reason = reason;
  }
}
