// The other replicas, as the sessions of this one see them. Knows no bus and no store.
import type { Away } from './away.js';
import type { Desk, Tell } from './desk.js';
import type { Ask } from './remote-session.js';

export interface Neighbours {
  isAlive(replicaId: string): boolean;
  /** For the questions about one session to the replica that owns it. */
  asker(owner: string, sessionId: string): Ask;
  readonly tell: Tell;
  /** From now on, what others ask goes to the desk, and what owners tell goes to those away. */
  serve(desk: Desk, away: Away): void;
  /** A replica is believed dead. */
  onDeath(listener: (replicaId: string) => void): void;
  /** This replica was believed dead for a while: its sessions may be others' now. */
  onDoubt(listener: () => void): void;
}
