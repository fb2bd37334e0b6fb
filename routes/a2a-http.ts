// A2A's HTTP+JSON binding (A2A 1.0 §11): addresses and the shape of answers. Knows no operation's meaning.
import { type TObject, Type } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { A2A_JSON, clientOf, speakA2a } from '../plugins/a2a.js';
import { authorize } from '../plugins/auth.js';
import { tell } from '../src/a2a/errors.js';
import { fromProtoJson } from '../src/a2a/json.js';
import { type Operation, type OperationName, operations, perform } from '../src/a2a/operations.js';
import { TaskStream } from '../src/a2a/task-stream.js';
import { requireVersion } from '../src/a2a/version.js';
import type { AuditEvent } from '../src/audit/audit.js';
import { Fault } from '../src/errors.js';
import { fromQuery } from '../src/query.js';
import type { Routes } from './schemas.js';

type Method = 'GET' | 'POST' | 'DELETE';
/** Address, and what is asked for there; `:idVerb` is `{id}` or `{id}:verb`, and has an operation for each verb. */
type Address = readonly [Method, string, OperationName | Readonly<Record<string, OperationName>>];

const addresses: readonly Address[] = [
  ['POST', '/message::send', 'SendMessage'],
  ['POST', '/message::stream', 'SendStreamingMessage'],
  ['GET', '/tasks', 'ListTasks'],
  ['GET', '/tasks/:idVerb', { '': 'GetTask', subscribe: 'SubscribeToTask' }],
  ['POST', '/tasks/:idVerb', { cancel: 'CancelTask', subscribe: 'SubscribeToTask' }],
  ['POST', '/tasks/:taskId/pushNotificationConfigs', 'CreateTaskPushNotificationConfig'],
  ['GET', '/tasks/:taskId/pushNotificationConfigs', 'ListTaskPushNotificationConfigs'],
  ['GET', '/tasks/:taskId/pushNotificationConfigs/:configId', 'GetTaskPushNotificationConfig'],
  ['DELETE', '/tasks/:taskId/pushNotificationConfigs/:configId', 'DeleteTaskPushNotificationConfig'],
  ['GET', '/extendedAgentCard', 'GetExtendedAgentCard'],
];

interface Named {
  readonly operation: OperationName;
  /** The members of the request that stand in the path. */
  readonly members: Record<string, string>;
}

/** The last colon of `{id}:verb` parts the two: ids may have some. */
function named(what: Address[2], { inst: _, idVerb = '', configId, ...members }: Record<string, string>): Named {
  if (typeof what === 'string') return { operation: what, members: configId === undefined ? members : { ...members, id: configId } };
  const colon = idVerb.lastIndexOf(':');
  const verb = idVerb.slice(colon + 1);
  const spoken = colon !== -1 && Object.hasOwn(what, verb) ? what[verb] : undefined;
  if (spoken) return { operation: spoken, members: { id: idVerb.slice(0, colon) } };
  if (what['']) return { operation: what[''], members: { id: idVerb } };
  throw nothingHere();
}

/** What the body says (null is as good as none), or the query where there is none; what stands in the path counts before both. */
function requestOf(request: FastifyRequest, { operation, members }: Named): unknown {
  const given = (request.method === 'POST' ? request.body : inAddress(operation, request.query)) ?? {};
  if (typeof given !== 'object' || Array.isArray(given)) throw new Fault('INVALID_REQUEST', 'the body: expected an object');
  return { ...given, ...members };
}

function inAddress(operation: OperationName, query: unknown): object {
  return fromQuery(operations[operation].request, fromProtoJson(query) as Record<string, unknown>);
}

