// The gateway as a list: its plugins and routes, in the order in which requests meet them. Knows no signal and no environment.
import Fastify, { type FastifyBaseLogger, type FastifyInstance } from 'fastify';
import a2a from '../plugins/a2a.js';
import auditPlugin from '../plugins/audit.js';
import auth from '../plugins/auth.js';
import cards from '../plugins/cards.js';
import cluster from '../plugins/cluster.js';
import context from '../plugins/context.js';
import errors, { refuseConnection, sendError } from '../plugins/errors.js';
import eventStreams from '../plugins/event-streams.js';
import extensionNegotiation from '../plugins/extension-negotiation.js';
import forgedCertificates from '../plugins/forged-certificates.js';
import inTurn from '../plugins/in-turn.js';
import logPlugin from '../plugins/log.js';
import metrics from '../plugins/metrics.js';
import openapi from '../plugins/openapi.js';
import pictures from '../plugins/pictures.js';
import push from '../plugins/push.js';
import rateLimit from '../plugins/rate-limit.js';
import replicas from '../plugins/replicas.js';
import security from '../plugins/security.js';
import sessionsPlugin from '../plugins/sessions.js';
import shares from '../plugins/shares.js';
import telemetry from '../plugins/telemetry.js';
import web from '../plugins/web.js';
import websocket from '../plugins/websocket.js';
import { a2aHttpRoutes } from '../routes/a2a-http.js';
import { a2aJsonRpcRoutes } from '../routes/a2a-jsonrpc.js';
import { adminRoutes } from '../routes/admin.js';
import { agentRoutes } from '../routes/agents.js';
import { attachRoutes } from '../routes/attach.js';
import { healthRoutes } from '../routes/health.js';
import { sessionRoutes } from '../routes/sessions.js';
import { shareRoutes } from '../routes/shares.js';
import { withFixture } from './a2a/fixture/host.js';
import { readTls } from './access/tls.js';
import type { Agents } from './agents/agents.js';
import { openAgentsFile } from './agents/agents-file.js';
import type { Audit } from './audit/audit.js';
import type { Config } from './config.js';
import type { Log } from './log/log.js';
import { loggerOptions } from './logging/logger.js';
import { RequestLog } from './logging/request-log.js';
import { newId } from './protocol/ids.js';
import type { Sessions } from './session/registry.js';

/** Largest HTTP body, in bytes. */
const BODY_LIMIT_BYTES = 1_048_576;
/** Longest part of a path that a route takes as a parameter, in characters. */
const MAX_PARAM_CHARS = 128;
/** Milliseconds for the head of a request, for all of it, and between two on one connection. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/** Milliseconds between two looks for requests that are too slow. */
const SLOW_LOOK_MS = 5000;
/** Milliseconds for the handshake of TLS. */
const HANDSHAKE_TIMEOUT_MS = 10_000;

/** What tests put in the place of the real thing. */
export interface Parts {
  readonly agents?: Agents;
  readonly audit?: Audit;
  readonly log?: Log;
  readonly sessions?: Sessions;
  readonly logger?: FastifyBaseLogger;
}

/** An app that has not begun to listen; ready means that log, sessions and audit are open. Throws ConfigError, AgentsFileError, AuditFileError or LogError. */
export async function buildApp(config: Config, parts: Parts = {}): Promise<FastifyInstance> {
  const app = fastify(config, parts);
  await app.register(inTurn);
  app.addHook('onRequest', async (request, reply) => void reply.header('x-request-id', request.id));
  await app.register(errors);
  await app.register(context, { config, agents: agentsOf(config, parts) });
  await app.register(telemetry);
  await app.register(security);
  await app.register(auditPlugin, { audit: parts.audit });
  await app.register(auth);
  await app.register(shares);
  await app.register(rateLimit);
  await app.register(forgedCertificates);
  await app.register(openapi);
  await app.register(cards);
  await app.register(logPlugin, { log: parts.log });
  await app.register(cluster);
  await app.register(push);
  await app.register(sessionsPlugin, { sessions: parts.sessions });
  await app.register(pictures);
  await app.register(websocket);
  await app.register(extensionNegotiation);
  await app.register(eventStreams);
  await app.register(a2a);
  await app.register(metrics);
  await app.register(replicas);
  await app.register(healthRoutes);
  await app.register(adminRoutes);
  await app.register(agentRoutes);
  await app.register(sessionRoutes);
  await app.register(shareRoutes);
  await app.register(attachRoutes);
  await app.register(a2aHttpRoutes);
  await app.register(a2aJsonRpcRoutes);
  await app.register(web);
  await app.ready();
  return app;
}

/** Listens, and takes work from then on. */
export async function listen(app: FastifyInstance): Promise<void> {
  await app.listen({ host: app.config.listen.host, port: app.config.listen.port });
  app.lifecycle.state = 'ready';
}

function agentsOf(config: Config, parts: Parts): Agents {
  const agents = parts.agents ?? openAgentsFile(config.agentsFile);
  return config.a2aFixture ? withFixture(agents) : agents;
}

function fastify(config: Config, { logger }: Parts): FastifyInstance {
  const prefix = config.publicUrl?.prefix ?? '';
  return Fastify({
    ...(logger ? { loggerInstance: logger } : { logger: loggerOptions(config) }),
    logController: new RequestLog(),
    trustProxy: trustedHops(config.listen.trustProxy),
    genReqId: newId,
    requestIdHeader: false,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    ...serverOptions(config),
    routerOptions: { maxParamLength: MAX_PARAM_CHARS, caseSensitive: true },
    // A proxy may strip the prefix of PUBLIC_URL or leave it: both are the same address.
    rewriteUrl: ({ url = '/' }) => (prefix !== '' && url.startsWith(`${prefix}/`) ? url.slice(prefix.length) : url),
    frameworkErrors: sendError,
    clientErrorHandler: refuseConnection,
    return503OnClosing: false,
  });
}

/** Clients are asked for a certificate where there are authorities to judge it by; what comes with none, or a bad one, is for auth to refuse. */
function serverOptions({ tls }: Config) {
  const times = { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: SLOW_LOOK_MS };
  if (!tls) return { http: times };
  const asks = tls.clientCaFile !== undefined;
  return { https: { ...times, ...readTls(tls), requestCert: asks, rejectUnauthorized: false, handshakeTimeout: HANDSHAKE_TIMEOUT_MS } };
}

/** Fastify takes a plain number of hops for none at all, so it is given as what it means. */
function trustedHops(trust: boolean | number | string[]) {
  return typeof trust === 'number' ? (_address: string, hop: number) => hop < trust : trust;
}
