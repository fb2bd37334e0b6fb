// What operators do over HTTP with the replicas: look at them, drain one, change how much one logs. Knows addresses and schemas.
import { Type } from '@sinclair/typebox';
import type { FastifyRequest } from 'fastify';
import { authorize, principalOf } from '../plugins/auth.js';
import { asFault, Fault } from '../src/errors.js';
import { logLevels } from '../src/logging/log-level.js';
import type { Order, ReplicaStatus } from '../src/session/replicas/orders.js';
import { ErrorBody, type Routes } from './schemas.js';

const Level = Type.Union(logLevels.map((level) => Type.Literal(level)));
const Replica = Type.Object(
  {
    replica_id: Type.String(),
    state: Type.Union(['starting', 'ready', 'draining', 'silent'].map((state) => Type.Literal(state))),
    reason: Type.Optional(Type.String({ description: 'Why it is silent: it lives, and does not answer.' })),
    version: Type.Optional(Type.String()),
    started_at: Type.Optional(Type.String({ description: 'RFC 3339, UTC.' })),
    sessions: Type.Optional(Type.Integer({ description: 'Whose terminals run there.' })),
    members: Type.Optional(Type.Integer({ description: 'Who is attached to those, wherever they are connected.' })),
    connections: Type.Optional(Type.Integer({ description: 'Open pty-ws connections.' })),
    log_level: Type.Optional(Level),
    seconds_left: Type.Optional(Type.Integer({ description: 'While it drains: until what still runs is ended.' })),
  },
  { description: 'A gateway process. A silent one tells no more than its id.' },
);
const Replicas = Type.Object({
  replicas: Type.Array(Replica),
  answered_by: Type.String({ description: 'The replica that this answer comes from.' }),
});
const ReplicaParams = Type.Object({ replica: Type.String({ description: 'REPLICA_ID.' }) });
const LogLevelRequest = Type.Object({ level: Level }, { additionalProperties: false });

const admits = authorize('pty:admin', 'admin');

/** A token that is good for some instances or sessions alone is none for the replicas that all share. */
async function wholly(request: FastifyRequest): Promise<void> {
  const { instances, sessions } = principalOf(request);
  if (!instances && !sessions) return;
  request.record('admin', 'denied', { detail: 'the token is narrowed down' });
  throw new Fault('PERMISSION_DENIED', 'replicas are for tokens that are not narrowed down to instances or sessions');
}

/** Whatever comes of it is in the audit. */
async function audited(request: FastifyRequest, replicaId: string, order: Order): Promise<ReplicaStatus> {
  const what = order.do === 'log' ? `log level ${order.level}` : order.do;
  try {
    const status = await request.server.replicas.order(replicaId, order);
    request.record('admin', 'done', { detail: `${what}: replica ${replicaId}` });
    return status;
  } catch (error) {
    request.record('admin', 'failed', { detail: `${what}: replica ${replicaId}: ${asFault(error).message}` });
    throw error;
  }
}

export const adminRoutes: Routes = async (app) => {
  const one = '/admin/replicas/:replica';
  const told = (status: number, body: object) => ({
    security: [{ bearer: [] }],
    response: { [status]: body, '4xx': ErrorBody, '5xx': ErrorBody },
  });
  const onRequest = [admits, wholly];

  app.get('/admin/replicas', { onRequest, schema: { ...told(200, Replicas), summary: 'Lists the replicas' } }, async () => ({
    replicas: await app.replicas.list(),
    answered_by: app.config.replica.id,
  }));

  app.get(one, { onRequest, schema: { params: ReplicaParams, ...told(200, Replica), summary: 'Tells of a replica' } }, ({ params }) =>
    app.replicas.order(params.replica, { do: 'tell' }),
  );

  app.post(
    `${one}/drain`,
    { onRequest, schema: { params: ReplicaParams, ...told(202, Replica), summary: 'Ends a replica in order, as SIGTERM does' } },
    async (request, reply) => reply.code(202).send(await audited(request, request.params.replica, { do: 'drain' })),
  );

  app.put(
    `${one}/log-level`,
    {
      onRequest,
      schema: {
        params: ReplicaParams,
        body: LogLevelRequest,
        ...told(200, Replica),
        summary: 'Changes how much a replica logs, until it ends',
      },
    },
    (request) => audited(request, request.params.replica, { do: 'log', level: request.body.level }),
  );
};
