// Sends updates of tasks to the receivers that were asked for, wherever they may be reached. Knows no route and no task.
import fp from 'fastify-plugin';
import { AddressGuard } from '../src/a2a/push/address-guard.js';
import { Notifier } from '../src/a2a/push/notifier.js';

/** The longest that what is on its way is waited for when the gateway ends, in milliseconds; never longer than DRAIN_SECONDS. */
const DRAIN_MS = 5000;

declare module 'fastify' {
  interface FastifyInstance {
    readonly notifier: Notifier;
  }
}

export default fp(
  async (app) => {
    const { push, replica } = app.config;
    const guard = new AddressGuard(push.allowedHosts);
    const notifier = new Notifier({ guard, logger: app.log, patienceMs: Math.min(DRAIN_MS, replica.drainSeconds * 1000) });
    app.decorate('notifier', notifier);
    app.addHook('onClose', () => notifier.close());
  },
  { name: 'push', dependencies: ['context'] },
);
