// The other replicas, as the sessions of this one see them. Knows no bus and no store.
import { Fault } from '../../errors.js';
import type { Logger } from '../sessions.js';
import type { Away } from './away.js';
import type { Calls } from './calls.js';
import type { Leases } from './cluster.js';
import type { Desk, Tell } from './desk.js';
import { Missed } from './missed.js';
import type { Order, ReplicaOrders, ReplicaStatus } from './orders.js';
import type { Parcel } from './parcel.js';
import type { Ask } from './remote-session.js';
import type { Question, Questions, Tiding, Tidings } from './remote-words.js';

/** What a replica does when others call. */
export interface Household {
  readonly desk: Desk;
  readonly away: Away;
  /** Goes on with a session that its owner has let go of. */
  adopt(sessionId: string): Promise<void>;
}

export interface Neighbours {
  isAlive(replicaId: string): boolean;
  /** The same, after another look where it is not known to be alive. Rejects while that cannot be looked at. */
  isAliveNow(replicaId: string): Promise<boolean>;
  /** The others that are alive now. */
  others(): readonly string[];
  /** For the questions about one session to the replica that owns it. */
  asker(owner: string, sessionId: string): Ask;
  readonly tell: Tell;
  /** Another replica is to go on with a session; rejects if it cannot. */
  handOver(to: string, sessionId: string): Promise<void>;
  /** Another replica is to do something with itself; rejects with the Fault that it answers. */
  order(to: string, order: Order): Promise<ReplicaStatus>;
  /** What this one does when it is told to. One at a time. */
  onOrder(orders: ReplicaOrders): void;
  /** From now on, what others call arrives. */
  serve(household: Household): void;
  /** A replica is believed dead. */
  onDeath(listener: (replicaId: string) => void): void;
  /** This replica was believed dead for a while: its sessions may be others' now. */
  onDoubt(listener: () => void): void;
  /** Another process has this replica's id, and all that ran here. */
  onUsurped(listener: () => void): void;
  /** In one sentence, why the others may not count on this replica; undefined while all is well. */
  trouble(): string | undefined;
  /** Tells nobody again what could not be told. */
  close(): void;
}

interface Asked {
  readonly sessionId: string;
  readonly ask: Questions[Question]['ask'];
}

/** Said where the members of the one that is told, in sessions of the one that says it, may have missed something that was for them alone. */
const MISSED = 'missed';
/** How long another replica may take to go on with a session, in milliseconds. */
const ADOPT_MS = 5000;

/** All of them: what is not here is taken for a question. */
const tidings: Readonly<Record<Tiding, true>> = { deliver: true, ready: true, presenceState: true, sendAway: true };
const isTiding = (name: string): name is Tiding => Object.hasOwn(tidings, name);

export function neighboursOver(calls: Calls, leases: Leases, logger: Logger): Neighbours {
  const asker: Neighbours['asker'] = (owner, sessionId) => async (question, ask, bytes) => {
    const answer = await calls.call(owner, question, { data: { sessionId, ask } satisfies Asked, ...(bytes && { bytes }) });
    return { head: answer.data as never, ...(answer.bytes && { bytes: answer.bytes }) };
  };
  const missed = new Missed({ tell: (to) => calls.call(to, MISSED, { data: {} }), isAlive: (to) => leases.isAlive(to) });
  const tell: Tell = (to, what, head, bytes) => {
    calls.tell(to, what, { data: head, ...(bytes && { bytes }) }).catch((error) => {
      logger.warn({ err: error, to }, 'a frame for a member on another replica could not be handed over');
      missed.note(to);
    });
  };
  let orders: ReplicaOrders = () => {
    throw new Fault('INTERNAL', 'this replica is just starting; try again', { status: 503 });
  };
  return {
    isAlive: (replicaId) => leases.isAlive(replicaId),
    isAliveNow: (replicaId) => leases.isAliveNow(replicaId),
    others: () => leases.alive().filter((id) => id !== leases.replicaId),
    asker,
    tell,
    handOver: async (to, sessionId) => void (await calls.call(to, 'adopt', { data: { sessionId } }, { timeoutMs: ADOPT_MS })),
    order: async (to, order) => (await calls.call(to, 'order', { data: order })).data as ReplicaStatus,
    onOrder: (given) => {
      orders = given;
    },
    serve: (household) => {
      calls.onGap((from) => household.away.sendBack(from));
      calls.serve((from, name, args) =>
        name === 'order' ? { data: orders(args.data as Order) } : serve(household, asker, from, name, args),
      );
    },
    onDeath: (listener) => void leases.onDeath(listener),
    onUsurped: (listener) => void leases.onUsurped(listener),
    trouble: () => leases.trouble(),
    close: () => missed.close(),
    onDoubt: (listener) => void leases.onRegained((life) => life === 'new' && listener()),
  };
}

async function serve(
  { desk, away, adopt }: Household,
  asker: Neighbours['asker'],
  from: string,
  name: string,
  args: Parcel,
): Promise<Parcel> {
  const { data, bytes } = args;
  if (isTiding(name)) {
    const head = data as Tidings[Tiding];
    const isKnown = away.hear(from, name, { head, ...(bytes && { bytes }) });
    // Its leave was lost with the replica that owned the session before.
    if (!isKnown && 'sessionId' in head) asker(from, head.sessionId)('forget', { handle: head.handle }).catch(() => {});
    return {};
  }
  if (name === MISSED) {
    away.sendBack(from);
    return {};
  }
  const { sessionId, ask } = data as Asked;
  if (name === 'adopt') {
    await adopt(sessionId);
    return {};
  }
  if (!desk.knows(name)) throw new Fault('UNSUPPORTED_OPERATION', `this replica does not know ${name}; its version differs`);
  const answer = await desk.answer(from, sessionId, name, ask, bytes ?? new Uint8Array());
  return { data: answer.head, ...(answer.bytes && { bytes: answer.bytes }) };
}
