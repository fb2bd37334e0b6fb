// How often one principal may ask one instance: requests, and upgrades apart. Knows no route but by its config.
import rateLimit from '@fastify/rate-limit';
import type { FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { Fault } from '../src/errors.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** A probe or a scrape: outside the limits. */
    unlimited?: boolean;
  }
}

const WINDOW_MS = 60_000;
/** Principals, times instances, that are counted at a time; beyond that those seen longest ago are forgotten. */
const MAX_COUNTED = 20_000;

/** A principal and an instance; who has no valid token is known by address. */
function keyOf(request: FastifyRequest): string {
  const { inst } = (request.params ?? {}) as { inst?: string };
  const who = request.principal ? `principal ${request.principal.name}` : `address ${request.ip}`;
  return `${isUpgrade(request) ? 'attach' : 'http'} ${who} ${inst ?? ''}`;
}

function isUpgrade({ headers }: FastifyRequest): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

export default fp(
  async (app) => {
    const { requestsPerMinute, attachesPerMinute } = app.config.limits;
    await app.register(rateLimit, {
      global: false,
      cache: MAX_COUNTED,
      timeWindow: WINDOW_MS,
      max: (request) => (isUpgrade(request) ? attachesPerMinute : requestsPerMinute),
      keyGenerator: keyOf,
      allowList: (request) => request.routeOptions.config?.unlimited === true,
      errorResponseBuilder: (_request, { ttl }) => new Fault('RATE_LIMITED', `too many requests; try again in ${Math.ceil(ttl / 1000)} s`),
    });
    app.addHook('onRequest', app.rateLimit());
  },
  { name: 'rate-limit', dependencies: ['auth'] },
);
