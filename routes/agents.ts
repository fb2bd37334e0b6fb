// Who can be talked to here: the catalog, and the card of each agent. Knows no session.
import { createHash } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { authorize, principalOf } from '../plugins/auth.js';
import { reaches } from '../src/access/principal.js';
import type { Agent } from '../src/agents/agents.js';
import { Fault } from '../src/errors.js';
import { hasTag } from './etag.js';
import { ErrorBody, InstanceParams, type Routes } from './schemas.js';

/** Seconds for which a card may be kept without asking again. */
const CARD_MAX_AGE_SECONDS = 60;

const Card = Type.Record(Type.String(), Type.Unknown(), { description: 'An A2A 1.0 AgentCard.' });
const Catalog = Type.Object({ agents: Type.Array(Card) });

function agentOf(app: FastifyInstance, instanceId: string): Agent {
  const agent = app.agents.get(instanceId);
  if (!agent) throw new Fault('TASK_NOT_FOUND', 'there is no such agent');
  return agent;
}

/** Who may keep an answer, and for how long. What depends on the caller is kept by the caller alone. */
const forEveryone = { 'cache-control': `public, max-age=${CARD_MAX_AGE_SECONDS}` };
const forTheCaller = { 'cache-control': 'private, no-cache', vary: 'Authorization' };

/** 304 if the client has it already. */
function sendTagged(request: FastifyRequest, reply: FastifyReply, body: object, caching: Record<string, string>) {
  const tag = tagOf(body);
  reply.headers({ ...caching, etag: `W/${tag}` });
  if (hasTag(request, tag)) return reply.code(304).send();
  return reply.type('application/json; charset=utf-8').send(body);
}

/** A signature is another each time it is made, on each replica too; the tag is of what was signed, and with which key. So it is a weak one. */
function tagOf(body: object): string {
  const text = JSON.stringify(body, (key, value) => (key === 'signature' ? undefined : value));
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
}

/** Since when this replica tells a card: it is made anew when the agents file is read again. */
function sinceWhen(known: WeakMap<object, string>, card: object): string {
  const since = known.get(card) ?? new Date().toUTCString();
  known.set(card, since);
  return since;
}

export const agentRoutes: Routes = async (app) => {
  const told = new WeakMap<object, string>();

  app.get(
    '/agents',
    {
      schema: { response: { 200: Catalog, '4xx': ErrorBody }, summary: 'The cards of all agents, or of those that the token is good for' },
    },
    async (request, reply) => {
      const { principal, refusal } = request;
      if (!principal && refusal && request.headers.authorization !== undefined) throw refusal;
      const agents = app.agents.list().filter(({ id }) => !principal || reaches(principal, id));
      return sendTagged(request, reply, { agents: await Promise.all(agents.map(app.cards.public)) }, forTheCaller);
    },
  );

  app.get(
    '/agents/:inst/.well-known/agent-card.json',
    { schema: { params: InstanceParams, response: { 200: Card, '4xx': ErrorBody }, summary: 'The public card of an agent' } },
    async (request, reply) => {
      const card = await app.cards.public(agentOf(app, request.params.inst));
      return sendTagged(request, reply, card, { ...forEveryone, 'last-modified': sinceWhen(told, card) });
    },
  );

  app.get(
    '/agents/:inst/extendedAgentCard',
    {
      onRequest: authorize('pty:observe', 'task_read'),
      schema: {
        params: InstanceParams,
        security: [{ bearer: [] }],
        response: { 200: Card, '4xx': ErrorBody },
        summary: 'The card of an agent with what the token allows',
      },
    },
    async (request, reply) => {
      reply.activateExtensions();
      const card = await app.cards.extended(agentOf(app, request.params.inst), principalOf(request));
      return sendTagged(request, reply, card, forTheCaller);
    },
  );
};
