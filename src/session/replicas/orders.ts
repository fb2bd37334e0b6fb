// What an operator asks of one replica, and what it tells of itself. Knows no bus and no route.
import type { LogLevel } from '../../logging/log-level.js';

export type Order = { readonly do: 'tell' } | { readonly do: 'drain' } | { readonly do: 'log'; readonly level: LogLevel };

export interface ReplicaStatus {
  readonly replica_id: string;
  readonly state: 'starting' | 'ready' | 'draining';
  readonly version: string;
  /** RFC 3339. */
  readonly started_at: string;
  /** Whose terminals run there. */
  readonly sessions: number;
  /** Members of those sessions, wherever they are connected. */
  readonly members: number;
  /** Open pty-ws connections. */
  readonly connections: number;
  readonly log_level: LogLevel;
  /** While it drains: seconds until what still runs is ended. */
  readonly seconds_left?: number;
}

/** Does what a replica is told to do with itself, and tells how it is then. Throws a Fault that travels back. */
export type ReplicaOrders = (order: Order) => ReplicaStatus;
