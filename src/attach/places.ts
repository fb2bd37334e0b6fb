// For whom numbers were given that keep nothing, the newest of them. Knows no frame.
import type { Placed } from '../log/log.js';
import { KNOWN_PLACES } from './limits.js';

export class Places {
  /** The oldest first. */
  readonly #all: Placed[] = [];
  /** The numbers of each client, ascending. */
  readonly #of = new Map<string, number[]>();

  add(place: Placed): void {
    this.#all.push(place);
    const own = this.#of.get(place.to);
    if (own) own.push(place.sequence);
    else this.#of.set(place.to, [place.sequence]);
    if (this.#all.length > KNOWN_PLACES) this.#forgetOldest();
  }

  after(clientId: string, place: number): number | undefined {
    return this.#of.get(clientId)?.find((sequence) => sequence > place);
  }

  #forgetOldest(): void {
    const oldest = this.#all.shift();
    const own = oldest && this.#of.get(oldest.to);
    own?.shift();
    if (own?.length === 0) this.#of.delete(oldest?.to ?? '');
  }
}
