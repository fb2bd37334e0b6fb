// Which A2A extensions a request names in its headers. Knows none of them.
import type { FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { parseExtensions } from '../src/protocol/negotiate.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The URIs of `A2A-Extensions` and `X-A2A-Extensions`, each once. */
    readonly extensions: readonly string[];
  }
}

function namedBy({ headers }: FastifyRequest): readonly string[] {
  return parseExtensions([headers['a2a-extensions'] ?? [], headers['x-a2a-extensions'] ?? []].flat());
}

export default fp(
  async (app) => {
    app.decorateRequest('extensions', {
      getter() {
        return namedBy(this);
      },
    });
  },
  { name: 'extension-negotiation' },
);
