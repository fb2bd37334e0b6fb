// Spans of requests, on their way to a collector where one is named, and the trace that a request belongs to. Knows no route but by its pattern.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { readTraceparent } from '../src/tracing/traceparent.js';
import { type Span, type Tracing, within } from '../src/tracing/tracing.js';
import { version } from '../src/version.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** Undefined: nothing is traced. */
    readonly tracing: Tracing | undefined;
  }
  interface FastifyRequest {
    span?: Span | undefined;
  }
}

/** The `traceparent` that what a request asks for continues: that of its span, or the client's where nothing is traced. */
export function traceOf({ span, headers }: FastifyRequest): string | undefined {
  return span?.traceparent ?? (readTraceparent(headers.traceparent) && String(headers.traceparent));
}

export function traceIdOf(request: FastifyRequest): string | undefined {
  return readTraceparent(traceOf(request))?.traceId;
}

/** Ends the span of a request: when it is answered, or has become a connection. */
export function endSpan({ span, principal, params }: FastifyRequest, { statusCode }: Pick<FastifyReply, 'statusCode'>): void {
  const { inst, id } = (params ?? {}) as { inst?: string; id?: string };
  span?.set({
    'http.response.status_code': statusCode,
    'enduser.id': principal?.name,
    'pty.instance_id': inst,
    'pty.session_id': id,
  });
  if (statusCode >= 500) span?.fail(new Error(`answered with ${statusCode}`));
  span?.end();
}

/** Not of probes and scrapes. */
function beginSpan(tracing: Tracing, { method, url, ip, headers, routeOptions }: FastifyRequest): Span | undefined {
  if (routeOptions.config?.unlimited) return undefined;
  const attributes = {
    'http.request.method': method,
    'url.path': url.split('?', 1)[0] ?? '',
    'client.address': ip,
    ...(routeOptions.url !== undefined && { 'http.route': routeOptions.url }),
  };
  const parent = Array.isArray(headers.traceparent) ? undefined : headers.traceparent;
  return tracing.begin(`${method} ${routeOptions.url ?? ''}`.trim(), { parent, kind: 'server', attributes });
}

function traceRequests(app: FastifyInstance, tracing: Tracing): void {
  app.addHook('onRequest', (request, _reply, done) => {
    request.span = beginSpan(tracing, request);
    within(request.span, done);
  });
  // A body arrives by itself; behind it the request goes on.
  app.addHook('preValidation', (request, _reply, done) => within(request.span, done));
  app.addHook('onResponse', async (request, reply) => endSpan(request, reply));
}

export default fp(
  async (app) => {
    const { traces, replica } = app.config;
    const open = traces ? (await import('../src/tracing/open-telemetry.js')).openTracing : undefined;
    const tracing = open?.({ replicaId: replica.id, version: version(), logger: app.log });
    app.decorate('tracing', tracing);
    if (!tracing) return;
    traceRequests(app, tracing);
    // Registered before all that is traced, so closed after it.
    app.addHook('onClose', () => tracing.close());
  },
  { name: 'telemetry', dependencies: ['context'] },
);
