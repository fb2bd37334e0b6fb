// The other replicas, as the sessions of this one see them. Knows no bus and no store.
import type { Away } from './away.js';
import type { Calls } from './calls.js';
import type { Leases } from './cluster.js';
import type { Desk, Tell } from './desk.js';
import type { Parcel } from './parcel.js';
import type { Ask } from './remote-session.js';
import type { Question, Questions, Tiding, Tidings } from './remote-words.js';
import type { Logger } from './sessions.js';

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

interface Asked {
  readonly sessionId: string;
  readonly ask: Questions[Question]['ask'];
}

const tidings: ReadonlySet<string> = new Set<Tiding>(['deliver', 'ready', 'dismiss']);
const isTiding = (name: string): name is Tiding => tidings.has(name);

export function neighboursOver(calls: Calls, leases: Leases, logger: Logger): Neighbours {
  return {
    isAlive: (replicaId) => leases.isAlive(replicaId),
    asker: (owner, sessionId) => async (question, ask, bytes) => {
      const answer = await calls.call(owner, question, { data: { sessionId, ask } satisfies Asked, ...(bytes && { bytes }) });
      return { head: answer.data as never, ...(answer.bytes && { bytes: answer.bytes }) };
    },
    tell: (to, what, head, bytes) => {
      calls.tell(to, what, { data: head, ...(bytes && { bytes }) }).catch((error) => {
        logger.warn({ err: error, to }, 'a frame for a member on another replica could not be handed over');
      });
    },
    serve: (desk, away) => calls.serve((from, name, args) => serve(desk, away, from, name, args)),
    onDeath: (listener) => void leases.onDeath(listener),
    onDoubt: (listener) => void leases.onRegained((life) => life === 'new' && listener()),
  };
}

async function serve(desk: Desk, away: Away, from: string, name: string, { data, bytes }: Parcel): Promise<Parcel> {
  if (isTiding(name)) {
    away.hear(name, { head: data as Tidings[Tiding], ...(bytes && { bytes }) });
    return {};
  }
  const { sessionId, ask } = data as Asked;
  const answer = await desk.answer(from, sessionId, name as Question, ask, bytes ?? new Uint8Array());
  return { data: answer.head, ...(answer.bytes && { bytes: answer.bytes }) };
}
