// How many connections one principal, and one address, may have on this replica at a time. Knows no socket.
import { addressKey } from '../access/address-key.js';
import { Fault } from '../errors.js';

export interface SeatLimits {
  readonly perPrincipal: number;
  readonly perAddress: number;
}

export class Seats {
  readonly #limits: SeatLimits;
  readonly #taken = new Map<string, number>();

  constructor(limits: SeatLimits) {
    this.#limits = limits;
  }

  /** Returns the way to leave it, once. RATE_LIMITED (429) where there is none left. */
  take(principal: string, address: string): () => void {
    const keys = [`principal ${principal}`, `address ${addressKey(address)}`];
    const [ofPrincipal = 0, ofAddress = 0] = keys.map((key) => this.#taken.get(key) ?? 0);
    if (ofPrincipal >= this.#limits.perPrincipal) throw full('this principal', this.#limits.perPrincipal);
    if (ofAddress >= this.#limits.perAddress) throw full('this address', this.#limits.perAddress);
    for (const key of keys) this.#change(key, 1);
    return () => {
      for (const key of keys.splice(0)) this.#change(key, -1);
    };
  }

  #change(key: string, by: number): void {
    const count = (this.#taken.get(key) ?? 0) + by;
    if (count > 0) this.#taken.set(key, count);
    else this.#taken.delete(key);
  }
}

const full = (who: string, limit: number) => new Fault('RATE_LIMITED', `${who} has ${limit} connections already; close one first`);
