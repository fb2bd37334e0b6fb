// Knows the other replicas and talks to them, where Redis brings them together. Knows no session.
import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { Config } from '../src/config.js';
import { Keyring } from '../src/keyring.js';
import { openBus } from '../src/redis/bus.js';
import { connect } from '../src/redis/connect.js';
import { openLeases } from '../src/redis/leases.js';
import { Calls } from '../src/session/calls.js';
import { type Neighbours, neighboursOver } from '../src/session/neighbours.js';
import { sealedBus } from '../src/session/sealed-bus.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** Undefined where there is one replica alone. */
    readonly neighbours: Neighbours | undefined;
  }
}

async function meet({ config, log: logger }: FastifyInstance, redis: NonNullable<Config['redis']>) {
  const { id: replicaId, leaseSeconds } = config.replica;
  const { prefix } = redis;
  const client = connect(redis);
  const leases = await openLeases({ client, prefix, replicaId, leaseSeconds, incarnation: randomUUID(), logger });
  const bus = sealedBus(openBus({ client, prefix, leases, logger }), new Keyring(config.encryptionKeys));
  const calls = new Calls({ bus, leases, logger });
  // The lease first: from then on nobody sends to a replica that does not read any more.
  const close = async () => {
    await leases.release();
    calls.close();
    await bus.close();
    client.disconnect();
  };
  return { neighbours: neighboursOver(calls, leases, logger), close };
}

export default fp(
  async (app) => {
    const { redis } = app.config;
    const met = redis && (await meet(app, redis));
    app.decorate('neighbours', met?.neighbours);
    if (met) app.addHook('onClose', met.close);
  },
  { name: 'cluster', dependencies: ['context'] },
);
