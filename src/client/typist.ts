// Types in the order in which it is asked to, and tells what became of each piece. Knows no socket and no screen.
import { Fault } from '../errors.js';
import type { Waiting } from './tasks.js';
import { unless } from './unless.js';

/** Bytes that may wait to be typed, or to be read by the gateway. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024;

/** What it types on. */
export interface Keyboard {
  /** Resolves when this client is in the session, at once if it is; rejects with ClientEnded. */
  joined(): Promise<void>;
  /** False, and nothing is sent, where this client may not type. */
  input(bytes: Uint8Array): boolean;
  /** Resolves when the gateway has read what was typed before, after calling `answered` in the turn in which it says so; rejects if that is not to be known any more. */
  read(waiting: Waiting, answered: () => void): Promise<void>;
}

/** A piece that was sent, and is not known to be read. */
interface Flight {
  refusal: Fault | undefined;
}

export class Typist {
  readonly #keyboard: Keyboard;
  readonly #flights = new Set<Flight>();
  #waitingBytes = 0;
  /** Ends when the last piece was sent, or is not to be. */
  #lastTurn: Promise<unknown> = Promise.resolve();

  constructor(keyboard: Keyboard) {
    this.#keyboard = keyboard;
  }

  async type(bytes: Uint8Array, waiting: Waiting): Promise<void> {
    if (this.#waitingBytes + bytes.length > MAX_WAITING_BYTES)
      throw new Fault('RATE_LIMITED', `more than ${MAX_WAITING_BYTES} bytes wait to be typed; nothing of this piece was`);
    this.#waitingBytes += bytes.length;
    try {
      await this.#turn(waiting);
      await this.#send(bytes, waiting);
    } finally {
      this.#waitingBytes -= bytes.length;
    }
  }

  /** What the gateway refuses is what it has not said yet to have read: the oldest piece. */
  refused(fault: Fault): void {
    const [oldest] = this.#flights;
    if (oldest) oldest.refusal ??= fault;
  }

  /** Each turn waits for the ones before it, so that a join lets them go in their order. */
  #turn({ signal }: Waiting): Promise<void> {
    const turn = this.#lastTurn.then(() => unless(signal, this.#keyboard.joined()));
    this.#lastTurn = turn.catch(() => {});
    return turn;
  }

  async #send(bytes: Uint8Array, waiting: Waiting): Promise<void> {
    if (!this.#keyboard.input(bytes)) throw new Fault('PERMISSION_DENIED', 'this client only watches: nothing was typed');
    const flight: Flight = { refusal: undefined };
    this.#flights.add(flight);
    const landed = () => void this.#flights.delete(flight);
    await this.#keyboard.read(waiting, landed).finally(landed);
    if (flight.refusal) throw flight.refusal;
  }
}
