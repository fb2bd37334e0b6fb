// What a client has already (RFC 9110 §13.1.2). Knows no resource.
import type { FastifyRequest } from 'fastify';

/** Whether If-None-Match names this tag, which is told as `"…"`; weak ones match, too. */
export function hasTag(request: FastifyRequest, tag: string): boolean {
  const known = (request.headers['if-none-match'] ?? '').split(',').map((item) => item.trim());
  return known.some((item) => item === '*' || item.replace(/^W\//, '') === tag);
}
