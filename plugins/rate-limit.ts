// How often one principal may ask one instance, and one address without a valid token: requests, and upgrades apart; counted by all replicas together. Knows no route but by its config.
import rateLimit, { type RateLimitPluginOptions } from '@fastify/rate-limit';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { addressKey } from '../src/access/address-key.js';
import { Fault } from '../src/errors.js';
import { connect } from '../src/redis/connect.js';
import { tellDenied } from './auth.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A probe or a scrape: outside the limits. */
    unlimited?: boolean;
  }
}

const WINDOW_MS = 60_000;
/** Principals, times instances, that one replica alone counts at a time; beyond that those seen longest ago are forgotten. */
const MAX_COUNTED = 20_000;
/** After how long without an answer the connection to Redis is given up, in milliseconds. */
const COUNT_MS = 1000;

/** A principal and an instance, all that do not exist being one; who has no valid token is known by address alone, whatever is asked for. */
function keyOf(request: FastifyRequest): string {
  const kind = isUpgrade(request) ? 'attach' : 'http';
  if (!request.principal) return `${kind} address ${addressKey(request.ip)}`;
  const { inst = '' } = (request.params ?? {}) as { inst?: string };
  return `${kind} principal ${request.principal.name} ${request.server.agents.get(inst) ? inst : ''}`;
}

function isUpgrade({ headers }: FastifyRequest): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** Where is counted: with Redis in one place for all. While it does not answer nothing is counted, and nobody is refused. */
function counter(app: FastifyInstance): RateLimitPluginOptions {
  const { redis } = app.config;
  if (!redis) return { cache: MAX_COUNTED };
  const client = connect(redis, { socketTimeout: COUNT_MS });
  app.addHook('onClose', async () => client.disconnect());
  return { redis: client, nameSpace: `${redis.prefix}:limits:`, skipOnError: true };
}

export default fp(
  async (app) => {
    const { requestsPerMinute, attachesPerMinute } = app.config.limits;
    await app.register(rateLimit, {
      ...counter(app),
      global: false,
      timeWindow: WINDOW_MS,
      max: (request) => (isUpgrade(request) ? attachesPerMinute : requestsPerMinute),
      keyGenerator: keyOf,
      allowList: (request) => request.routeOptions.config?.unlimited === true,
      onExceeded: (request) =>
        tellDenied(request, request.routeOptions.config.audit, `too many ${isUpgrade(request) ? 'upgrades' : 'requests'}`),
      errorResponseBuilder: (_request, { ttl }) => new Fault('RATE_LIMITED', `too many requests; try again in ${Math.ceil(ttl / 1000)} s`),
    });
    app.addHook('onRequest', app.rateLimit());
  },
  { name: 'rate-limit', dependencies: ['auth', 'audit'] },
);
