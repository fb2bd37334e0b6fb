// How the gateway logs: JSON lines in which no token, cookie or secret can stand. Knows no event.
import type { FastifyRequest } from 'fastify';
import type { LoggerOptions } from 'pino';
import type { Config } from '../config.js';
import { currentSpan } from '../tracing/tracing.js';

/** Whatever is logged, a field of these names is not shown. */
const hidden = ['authorization', 'cookie', 'set-cookie', 'sec-websocket-protocol', 'token', 'secret', 'secrets'];

/** The address without its query, in which a careless client may have put a token. */
function tellRequest(request: Partial<FastifyRequest>) {
  return { method: request.method, path: request.url?.split('?', 1)[0], address: request.ip };
}

/** What is told in the course of traced work tells of which. */
function ofTrace() {
  const span = currentSpan();
  return span ? { trace_id: span.traceId } : {};
}

export function loggerOptions({ logLevel, replica }: Pick<Config, 'logLevel' | 'replica'>): LoggerOptions & { level: string } {
  const paths = hidden.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`, `*.*.*["${name}"]`]);
  return {
    level: logLevel,
    base: { replica_id: replica.id },
    mixin: ofTrace,
    redact: { paths, censor: '[hidden]' },
    serializers: { req: tellRequest as (value: unknown) => unknown },
  };
}
