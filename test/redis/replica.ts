// A replica as far as others can tell: a client, a lease, a bus. Knows no session.
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '../../src/protocol/ids.js';
import { openBus } from '../../src/redis/bus.js';
import { connect, type RedisAddress } from '../../src/redis/connect.js';
import { openLeases, type RedisLeases } from '../../src/redis/leases.js';
import type { Bus } from '../../src/session/replicas/cluster.js';
import type { Logger } from '../../src/session/sessions.js';

const quiet: Logger = { info: () => {}, warn: () => {}, error: () => {} };

export interface Replica {
  readonly id: string;
  readonly leases: RedisLeases;
  readonly bus: Bus;
  /** What happened to it and to others, as it was told: `died b`, `born b`, `lost`, `regained same`. */
  readonly told: string[];
  /** In order, as if by SIGTERM. */
  close(): Promise<void>;
}

export async function openReplica(address: RedisAddress, id: string, { leaseSeconds = 2, logger = quiet } = {}): Promise<Replica> {
  const client = connect(address);
  const leases = await openLeases({ client, prefix: 'test', replicaId: id, leaseSeconds, incarnation: newId(), logger }).catch((error) => {
    client.disconnect();
    throw error;
  });
  const told: string[] = [];
  leases.onDeath((other) => void told.push(`died ${other}`));
  leases.onBirth((other) => void told.push(`born ${other}`));
  leases.onLost(() => void told.push('lost'));
  leases.onRegained((life) => void told.push(`regained ${life}`));
  const bus = openBus({ client, prefix: 'test', leases, logger });
  const close = async () => {
    await leases.release();
    await bus.close();
    client.disconnect();
  };
  return { id, leases, bus, told, close };
}

/** Waits until it holds; a test's own time limit bounds it. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(5);
}
