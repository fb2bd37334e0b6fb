// What A2A's HTTP bindings share: who runs the tasks of an agent, who asks, how bodies are read. Knows no operation and no address.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { A2aFault } from '../src/a2a/errors.js';
import { FIXTURE_ID, FixtureHost } from '../src/a2a/fixture/host.js';
import { parseBody } from '../src/a2a/json.js';
import { type Client, type Operation, type OperationName, operations } from '../src/a2a/operations.js';
import { SessionHost } from '../src/a2a/session-host.js';
import type { TaskHost } from '../src/a2a/task-host.js';
import type { Agent } from '../src/agents/agents.js';
import { Fault } from '../src/errors.js';
import { disclosure } from '../src/session/secrecy.js';
import { principalOf } from './auth.js';
import { settle } from './errors.js';
import { whileGood } from './validity.js';

/** A2A 1.0 §14.1.1. */
export const A2A_JSON = 'application/a2a+json';

declare module 'fastify' {
  interface FastifyInstance {
    /** Undefined unless A2A_FIXTURE is on. */
    readonly fixture: FixtureHost | undefined;
  }
}

/** Who asks for an operation at `/agents/:inst/…`, and was let pass by `authorize`. TASK_NOT_FOUND if there is no such agent, which the audit is told. */
export function clientOf(request: FastifyRequest, reply: FastifyReply, name: OperationName): Client {
  const { server: app } = request;
  const principal = principalOf(request);
  const agent = agentOf(request, name);
  return {
    principal,
    host: hostOf(app, agent, request),
    from: { author: 'message', principal: principal.name },
    signal: whileGood(request, reply),
    activate: (extensions) => reply.activateExtensions(extensions),
    record: (event, outcome, more) => request.record(event, outcome, more),
    extendedCard: () => app.cards.extended(agent, principal),
  };
}

/** In this scope bodies are A2A's JSON, which operations check themselves, and failures are answered in the binding's own shape. */
export function speakA2a(app: FastifyInstance, answer: (fault: Fault, request: FastifyRequest, reply: FastifyReply) => void): void {
  app.setValidatorCompiler(() => (value) => ({ value }));
  app.setErrorHandler((error, request, reply) => answer(a2aFaultFrom(settle(error, request, reply)), request, reply));
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser<string>(['application/json', A2A_JSON], { parseAs: 'string' }, async (_request: FastifyRequest, body: string) =>
    body.trim() === '' ? undefined : parseBody(body),
  );
}

/** A body of another type is what A2A has a name for. */
function a2aFaultFrom(fault: Fault): Fault {
  if (fault.status !== 415) return fault;
  return new A2aFault('CONTENT_TYPE_NOT_SUPPORTED', `the body: expected application/json or ${A2A_JSON}`, { status: 415, cause: fault });
}

function agentOf(request: FastifyRequest, name: OperationName): Agent {
  const agent = request.server.agents.get((request.params as { inst: string }).inst);
  if (agent) return agent;
  const { audit = 'task_read' }: Operation = operations[name];
  request.record(audit, 'failed', { detail: `${name}: there is no such agent` });
  throw new Fault('TASK_NOT_FOUND', 'there is no such agent');
}

function hostOf(app: FastifyInstance, agent: Agent, request: FastifyRequest): TaskHost {
  if (agent.id === FIXTURE_ID && app.fixture) return app.fixture;
  return new SessionHost({
    agent,
    sessions: app.sessions,
    begun: app.idempotency,
    onBegun: (session) => {
      const detail = ['by a message', disclosure(session.describe())].filter(Boolean).join(', ');
      request.record('session_create', 'done', { session_id: session.id, detail });
    },
  });
}

export default fp(
  async (app) => {
    app.decorate('fixture', app.config.a2aFixture ? new FixtureHost(app.notifier) : undefined);
  },
  { name: 'a2a', dependencies: ['context', 'auth', 'audit', 'cluster', 'sessions', 'cards', 'push', 'extension-negotiation'] },
);
