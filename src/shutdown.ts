// Ends the gateway in order (contract, SIGTERM), and at once when told twice. Knows no configuration but how long to drain.
import { setTimeout as pause } from 'node:timers/promises';
import closeWithGrace, { type Options } from 'close-with-grace';
import type { FastifyInstance } from 'fastify';

/** Milliseconds for clients to answer the goodbye, and for requests to be done, before they are cut off. */
const GOODBYE_MS = 3000;
/** Milliseconds for clients that were sent away to come back to their sessions through another replica. */
const REJOIN_MS = 3000;
/** Milliseconds between two looks for members that are left. */
const LOOK_MS = 250;

/**
 * Not ready, no new session, goodbye to all clients; then, once no client is left anywhere or DRAIN_SECONDS have passed, the end of the owned
 * terminals (`instance_terminated`), of the server, and of the log. Resolves when all is closed.
 */
export async function shutDown(app: FastifyInstance): Promise<void> {
  const drainMs = app.config.replica.drainSeconds * 1000;
  app.lifecycle.state = 'draining';
  app.lifecycle.endsAt = Date.now() + GOODBYE_MS + drainMs;
  app.sessions.stopTaking();
  app.endEventStreams();
  await app.connections.goodbyeAll('server_shutdown', GOODBYE_MS);
  await app.sessions.handOver();
  const deadline = Date.now() + drainMs;
  app.lifecycle.endsAt = deadline;
  const rejoined = Math.min(deadline, Date.now() + ((app.neighbours?.others().length ?? 0) > 0 ? REJOIN_MS : 0));
  const isNeeded = () => hasMembers(app) || (app.sessions.owned().length > 0 && Date.now() < rejoined);
  while (Date.now() < deadline && isNeeded()) await pause(LOOK_MS);
  // A request that is still being answered may hold up the server no longer than that.
  setTimeout(() => app.server.closeAllConnections(), GOODBYE_MS).unref();
  await app.close();
}

/** Whether anyone is attached to a terminal that runs here, wherever they are connected. */
function hasMembers(app: FastifyInstance): boolean {
  return app.sessions
    .owned()
    .map((session) => session.describe())
    .some(({ controllers, observers }) => controllers.length + observers.length > 0);
}

/** What has a meaning of its own here (the agents file is read again), or is no wish to end. */
const notEndings: NonNullable<Options['skip']> = ['SIGHUP', 'SIGUSR2', 'beforeExit'];

/**
 * Another process took REPLICA_ID while this one was silent (stopped, or cut off) for longer than its lease, and runs what ran here. This one
 * would never be ready again: it says so, sends its clients to the others, and ends with exit 1, so that its supervisor starts it anew.
 */
export function endWhenUsurped(app: FastifyInstance): void {
  app.neighbours?.onUsurped(() => {
    if (app.lifecycle.state === 'draining') return;
    app.lifecycle.state = 'draining';
    app.log.fatal(`another process has REPLICA_ID ${app.config.replica.id}, which this one lost while it was silent; this one ends`);
    // As long as programs that do not heed a hangup may live.
    void Promise.all([app.connections.goodbyeAll('server_shutdown', GOODBYE_MS), pause(GOODBYE_MS)]).finally(() => process.exit(1));
  });
}

/** Ends the process in order on SIGTERM or SIGINT (exit 0), at once on a second one, and on a failure that nobody caught (exit 1). Returns the way to end it without a signal. */
export function endOnSignals(app: FastifyInstance): () => void {
  const { close } = closeWithGrace({ delay: false, logger: false, skip: notEndings }, async ({ signal, err }) => {
    if (err) {
      app.log.fatal({ err }, 'the gateway ends because of a failure that nobody caught');
      process.exit(1);
    }
    app.log.info({ ...(signal && { signal }), sessions: app.sessions.owned().length }, 'shutting down');
    await shutDown(app);
    app.log.info('the gateway has ended');
  });
  return close;
}
