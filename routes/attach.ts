// Where clients attach (pty-ws §2): who is refused, in which order, and then one Connection. Knows no frame and no verb.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { authorize, checkOrigin, principalOf } from '../plugins/auth.js';
import { Connection } from '../src/attach/connection.js';
import { Fault } from '../src/errors.js';
import { isId } from '../src/protocol/ids.js';
import { BINARY_SUBPROTOCOL, JSON_SUBPROTOCOL, type Subprotocol } from '../src/protocol/names.js';
import { chooseSubprotocol } from '../src/protocol/negotiate.js';
import type { Session } from '../src/session/session.js';
import { type Routes, SessionParams } from './schemas.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** What `admit` found: the session to attach to, and how to speak. */
    admitted: { readonly session: Session; readonly subprotocol: Subprotocol } | null;
  }
}

const observes = authorize('pty:observe');

/** The order of refusal: subprotocol 400, token 401, scope, ACL and origin 403, unknown 404. Each leaves its line in the audit. */
async function admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  try {
    const subprotocol = subprotocolOf(request);
    await observes(request, reply);
    await checkOrigin(request, reply);
    request.admitted = { subprotocol, session: await sessionOf(request) };
  } catch (error) {
    request.record('attach', 'denied', { detail: error instanceof Fault ? error.message : 'internal' });
    throw error;
  }
}

function subprotocolOf({ headers }: FastifyRequest): Subprotocol {
  const chosen = chooseSubprotocol(headers['sec-websocket-protocol']);
  if (chosen) return chosen;
  throw new Fault('INVALID_REQUEST', `Sec-WebSocket-Protocol: offer ${JSON_SUBPROTOCOL} or ${BINARY_SUBPROTOCOL}`);
}

async function sessionOf({ server, params }: FastifyRequest): Promise<Session> {
  const { inst, id } = params as { inst: string; id: string };
  if (server.lifecycle.state === 'draining') throw new Fault('INTERNAL', 'the gateway is shutting down', { status: 503 });
  const session = isId(id) ? await server.sessions.find(inst, id) : undefined;
  if (!session) throw new Fault('TASK_NOT_FOUND', 'there is no such session');
  return session;
}

function connect(app: FastifyInstance, request: FastifyRequest, ws: WebSocket): void {
  const { admitted } = request;
  if (!admitted) throw new Error('an upgrade passed without being admitted');
  const { audit, connections, attachments, validity, log } = app;
  new Connection(
    { ...attachments, audit, connections, validity, logger: log },
    { ...admitted, ws, socket: request.raw.socket, principal: principalOf(request), address: request.ip, extensions: request.extensions },
  );
}

export const attachRoutes: Routes = async (app) => {
  app.decorateRequest('admitted', null);
  app.route({
    method: 'GET',
    url: '/agents/:inst/sessions/:id/attach',
    schema: { params: SessionParams, hide: true },
    onRequest: admit,
    handler: async () => {
      throw new Fault('INVALID_REQUEST', 'this address is for WebSockets: ask for an upgrade', { status: 426 });
    },
    wsHandler: (ws, request) => connect(app, request as FastifyRequest, ws),
  });
};
