// A2A's JSON-RPC binding (A2A 1.0 §9): one address, one request at a time. Knows no operation's meaning.
import { Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clientOf, speakA2a } from '../plugins/a2a.js';
import { authorize } from '../plugins/auth.js';
import { A2aFault, tell } from '../src/a2a/errors.js';
import { isOperation, type Operation, type OperationName, operations, perform } from '../src/a2a/operations.js';
import { TaskStream } from '../src/a2a/task-stream.js';
import { requireVersion } from '../src/a2a/version.js';
import type { AuditEvent } from '../src/audit/audit.js';
import { Fault } from '../src/errors.js';
import { InstanceParams, type Routes } from './schemas.js';

/** Longest id of a request, in characters. */
const MAX_ID_CHARS = 128;

type Id = string | number | null;

interface Call {
  readonly id: Id;
  readonly operation: OperationName;
  readonly params: unknown;
}

/** What HTTP itself refuses keeps its status; all else is an answer. */
const httpRefusals: ReadonlySet<number> = new Set([401, 403, 413, 415, 429, 503]);

/** The request in a body. Throws INVALID_ENVELOPE or METHOD_NOT_FOUND. */
function callIn(body: unknown): Call {
  if (Array.isArray(body)) throw invalid('a batch is not taken here; send one request at a time');
  if (typeof body !== 'object' || body === null) throw invalid('expected an object');
  const { jsonrpc, id, method, params } = body as Record<string, unknown>;
  if (jsonrpc !== '2.0') throw invalid('jsonrpc: expected "2.0"');
  if (!isId(id)) throw invalid(`id: expected a string of at most ${MAX_ID_CHARS} characters, or a number`);
  if (typeof method !== 'string') throw invalid('method: expected a string');
  if (!isOperation(method)) throw new A2aFault('METHOD_NOT_FOUND', `method: expected one of ${Object.keys(operations).join(', ')}`);
  if (params !== undefined && (typeof params !== 'object' || params === null || Array.isArray(params)))
    throw new Fault('INVALID_REQUEST', 'params: expected an object');
  return { id, operation: method, params };
}

const invalid = (message: string) => new A2aFault('INVALID_ENVELOPE', message);

function isId(id: unknown): id is Id {
  return id === null || typeof id === 'number' || (typeof id === 'string' && id.length <= MAX_ID_CHARS);
}

/** Of a request that may be none at all. */
function idOf(body: unknown): Id {
  const id = typeof body === 'object' && body !== null ? (body as { id?: unknown }).id : null;
  return isId(id) ? id : null;
}

/** What the audit calls what was asked; a read, where that is not known. */
function eventOf({ body }: FastifyRequest): AuditEvent {
  const { method } = (body ?? {}) as { method?: unknown };
  const { audit }: Partial<Operation> = isOperation(method) ? operations[method] : {};
  return audit ?? 'task_read';
}

async function handle(request: FastifyRequest, reply: FastifyReply) {
  const query = request.query as Record<string, unknown>;
  const { id, operation, params } = callIn(request.body);
  requireVersion(request.headers['a2a-version'], query['A2A-Version'] ?? query['a2a-version']);
  const answer = await perform(operation, params, clientOf(request, reply, operation));
  const encode = (result: object) => JSON.stringify({ jsonrpc: '2.0', id, result });
  if (!(answer instanceof TaskStream)) return reply.type('application/json; charset=utf-8').send(encode(answer));
  return reply.sendEvents({ events: answer, encode, encodeError: (error) => JSON.stringify(failure(error, id)) });
}

/** §9.5. */
function failure(error: unknown, id: Id): object {
  const { jsonrpc: code, message, details: data } = tell(error);
  return { jsonrpc: '2.0', id, error: { code, message, ...(data.length > 0 && { data }) } };
}

const Envelope = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Unknown(),
  method: Type.String({ enum: Object.keys(operations) }),
  params: Type.Optional(Type.Object({}, { description: 'As the body of the same operation over HTTP+JSON.' })),
});
const Answer = Type.Object({
  jsonrpc: Type.Literal('2.0'),
  id: Type.Unknown(),
  result: Type.Optional(Type.Object({})),
  error: Type.Optional(Type.Object({})),
});

const address = '/agents/:inst/a2a/jsonrpc';
const schema = {
  params: InstanceParams,
  body: Envelope,
  response: {
    200: {
      description: 'An answer; of SendStreamingMessage and SubscribeToTask events, each with an answer as its data.',
      content: { 'application/json': { schema: Answer }, 'text/event-stream': { schema: Answer } },
    },
    '4xx': Answer,
    '5xx': Answer,
  },
  security: [{ bearer: [] }],
  summary: 'Every operation, as JSON-RPC 2.0',
};

export const a2aJsonRpcRoutes: Routes = async (app) => {
  speakA2a(app, (fault, request, reply) => {
    const { http } = tell(fault);
    reply
      .code(httpRefusals.has(http) ? http : 200)
      .type('application/json; charset=utf-8')
      .send(failure(fault, idOf(request.body)));
  });
  const admits = authorize('pty:observe', eventOf);
  // Of who has no token nothing is read.
  const strangers: typeof admits = async (request, reply) => {
    if (!request.principal) await admits(request, reply);
  };
  const guards = { config: { audit: eventOf }, onRequest: strangers, preHandler: admits };
  app.post(address, { schema, ...guards }, handle);
  // Some clients add a slash to every address that they are given.
  app.post(`${address}/`, { schema: { hide: true }, ...guards }, handle);
};
