// Replicas whose members were not told all that was for them alone: each is told so, once it can be. Knows no bus and no member.
import { ToldAgain } from './told-again.js';

export interface MissedParts {
  /** Rejects unless that replica knows. */
  tell(replicaId: string): Promise<unknown>;
  isAlive(replicaId: string): boolean;
}

export class Missed {
  readonly #parts: MissedParts;
  /** By replica, how often something was missed that it does not know of. */
  readonly #misses = new Map<string, number>();
  readonly #again = new ToldAgain();

  constructor(parts: MissedParts) {
    this.#parts = parts;
  }

  note(replicaId: string): void {
    const misses = (this.#misses.get(replicaId) ?? 0) + 1;
    this.#misses.set(replicaId, misses);
    if (misses === 1) void this.#again.tell({ tell: () => this.#tell(replicaId), isOver: async () => this.#isOver(replicaId) });
  }

  close(): void {
    this.#again.close();
  }

  async #tell(replicaId: string): Promise<void> {
    const misses = this.#misses.get(replicaId);
    await this.#parts.tell(replicaId);
    if (this.#misses.get(replicaId) !== misses) throw new Error('more was missed meanwhile');
    this.#misses.delete(replicaId);
  }

  /** The members of a replica that is dead have left. */
  #isOver(replicaId: string): boolean {
    if (this.#parts.isAlive(replicaId)) return false;
    this.#misses.delete(replicaId);
    return true;
  }
}
