// The numbers of this replica for Prometheus: the process's own, sessions, connections. Knows no route but /metrics.
import fp from 'fastify-plugin';
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';

export default fp(
  async (app) => {
    const register = new Registry();
    collectDefaultMetrics({ register });
    new Gauge({
      name: 'pty_gateway_sessions',
      help: 'Sessions whose terminals run here.',
      registers: [register],
      collect() {
        this.set(app.sessions.owned().length);
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
    new Gauge({
      name: 'pty_gateway_damaged_sessions',
      help: 'Kept sessions that were found unreadable, whole or in part; the log says which.',
      registers: [register],
      collect() {
        this.set(app.sessionLog.damaged().length);
      },
    });
    new Counter({
      name: 'pty_gateway_push_notifications_total',
      help: 'Push notifications: delivered, failed (given up), dropped (too many, or wanted no more), left (for whoever goes on).',
      labelNames: ['outcome'],
      registers: [register],
      collect() {
        this.reset();
        for (const [outcome, count] of Object.entries(app.notifier.counts)) this.inc({ outcome }, count);
      },
    });
    app.get('/metrics', { config: { unlimited: true }, schema: { hide: true } }, async (_request, reply) =>
      reply.type(register.contentType).send(await register.metrics()),
    );
  },
  { name: 'metrics', dependencies: ['sessions', 'push'] },
);
