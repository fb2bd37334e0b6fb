// What a replica believes of the others, from the signs it sees and the time in which it could see. Knows no Redis and no timer.
import type { Life, Sign } from './directory.js';

/** A look at the directory, in milliseconds of one monotonic clock: what it shows was so at some time between the two. */
export interface Look {
  readonly askedAt: number;
  readonly seenAt: number;
  readonly signs: ReadonlyMap<string, Sign>;
}

/** A replica whose lease has run out; it is dead only when that is written. */
export interface Overdue {
  readonly id: string;
  readonly life: Life;
  readonly sign: Sign | undefined;
}

/** What a look has changed, the deaths before the births. */
export interface News {
  readonly died: readonly string[];
  readonly born: readonly string[];
  readonly overdue: readonly Overdue[];
}

/** Lives known to be over that are remembered, the newest of them. */
const BURIED_LIMIT = 1000;

interface Peer {
  readonly life: Life;
  sign: Sign;
  /** When its sign was last seen to be new. */
  heardAt: number;
}

export class Peers {
  readonly #peers = new Map<string, Peer>();
  /** A failover of Redis may forget a death; those who were told of it do not. */
  readonly #buried = new Set<Life>();
  readonly #blindMs: number;
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** Looks that are further apart than `blindMs` milliseconds tell nothing about what was between them: everyone gets a full lease again. */
  constructor(blindMs: number) {
    this.#blindMs = blindMs;
  }

  ids(): string[] {
    return [...this.#peers.keys()];
  }

  lifeOf(id: string): Life | undefined {
    return this.#peers.get(id)?.life;
  }

  look(look: Look): News {
    if (look.seenAt - this.#lookedAt > this.#blindMs) for (const peer of this.#peers.values()) peer.heardAt = look.seenAt;
    this.#lookedAt = look.seenAt;
    const died = this.ids().filter((id) => this.#hasDied(id, look.signs.get(id)));
    for (const id of died) this.#bury(id);
    const born = [...look.signs].filter(([id, sign]) => this.#hear(id, sign, look.seenAt)).map(([id]) => id);
    return { died, born, overdue: [...this.#overdue(look), ...this.#returned(look)] };
  }

  #hasDied(id: string, sign: Sign | undefined): boolean {
    return sign !== undefined && (sign.isDead || sign.life !== this.#peers.get(id)?.life);
  }

  #bury(id: string): void {
    this.#buried.add(this.#peers.get(id)?.life ?? '');
    this.#peers.delete(id);
    const [oldest] = this.#buried;
    if (this.#buried.size > BURIED_LIMIT && oldest !== undefined) this.#buried.delete(oldest);
  }

  /** Whether it is new. */
  #hear(id: string, sign: Sign, seenAt: number): boolean {
    if (sign.isDead || this.#buried.has(sign.life)) return false;
    const peer = this.#peers.get(id);
    if (!peer) this.#peers.set(id, { life: sign.life, sign, heardAt: seenAt });
    else if (peer.sign.text !== sign.text) Object.assign(peer, { sign, heardAt: seenAt });
    return !peer;
  }

  /** A sign that is gone (Redis lost it) is no news: its replica has a lease's time to give another. */
  #overdue({ askedAt, signs }: Look): Overdue[] {
    return [...this.#peers]
      .filter(([, peer]) => askedAt - peer.heardAt > peer.sign.leaseMs)
      .map(([id, { life }]) => ({ id, life, sign: signs.get(id) }));
  }

  #returned({ signs }: Look): Overdue[] {
    return [...signs]
      .filter(([, sign]) => !sign.isDead && this.#buried.has(sign.life))
      .map(([id, sign]) => ({ id, life: sign.life, sign }));
  }
}
