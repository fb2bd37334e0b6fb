// How replicas know of each other and talk: the ports that sessions on other replicas are built on. Knows no Redis and no session.

/**
 * Why a message was not handed over. `gone`: the replica is dead. `unavailable`: not within its bound, and it will not be delivered later.
 * `unknown`: the connection broke while it was handed over and its bound is over; it was delivered once or never, and is not handed over later.
 */
export type BusFailure = 'gone' | 'unavailable' | 'unknown' | 'too_big' | 'closed';

export class BusError extends Error {
  override readonly name = 'BusError';
  readonly failure: BusFailure;
  constructor(failure: BusFailure, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.failure = failure;
  }
}

/** Ordered, reliable messages between replicas. Bytes are opaque here. */
export interface Bus {
  readonly replicaId: string;
  /**
   * Delivered to that replica's handler in the order of the calls, once; while the store is away it waits, 5,000 ms unless told otherwise.
   * Resolves when the store has it. Rejects with a BusError.
   */
  send(to: string, message: Uint8Array, options?: { readonly timeoutMs?: number }): Promise<void>;
  /** One handler; called one message after the other; what it throws is logged. Messages that came before are kept until then. */
  receive(handler: (from: string, message: Uint8Array) => void): void;
  /** Messages of that replica which the store had taken are lost (it failed over without them, say). Told before the next that came. */
  onGap(listener: (from: string, lost: number) => void): () => void;
  /** Hands over what was sent, for a second at most; then lets go of all. */
  close(): Promise<void>;
}

/** When it is, by a clock that all replicas share, in milliseconds: not before `from`, and not after `to`. */
export interface Now {
  readonly from: number;
  readonly to: number;
}

/** Who is alive. */
export interface Leases {
  readonly replicaId: string;
  /** Ids of the replicas believed alive now, this one among them unless its own lease is lost. */
  alive(): readonly string[];
  isAlive(replicaId: string): boolean;
  /** The same, after another look where it is not known to be alive: it may have been born just now. Rejects while the store is away. */
  isAliveNow(replicaId: string): Promise<boolean>;
  /** A replica is believed dead from now on (once per life; a replica that comes back with the same id is a new life). */
  onDeath(listener: (replicaId: string) => void): () => void;
  onBirth(listener: (replicaId: string) => void): () => void;
  /**
   * Called when this replica itself could not renew for so long that others may believe it dead: it must stop writing until `onRegained`
   * (fencing does the rest). Comes before anything else here says that this replica is alive.
   */
  onLost(listener: () => void): () => void;
  /** After `onLost`, the lease is held again: with the same life nobody believed this replica dead; with a new one its sessions are others'. */
  onRegained(listener: (life: 'same' | 'new') => void): () => void;
  /**
   * Another process lives under this replica's id, taken while this one was silent for longer than its lease. It goes on to live, and this one
   * never will; told with each sign of it.
   */
  onUsurped(listener: () => void): () => void;
  now(): Now;
  /** In one sentence, what keeps this replica from being believed alive, or soon will; undefined while all is well. */
  trouble(): string | undefined;
  /** Gives the lease up at once, in order (others are told without waiting for it to run out). */
  release(): Promise<void>;
}
