// Probes: whether the process lives, and whether it takes work. Knows no session.
import { Type } from '@sinclair/typebox';
import type { FastifyInstance } from 'fastify';
import type { Routes } from './schemas.js';

const Health = Type.Object({ status: Type.String(), reason: Type.Optional(Type.String()) });

/** In a few words, why no work is taken now. */
function trouble(app: FastifyInstance): string | undefined {
  if (app.lifecycle.state !== 'ready') return app.lifecycle.state;
  return app.sessionLog.trouble() ?? app.sessions.trouble();
}

export const healthRoutes: Routes = async (app) => {
  const probe = { config: { unlimited: true }, logLevel: 'warn' } as const;
  app.get('/healthz', { ...probe, schema: { response: { 200: Health }, summary: 'Whether the process lives' } }, async () => ({
    status: 'ok',
  }));
  app.get(
    '/readyz',
    { ...probe, schema: { response: { 200: Health, 503: Health }, summary: 'Whether it takes work' } },
    async (_request, reply) => {
      const reason = trouble(app);
      return reason === undefined ? { status: 'ready' } : reply.code(503).send({ status: 'not ready', reason });
    },
  );
};
