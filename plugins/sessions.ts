// Puts the sessions on the log, the screens and the terminals of this machine. Knows no route.
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { AuditLine } from '../src/audit/audit.js';
import type { KeptSession } from '../src/session/record.js';
import type { Sessions } from '../src/session/registry.js';
import { createSessions, type Ended } from '../src/session/sessions.js';
import { spawnTerminal } from '../src/terminal/pty.js';
import { createScreenHost } from '../src/terminal/screen-host.js';
import { within } from '../src/tracing/tracing.js';

declare module 'fastify' {
  interface FastifyInstance {
    readonly sessions: Sessions;
  }
}

async function open(app: FastifyInstance): Promise<{ sessions: Sessions; close(): Promise<void> }> {
  const { replica, limits } = app.config;
  const { metrics, log } = app;
  /** Whose session it is: who began it, of what. */
  const partiesOf = (session_id: string | undefined) => {
    const session = app.sessions.owned().find(({ id }) => id === session_id);
    return { session_id, instance_id: session?.instanceId, principal: session?.describe().created_by };
  };
  const screens = createScreenHost({
    meter: metrics,
    onDeath: ({ screen, isLost, trouble, ...death }) => {
      const after = isLost ? '; this session has no screen any more' : '';
      log.warn({ ...partiesOf(screen), ...death, trouble: trouble || undefined }, `a worker of the screens was replaced${after}`);
    },
  });
  metrics.read('screen_backlog_bytes', () => screens.backlog?.() ?? 0);
  metrics.read('sessions_without_screen', () => screens.lost?.() ?? 0);
  const sessions = await createSessions({
    log: app.sessionLog,
    screens,
    // A terminal outlives the request that began it: what it prints belongs to no span.
    spawn: (...args) => within(undefined, () => spawnTerminal(...args)),
    replicaId: replica.id,
    maxSessions: limits.sessions,
    logger: app.log,
    ...(app.tracing && { tracing: app.tracing }),
    meter: metrics,
    agents: app.agents,
    sender: app.notifier,
    ...(app.neighbours && { neighbours: app.neighbours }),
    ...(app.quota && { quota: app.quota }),
    onClosed: (ended) => app.audit.record(closing(ended)),
    ...(app.config.archive && { onRemoved: (kept: KeptSession) => app.audit.record(removal(kept)) }),
    onRedactionFailed: ({ instanceId, id }) =>
      app.audit.record({ event: 'redaction_failed', outcome: 'failed', principal: null, instance_id: instanceId, session_id: id }),
  });
  return { sessions, close: () => sessions.close().finally(() => screens.close()) };
}

function closing({ session_id, instance_id, reason, exit_code }: Ended): AuditLine {
  return {
    event: 'session_close',
    outcome: 'done',
    principal: null,
    instance_id,
    session_id,
    detail: `${reason}, exit code ${exit_code ?? 'unknown'}`,
  };
}

function removal({ session_id, instance_id }: KeptSession): AuditLine {
  const detail = 'its retention is over: nothing of it is kept any more, in the archive either';
  return { event: 'dropped', outcome: 'done', principal: null, instance_id, session_id, detail };
}

export default fp<{ sessions?: Sessions | undefined }>(
  async (app, { sessions }) => {
    const opened = sessions ? { sessions, close: () => sessions.close() } : await open(app);
    app.decorate('sessions', opened.sessions);
    app.addHook('onClose', () => opened.close());
  },
  { name: 'sessions', dependencies: ['log', 'audit', 'cluster', 'push'] },
);
