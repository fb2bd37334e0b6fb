// Who can be talked to here: the catalog, and the card of each agent. Knows no session.
import { createHash } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authorize } from '../plugins/auth.js';
import { agentCard } from '../src/a2a/card.js';
import { Fault } from '../src/errors.js';
import { reaches } from '../src/principal.js';
import { ErrorBody, InstanceParams, type Routes } from './schemas.js';

/** Seconds for which a card may be kept without asking again. */
const CARD_MAX_AGE_SECONDS = 60;

const Card = Type.Record(Type.String(), Type.Unknown(), { description: 'An A2A 1.0 AgentCard.' });
const Catalog = Type.Object({ agents: Type.Array(Card) });

function cardOf(app: FastifyInstance, instanceId: string) {
  const agent = app.agents.get(instanceId);
  if (!agent) throw new Fault('TASK_NOT_FOUND', 'there is no such agent');
  return agentCard(agent, app.publicUrl());
}

/** 304 if the client has it already. */
function sendTagged(request: FastifyRequest, reply: FastifyReply, body: object, caching: string) {
  const text = JSON.stringify(body);
  const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  const known = (request.headers['if-none-match'] ?? '').split(',').map((t) => t.trim().replace(/^W\//, ''));
  reply.header('etag', tag).header('cache-control', caching).header('vary', 'Authorization');
  if (known.includes(tag) || known.includes('*')) return reply.code(304).send();
  return reply.type('application/json; charset=utf-8').serializer(String).send(text);
}

export const agentRoutes: Routes = async (app) => {
  app.get(
    '/agents',
    {
      schema: { response: { 200: Catalog, '4xx': ErrorBody }, summary: 'The cards of all agents, or of those that the token is good for' },
    },
    async (request, reply) => {
      const { principal, refusal } = request;
      if (!principal && refusal && request.headers.authorization !== undefined) throw refusal;
      const agents = app.agents.list().filter(({ id }) => !principal || reaches(principal, id));
      return sendTagged(request, reply, { agents: agents.map((agent) => agentCard(agent, app.publicUrl())) }, 'private, no-cache');
    },
  );

  app.get(
    '/agents/:inst/.well-known/agent-card.json',
    { schema: { params: InstanceParams, response: { 200: Card, '4xx': ErrorBody }, summary: 'The public card of an agent' } },
    async (request, reply) => sendTagged(request, reply, cardOf(app, request.params.inst), `public, max-age=${CARD_MAX_AGE_SECONDS}`),
  );

  app.get(
    '/agents/:inst/extendedAgentCard',
    {
      onRequest: authorize('pty:observe'),
      schema: {
        params: InstanceParams,
        security: [{ bearer: [] }],
        response: { 200: Card, '4xx': ErrorBody },
        summary: 'The card that a token may see',
      },
    },
    async (request, reply) => {
      reply.activateExtensions();
      return sendTagged(request, reply, cardOf(app, request.params.inst), 'private, no-cache');
    },
  );
};
