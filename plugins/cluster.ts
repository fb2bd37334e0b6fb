// Knows the other replicas, talks to them and counts with them, where Redis brings them together. Knows no session.
import { hkdfSync, randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { Config } from '../src/config.js';
import { createIdempotency, digestUnder, type Idempotency } from '../src/idempotency.js';
import { KEY_BYTES, Keyring } from '../src/keyring.js';
import { openBus } from '../src/redis/bus.js';
import { connect } from '../src/redis/connect.js';
import { RedisIdempotency } from '../src/redis/idempotency.js';
import { openLeases } from '../src/redis/leases.js';
import { RedisQuota } from '../src/redis/quota.js';
import type { Quota } from '../src/session/quota.js';
import { Calls } from '../src/session/replicas/calls.js';
import { type Neighbours, neighboursOver } from '../src/session/replicas/neighbours.js';
import { sealedBus } from '../src/session/replicas/sealed-bus.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** Undefined where there is one replica alone. */
    readonly neighbours: Neighbours | undefined;
    /** How many sessions of an agent run on all replicas. Undefined where there is one replica alone. */
    readonly quota: Quota | undefined;
    /** What was made by requests that come twice, whichever replica they come to. */
    readonly idempotency: Idempotency;
  }
}

/** What all replicas were given and Redis was not; undefined where they only check tokens of others and seal nothing. */
function sharedKey({ config, secrets }: FastifyInstance): Uint8Array | undefined {
  const given = config.encryptionKeys[0]?.key ?? secrets.first;
  return given ? new Uint8Array(hkdfSync('sha256', given, '', 'pty-gateway idempotency', KEY_BYTES)) : undefined;
}

async function meet(app: FastifyInstance, redis: NonNullable<Config['redis']>) {
  const { config, log: logger, tracing } = app;
  const { id: replicaId, leaseSeconds } = config.replica;
  const { prefix } = redis;
  const client = connect(redis);
  const leases = await openLeases({ client, prefix, replicaId, leaseSeconds, incarnation: randomUUID(), logger });
  const bus = sealedBus(openBus({ client, prefix, leases, logger }), new Keyring(config.encryptionKeys));
  const calls = new Calls({ bus, leases, logger, ...(tracing && { tracing }) });
  const quota = new RedisQuota(client, prefix);
  const idempotency = new RedisIdempotency(client, prefix, digestUnder(sharedKey(app)));
  const neighbours = neighboursOver(calls, leases, logger);
  // The lease first: from then on nobody sends to a replica that does not read any more.
  const close = async () => {
    await leases.release();
    quota.close();
    neighbours.close();
    calls.close();
    await bus.close();
    client.disconnect();
  };
  return { neighbours, quota, idempotency, close };
}

export default fp(
  async (app) => {
    const { redis } = app.config;
    const met = redis && (await meet(app, redis));
    app.decorate('neighbours', met?.neighbours);
    app.decorate('quota', met?.quota);
    app.decorate('idempotency', met?.idempotency ?? createIdempotency());
    if (met) app.addHook('onClose', met.close);
  },
  { name: 'cluster', dependencies: ['context'] },
);
