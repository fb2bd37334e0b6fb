// The replicas, for those who run them: how each is, and what it is told to do with itself, whichever is asked. Knows no route.
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { asFault, Fault } from '../src/errors.js';
import type { LogLevel } from '../src/logging/log-level.js';
import type { Order, ReplicaStatus } from '../src/session/replicas/orders.js';
import { version } from '../src/version.js';

/** A replica that lives, but does not answer. */
export interface SilentReplica {
  readonly replica_id: string;
  readonly state: 'silent';
  readonly reason: string;
}

declare module 'fastify' {
  interface FastifyInstance {
    readonly replicas: {
      /** All that live, this one first. */
      list(): Promise<Array<ReplicaStatus | SilentReplica>>;
      /** TASK_NOT_FOUND if no replica of that id lives; INTERNAL (retryable) if it does not answer. */
      order(replicaId: string, order: Order): Promise<ReplicaStatus>;
    };
  }
}

function statusOf(app: FastifyInstance, startedAt: string): ReplicaStatus {
  const { config, lifecycle, sessions, connections, log } = app;
  const owned = sessions.owned().map((session) => session.describe());
  const { state, endsAt } = lifecycle;
  return {
    replica_id: config.replica.id,
    state,
    version: version(),
    started_at: startedAt,
    sessions: owned.length,
    members: owned.reduce((sum, { controllers, observers }) => sum + controllers.length + observers.length, 0),
    connections: connections.count,
    log_level: log.level as LogLevel,
    ...(endsAt !== undefined && { seconds_left: Math.max(0, Math.ceil((endsAt - Date.now()) / 1000)) }),
  };
}

/** Drains once, however often it is told to. */
function drain({ lifecycle }: FastifyInstance): void {
  if (lifecycle.state === 'draining') return;
  if (!lifecycle.end) throw new Fault('UNSUPPORTED_OPERATION', 'this replica cannot be drained: it is no process of its own');
  lifecycle.end();
}

function setLevel({ log }: FastifyInstance, level: LogLevel): void {
  const before = log.level;
  // Told before it may be told no more.
  if (level !== before) log.info({ before, level }, 'the log level changes');
  log.level = level;
}

function perform(app: FastifyInstance, order: Order): void {
  if (order.do === 'drain') drain(app);
  if (order.do === 'log') setLevel(app, order.level);
}

export default fp(
  async (app) => {
    const startedAt = new Date().toISOString();
    const { neighbours } = app;
    const self = app.config.replica.id;
    const here = (order: Order): ReplicaStatus => {
      perform(app, order);
      return statusOf(app, startedAt);
    };
    neighbours?.onOrder(here);
    const order = async (replicaId: string, asked: Order): Promise<ReplicaStatus> => {
      if (replicaId === self) return here(asked);
      if (neighbours && (await neighbours.isAliveNow(replicaId))) return neighbours.order(replicaId, asked);
      throw new Fault('TASK_NOT_FOUND', `no replica ${replicaId} lives; \`pty-gateway replicas\` lists those that do`);
    };
    const tell = (replicaId: string): Promise<ReplicaStatus | SilentReplica> =>
      order(replicaId, { do: 'tell' }).catch((error) => ({ replica_id: replicaId, state: 'silent', reason: asFault(error).message }));
    app.decorate('replicas', { order, list: () => Promise.all([self, ...(neighbours?.others() ?? [])].map(tell)) });
  },
  { name: 'replicas', dependencies: ['context', 'cluster', 'sessions', 'websocket'] },
);
