// The numbers of this replica for Prometheus: the process's own, sessions, connections. Knows no route but /metrics.
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

async function runningSessions(app: FastifyInstance): Promise<number> {
  const lists = await Promise.all(app.agents.list().map(({ id }) => app.sessions.list(id)));
  return lists.flat().filter((session) => session.describe().state === 'running').length;
}

export default fp(
  async (app) => {
    const register = new Registry();
    collectDefaultMetrics({ register });
    new Gauge({
      name: 'pty_gateway_sessions',
      help: 'Running sessions.',
      registers: [register],
      async collect() {
        this.set(await runningSessions(app));
      },
    });
    new Gauge({
      name: 'pty_gateway_connections',
      help: 'Open pty-ws connections.',
      registers: [register],
      collect() {
        this.set(app.connections.count);
      },
    });
    app.get('/metrics', { config: { unlimited: true }, schema: { hide: true } }, async (_request, reply) =>
      reply.type(register.contentType).send(await register.metrics()),
    );
  },
  { name: 'metrics', dependencies: ['sessions'] },
);
