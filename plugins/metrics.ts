// What this replica is doing now, for Prometheus, beside what its parts count. Knows no route but /metrics.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import type { Farewell } from '../src/attach/connections.js';
import { version } from '../src/version.js';

/** How often it is looked whether the log is slow, in milliseconds, and what slow is, in seconds: as the alert PtyGatewayLogSlow has it. */
const LOOK_MS = 10_000;
const SLOW_SECONDS = 0.25;

/** Says so in the log of the process: who reads that alone is to see it, too, and whether this process was held up itself. */
function watchLog(app: FastifyInstance): void {
  const delay = monitorEventLoopDelay();
  delay.enable();
  const look = setInterval(() => {
    const seconds = app.metrics.takeGreatest('log_append_seconds');
    const fields = { seconds, event_loop_lag_seconds: delay.max / 1e9 };
    if (seconds > SLOW_SECONDS) app.log.warn(fields, 'the log is slow: this is how long an append took');
    delay.reset();
  }, LOOK_MS).unref();
  app.addHook('onClose', async () => {
    clearInterval(look);
    delay.disable();
  });
}

/** Whether work is taken, and by whom it is kept from being taken. */
function readState({ metrics, config, lifecycle, reloads, sessionLog, sessions, neighbours }: FastifyInstance): void {
  const isReady = () => lifecycle.state === 'ready' && sessionLog.trouble() === undefined && sessions.trouble() === undefined;
  metrics.read('info', () => [[{ version: version(), log: config.redis ? 'redis' : 'embedded' }, 1]]);
  metrics.read('sealing_key', () => config.encryptionKeys.map(({ kid }, i) => [{ key: kid }, Number(i === 0)]));
  metrics.read('clock_seconds', () => Date.now() / 1000);
  metrics.read('setting_refused', () => reloads.standing().map(([variable, isRefused]) => [{ variable }, Number(isRefused)]));
  metrics.read('ready', () => Number(isReady()));
  metrics.read('log_available', () => Number(sessionLog.trouble() === undefined));
  metrics.read('lease_held', () => Number(neighbours?.trouble() === undefined));
  metrics.read('replicas', () => (neighbours?.others().length ?? 0) + 1);
}

function readSessions({ metrics, config, agents, sessions, sessionLog }: FastifyInstance): void {
  metrics.read('sessions', () => sessions.owned().length);
  metrics.read('agent_sessions', () => {
    const ids = sessions.owned().map(({ instanceId }) => instanceId);
    return agents.list().map(({ id }) => [{ agent: id }, ids.filter((one) => one === id).length]);
  });
  metrics.read('session_limit', () => config.limits.sessions);
  metrics.read('damaged_sessions', () => sessionLog.damaged().length);
}

function readConnections({ metrics, connections }: FastifyInstance): void {
  const withRole = (role: string) => connections.open().filter((one) => one.role === role).length;
  const sum = (of: (one: Farewell) => number) => connections.open().reduce((all, one) => all + of(one), 0);
  metrics.read('connections', () => connections.count);
  metrics.read('attachments', () => ['controller', 'observer'].map((role) => [{ role }, withRole(role)]));
  metrics.read('fan_out_lag_frames', () => connections.open().reduce((most, { lag }) => Math.max(most, lag), 0));
  metrics.read('socket_buffer_bytes', () => sum(({ waitingBytes }) => waitingBytes));
  metrics.read('received_frames_total', () => connections.traffic.receivedFrames);
  metrics.read('received_bytes_total', () => connections.traffic.receivedBytes);
  metrics.read('sent_frames_total', () => connections.traffic.sentFrames);
  metrics.read('sent_bytes_total', () => connections.traffic.sentBytes);
}

export default fp(
  async (app) => {
    const { metrics, notifier } = app;
    readState(app);
    readSessions(app);
    readConnections(app);
    watchLog(app);
    metrics.read('push_notifications_total', () => Object.entries(notifier.counts).map(([outcome, count]) => [{ outcome }, count]));
    app.get('/metrics', { config: { unlimited: true }, schema: { hide: true } }, async (_request, reply) =>
      reply.type(metrics.contentType).send(await metrics.text()),
    );
  },
  { name: 'metrics', dependencies: ['context', 'sessions', 'websocket', 'push'] },
);