async function handle(what: Address[2], request: FastifyRequest, reply: FastifyReply) {
  const query = request.query as Record<string, unknown>;
  requireVersion(request.headers['a2a-version'], query['A2A-Version'] ?? query['a2a-version']);
  const name = named(what, request.params as Record<string, string>);
  const client = clientOf(request, reply, name.operation);
  const answer = await perform(name.operation, requestOf(request, name), client);
  if (!(answer instanceof TaskStream)) return reply.type(typeFor(request)).send(answer);
  return reply.sendEvents({ events: answer, encode: JSON.stringify, encodeError: (error) => JSON.stringify(errorBody(error)) });
}

/** google.rpc.Status as JSON (§11.6). */
function errorBody(error: unknown): object {
  const { http, status, message, details } = tell(error);
  return { error: { code: http, status, message, details } };
}

/** `application/a2a+json` for who asks for it, else `application/json`. */
function typeFor({ headers }: FastifyRequest): string {
  return `${headers.accept?.includes(A2A_JSON) ? A2A_JSON : 'application/json'}; charset=utf-8`;
}

/** What the audit calls a request that is refused before it is known which of an address's operations it means. */
function eventOf(what: Address[2]): AuditEvent {
  const [first = 'GetTask'] = typeof what === 'string' ? [what] : Object.values(what);
  const { audit = 'task_read' }: Operation = operations[first];
  return audit;
}

const nothingHere = () => new Fault('TASK_NOT_FOUND', 'there is nothing at this address');

const answer = { description: 'As A2A 1.0 says.', content: { 'application/json': { schema: Type.Object({}) } } };
const events = {
  description: 'StreamResponses, each the data of one event.',
  content: { 'text/event-stream': { schema: Type.Object({}) } },
};
const answerOf = (name: OperationName) => (['SendStreamingMessage', 'SubscribeToTask'].includes(name) ? events : answer);
const Status = Type.Object({
  error: Type.Object({ code: Type.Integer(), status: Type.String(), message: Type.String(), details: Type.Array(Type.Object({})) }),
});

/** For openapi.json; what a request holds is checked by its operation. */
function schemaOf(method: Method, url: string, what: Address[2]) {
  const verbs = Object.entries(typeof what === 'string' ? { '': what } : what);
  const names = verbs.map(([, name]) => name);
  const [first = 'GetTask'] = names;
  const params = [...url.matchAll(/(?<!:):(\w+)/g)].map(([, name = '']) => [name, Type.String()] as const);
  return {
    params: Type.Object({ inst: Type.String({ description: 'Instance id of the agent.' }), ...Object.fromEntries(params) }),
    ...(method === 'POST' && typeof what === 'string' && { body: operations[what].request }),
    ...(method === 'GET' && {
      querystring: queryOf(
        operations[first].request,
        params.map(([name]) => name),
      ),
    }),
    security: [{ bearer: [] }],
    summary: names.join(', '),
    response: { 200: answerOf(first), '4xx': Status, '5xx': Status },
    'x-verbs': Object.fromEntries(verbs.map(([verb, name]) => [verb, { summary: name, answer: answerOf(name) }])),
  };
}

function queryOf({ properties }: TObject, inPath: readonly string[]): TObject {
  const beside = Object.entries(properties).filter(([name]) => !inPath.includes(name) && name !== 'id');
  return Type.Object(Object.fromEntries(beside));
}

export const a2aHttpRoutes: Routes = async (app) => {
  speakA2a(app, (fault, request, reply) => {
    const body = errorBody(fault);
    reply.code(tell(fault).http).type(typeFor(request)).send(body);
  });
  for (const [method, url, what] of addresses) {
    app.route({
      method,
      url: `/agents/:inst/a2a/v1${url}`,
      schema: schemaOf(method, url, what),
      // A HEAD of a stream would be a stream that nobody reads.
      exposeHeadRoute: false,
      onRequest: authorize('pty:observe', eventOf(what)),
      handler: (request, reply) => handle(what, request, reply),
    });
  }
  app.all('/agents/:inst/a2a/v1/*', { schema: { hide: true }, onRequest: authorize('pty:observe', 'task_read') }, async () => {
    throw nothingHere();
  });
};
