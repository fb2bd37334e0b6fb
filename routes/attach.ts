// Where clients attach (pty-ws §2): who is refused, in which order, and then one Connection. Knows no frame and no verb.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { authorize, checkOrigin, principalOf } from '../plugins/auth.js';
import { endSpan, traceOf } from '../plugins/telemetry.js';
import { isUpgrade } from '../plugins/websocket.js';
import { VisibleSessions } from '../src/access/visible-sessions.js';
import { Connection, type Upgraded } from '../src/attach/connection.js';
import type { Legacy } from '../src/attach/dialect.js';
import { Fault } from '../src/errors.js';
import { BINARY_SUBPROTOCOL, JSON_SUBPROTOCOL, type Subprotocol } from '../src/protocol/names.js';
import { chooseSubprotocol } from '../src/protocol/negotiate.js';
import type { Session } from '../src/session/session.js';
import { type Routes, SessionParams } from './schemas.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** What `admit` found: the session to attach to, and how to speak. */
    admitted: Pick<Upgraded, 'session' | 'subprotocol' | 'legacy' | 'replayFrom'> | null;
  }
}

/** After how many seconds one who has too many connections may ask again. */
const SEAT_RETRY_SECONDS = 5;

const observes = authorize('pty:observe');

/** The order of refusal: subprotocol 400, token 401, scope, ACL and origin 403, too many connections 429, unknown 404. Each leaves its line in the audit. */
async function admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  try {
    const replayFrom = legacyReplayFrom(request);
    const subprotocol = subprotocolOf(request, replayFrom !== undefined);
    await observes(request, reply);
    await checkOrigin(request, reply);
    takeSeat(request, reply);
    request.admitted = { subprotocol, session: await sessionOf(request), legacy: legacyOf(request, replayFrom), replayFrom };
  } catch (error) {
    request.record('attach', 'denied', { detail: error instanceof Fault ? error.message : 'internal' });
    throw error;
  }
}

/** Until its socket is closed, whatever becomes of it. */
function takeSeat(request: FastifyRequest, reply: FastifyReply): void {
  const { server, raw, ip } = request;
  if (!isUpgrade(raw)) return;
  try {
    raw.socket.once('close', server.seats.take(principalOf(request).name, ip));
  } catch (error) {
    reply.header('retry-after', SEAT_RETRY_SECONDS);
    throw error;
  }
}

/** The cursor that legacy clients give in the URL; INVALID_REQUEST unless it is an integer in 0…2^53−1. */
function legacyReplayFrom({ server, query }: FastifyRequest): number | undefined {
  const { replay_from: given } = query as { replay_from?: string | string[] };
  if (!server.config.legacyClients || given === undefined) return undefined;
  const place = typeof given === 'string' && /^\d{1,16}$/.test(given) ? Number(given) : Number.NaN;
  if (Number.isSafeInteger(place)) return place;
  throw new Fault('INVALID_REQUEST', `replay_from: expected one integer from 0 to ${Number.MAX_SAFE_INTEGER}`);
}

function legacyOf({ server }: FastifyRequest, replayFrom: number | undefined): Legacy {
  if (!server.config.legacyClients) return 'no';
  return replayFrom === undefined ? 'maybe' : 'yes';
}

/** Some legacy clients offer nothing; they speak JSON. */
function subprotocolOf({ headers }: FastifyRequest, isLegacy: boolean): Subprotocol {
  const header = headers['sec-websocket-protocol'];
  const chosen = chooseSubprotocol(header) ?? (isLegacy && header === undefined ? JSON_SUBPROTOCOL : undefined);
  if (chosen) return chosen;
  throw new Fault('INVALID_REQUEST', `Sec-WebSocket-Protocol: offer ${JSON_SUBPROTOCOL} or ${BINARY_SUBPROTOCOL}`);
}

async function sessionOf(request: FastifyRequest): Promise<Session> {
  const { server, params } = request;
  const { inst, id } = params as { inst: string; id: string };
  if (server.lifecycle.state === 'draining') throw new Fault('INTERNAL', 'the gateway is shutting down', { status: 503 });
  const { session } = await new VisibleSessions(server.sessions, principalOf(request)).find(inst, id);
  if (!session) throw new Fault('TASK_NOT_FOUND', 'there is no such session');
  return session;
}

function connect(app: FastifyInstance, request: FastifyRequest, ws: WebSocket): void {
  const { admitted } = request;
  if (!admitted) throw new Error('an upgrade passed without being admitted');
  const { audit, connections, attachments, validity, log, metrics, tracing, seldom } = app;
  new Connection(
    { ...attachments, audit, connections, validity, logger: log, meter: metrics, tracing, seldom },
    {
      ...admitted,
      ws,
      socket: request.raw.socket,
      principal: principalOf(request),
      address: request.ip,
      trace: traceOf(request),
      extensions: request.extensions,
    },
  );
  endSpan(request, { statusCode: 101 });
}

export const attachRoutes: Routes = async (app) => {
  app.decorateRequest('admitted', null);
  app.route({
    method: 'GET',
    url: '/agents/:inst/sessions/:id/attach',
    schema: { params: SessionParams, hide: true },
    config: { audit: 'attach' },
    onRequest: admit,
    handler: async () => {
      throw new Fault('INVALID_REQUEST', 'this address is for WebSockets: ask for an upgrade', { status: 426 });
    },
    wsHandler: (ws, request) => connect(app, request as FastifyRequest, ws),
  });
};
