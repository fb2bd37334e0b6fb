// Sessions over HTTP (contract): made, listed, told, moved, ended. Knows addresses and schemas; what a session does is its own.
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { authorize, principalOf } from '../plugins/auth.js';
import { whileGood } from '../plugins/validity.js';
import { may } from '../src/access/principal.js';
import { VisibleSessions } from '../src/access/visible-sessions.js';
import { type Agent, SessionRequest } from '../src/agents/agents.js';
import { asFault, Fault, isDenial } from '../src/errors.js';
import { LogError } from '../src/log/log.js';
import { isId } from '../src/protocol/ids.js';
import { BINARY_SUBPROTOCOL, JSON_SUBPROTOCOL } from '../src/protocol/names.js';
import type { ListedSession } from '../src/session/listed-session.js';
import { describe, type KeptSession, keptSession } from '../src/session/record.js';
import { disclosure } from '../src/session/secrecy.js';
import type { Session } from '../src/session/session.js';
import type { Size } from '../src/terminal/terminal.js';
import { transcript } from '../src/transcript/transcript.js';
import * as schemas from './schemas.js';
import { screenOf, sendScreen } from './screen.js';

const security = [{ bearer: [] }];
const answers = (status: number, body: object) => ({
  security,
  response: { [status]: body, '4xx': schemas.ErrorBody, '5xx': schemas.ErrorBody },
});

function agentOf(app: FastifyInstance, instanceId: string): Agent {
  const agent = app.agents.get(instanceId);
  if (!agent) throw new Fault('TASK_NOT_FOUND', 'there is no such agent');
  return agent;
}

/** Those that the token of the request is good for. */
function seenBy(request: FastifyRequest): VisibleSessions {
  return new VisibleSessions(request.server.sessions, principalOf(request));
}

export async function sessionOf(request: FastifyRequest): Promise<Session> {
  const { inst, id } = request.params as { inst: string; id: string };
  agentOf(request.server, inst);
  const { session, isDenial } = await seenBy(request).find(inst, id);
  if (!session) throw new Fault('TASK_NOT_FOUND', 'there is no such session', { isDenial });
  return session;
}

/** The session as JSON (contract), with where to attach. */
function tell(app: FastifyInstance, session: Pick<Session, 'instanceId' | 'id' | 'describe'>) {
  const path = `/agents/${encodeURIComponent(session.instanceId)}/sessions/${session.id}/attach`;
  return { ...session.describe(), pty_ws_url: app.publicUrl().ws + path, pty_ws_subprotocols: [JSON_SUBPROTOCOL, BINARY_SUBPROTOCOL] };
}

/** A session of which no frame can be read is told from what was noted beside its frames. */
async function tellDamaged(app: FastifyInstance, { inst, id }: { inst: string; id: string }, error: unknown) {
  if (!(error instanceof LogError && error.failure === 'corrupt')) throw error;
  const kept = (await app.sessionLog.record(id)) as KeptSession | undefined;
  if (!kept) throw error;
  const nothing = { extent: () => ({ oldest: 1, current: 0 }) };
  return { ...tell(app, { instanceId: inst, id, describe: () => describe(kept, nothing) }), damage: asFault(error).message };
}

/** Of its terminal when it began. */
async function firstSize(app: FastifyInstance, session: Session): Promise<Size> {
  return keptSession(await app.sessionLog.record(session.id)) ?? session.describe();
}

/** The newest first; a page token is the id of the last session before the page, and ids are in the order of their age. */
function page(sessions: ListedSession[], { size, after }: { size: number; after: string | undefined }) {
  if (after !== undefined && !isId(after))
    throw new Fault('INVALID_REQUEST', 'query.page_token: expected the next_page_token of an earlier answer');
  const rest = sessions.filter(({ id }) => after === undefined || id < after).sort((a, b) => (a.id < b.id ? 1 : -1));
  const shown = rest.slice(0, size);
  return { shown, next: rest.length > size ? (shown.at(-1)?.id ?? null) : null };
}

function endedBy(request: FastifyRequest, session: Session): void {
  const principal = principalOf(request);
  if (may(principal, 'pty:admin') || session.describe().created_by === principal.name) return;
  throw new Fault('PERMISSION_DENIED', 'only who created a session may end it, or a token with pty:admin');
}

/** Which session it is, and what somebody has chosen to let others see of it. */
function begun(session: Session) {
  return { session_id: session.id, detail: disclosure(session.describe()) };
}

/** Records an act of this event once it is done, with `detail` or what that finds in its result; or why it failed. */
export async function audited<T>(
  request: FastifyRequest,
  event: 'admin' | 'session_close' | 'session_create' | 'screen_read' | 'transcript_read',
  detail: string | undefined | ((result: T) => { session_id?: string; detail: string | undefined }),
  act: () => Promise<T>,
) {
  try {
    const result = await act();
    const outcome = event === 'screen_read' || event === 'transcript_read' ? 'granted' : 'done';
    request.record(event, outcome, typeof detail === 'function' ? detail(result) : { detail });
    return result;
  } catch (error) {
    request.record(event, isDenial(error) ? 'denied' : 'failed', { detail: error instanceof Fault ? error.message : 'internal' });
    throw error;
  }
}

/** What this key has made, whichever replica it came to. */
async function madeOnce(app: FastifyInstance, request: FastifyRequest, key: string, make: () => Promise<Session>): Promise<Session> {
  const { inst } = request.params as { inst: string };
  const named = JSON.stringify(['session', principalOf(request).name, inst, key]);
  const id = await app.idempotency.once(named, request.body, async () => (await make()).id);
  const session = await app.sessions.find(inst, id);
  if (!session) throw new Fault('TASK_NOT_FOUND', 'the session that this Idempotency-Key made is not kept any more');
  return session;
}

export const sessionRoutes: schemas.Routes = async (app) => {
  const one = '/agents/:inst/sessions/:id';

  app.post(
    '/agents/:inst/sessions',
    {
      onRequest: authorize('pty:control', 'session_create'),
      schema: {
        params: schemas.InstanceParams,
        headers: schemas.IdempotencyHeaders,
        body: SessionRequest,
        ...answers(201, schemas.Session),
        summary: 'Starts a session',
      },
    },
    async (request, reply) => {
      const { inst } = request.params;
      const principal = principalOf(request);
      const make = () =>
        audited(request, 'session_create', begun, async () => {
          seenBy(request as FastifyRequest).demandCreation();
          return app.sessions.create(agentOf(app, inst), request.body, principal.name);
        });
      const key = request.headers['idempotency-key'];
      const session = await (key === undefined ? make() : madeOnce(app, request, key, make));
      const told = tell(app, session);
      return reply
        .code(201)
        .header('location', `${app.publicUrl().http}/agents/${encodeURIComponent(inst)}/sessions/${session.id}`)
        .send(told);
    },
  );

  app.get(
    '/agents/:inst/sessions',
    {
      onRequest: authorize('pty:observe', 'task_read'),
      schema: {
        params: schemas.InstanceParams,
        querystring: schemas.SessionQuery,
        ...answers(200, schemas.SessionPage),
        summary: 'Lists sessions, the newest first',
      },
    },
    async (request) => {
      const { inst } = request.params;
      const { state, page_size, page_token } = request.query;
      agentOf(app, inst);
      const seen = await seenBy(request as FastifyRequest).list(inst);
      const asked = seen.filter((session) => state === undefined || session.state === state);
      const { shown, next } = page(asked, { size: page_size, after: page_token });
      const opened = await Promise.all(shown.map((session) => session.open()));
      return { sessions: opened.filter((session) => session !== undefined).map((session) => tell(app, session)), next_page_token: next };
    },
  );

  app.get(
    one,
    {
      onRequest: authorize('pty:observe', 'task_read'),
      schema: { params: schemas.SessionParams, ...answers(200, schemas.Session), summary: 'Tells of a session' },
    },
    async (request) => {
      try {
        return tell(app, await sessionOf(request as FastifyRequest));
      } catch (error) {
        if (isDenial(error)) request.record('task_read', 'denied', { detail: (error as Fault).message });
        return tellDamaged(app, request.params, error);
      }
    },
  );

  app.delete(
    one,
    {
      onRequest: authorize('pty:control', 'session_close'),
      schema: { params: schemas.SessionParams, ...answers(202, schemas.Session), summary: 'Ends a session' },
    },
    async (request, reply) => {
      const session = await audited(request, 'session_close', 'asked for', async () => {
        const found = await sessionOf(request as FastifyRequest);
        endedBy(request, found);
        await found.end('killed', principalOf(request).name);
        return found;
      });
      return reply.code(202).send(tell(app, session));
    },
  );

  app.get(
    `${one}/screen`,
    {
      onRequest: authorize('pty:observe', 'screen_read'),
      schema: {
        params: schemas.SessionParams,
        querystring: schemas.ScreenQuery,
        ...answers(200, schemas.Screen),
        summary: 'What the terminal shows now',
      },
    },
    async (request, reply) => {
      const shown = await audited(request, 'screen_read', request.query.format, async () =>
        screenOf(app, request as FastifyRequest, await sessionOf(request as FastifyRequest), request.query),
      );
      return sendScreen(reply, shown);
    },
  );

  app.get(
    `${one}/transcript`,
    {
      onRequest: authorize('pty:observe', 'transcript_read'),
      schema: {
        params: schemas.SessionParams,
        querystring: schemas.TranscriptQuery,
        security,
        response: { '4xx': schemas.ErrorBody, '5xx': schemas.ErrorBody },
        summary: 'The history, as a stream of ndjson, lines of text, or an asciicast',
      },
    },
    async (request, reply) => {
      const { type, text } = await audited(request, 'transcript_read', request.query.format, async () => {
        const session = await sessionOf(request as FastifyRequest);
        return transcript(session, await firstSize(app, session), request.query);
      });
      return reply.type(type).send(Readable.from(text, { objectMode: false, signal: whileGood(request as FastifyRequest, reply) }));
    },
  );

  app.post(
    `${one}/controller`,
    {
      onRequest: authorize('pty:admin', 'admin'),
      schema: {
        params: schemas.SessionParams,
        body: schemas.ControllerRequest,
        ...answers(200, schemas.Session),
        summary: 'Moves or frees the lease',
        description: 'A lease that is freed goes to who has asked for it, if anybody has.',
      },
    },
    async (request) => {
      const { client_id } = request.body;
      const act = client_id === null ? 'the lease is freed' : `the lease moves to ${client_id}`;
      const session = await audited(request, 'admin', act, async () => {
        const found = await sessionOf(request as FastifyRequest);
        await found.moveControl(client_id);
        return found;
      });
      return tell(app, session);
    },
  );

  app.delete(
    `${one}/members/:client_id`,
    {
      onRequest: authorize('pty:admin', 'admin'),
      schema: { params: schemas.MemberParams, ...answers(202, schemas.Session), summary: 'Sends a connection away' },
    },
    async (request, reply) => {
      const { client_id } = request.params;
      const session = await audited(request, 'admin', `${client_id} is sent away`, async () => {
        const found = await sessionOf(request as FastifyRequest);
        await found.dismiss(client_id);
        return found;
      });
      return reply.code(202).send(tell(app, session));
    },
  );
};
