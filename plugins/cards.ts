// The cards of the agents, signed where there is a key. Knows no route but that of the key's public half.
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { type AgentCard, extendedCard, publicCard } from '../src/a2a/card.js';
import { type CardSigner, openCardSigner } from '../src/a2a/card-signer.js';
import { type Principal, scopesOf } from '../src/access/principal.js';
import type { Agent } from '../src/agents/agents.js';
import { operationsFor } from '../src/attach/dispatch.js';

const KEYS_PATH = '/.well-known/jwks.json';
/** Seconds for which the keys may be kept without asking again. */
const KEYS_MAX_AGE_SECONDS = 3600;

declare module 'fastify' {
  interface FastifyInstance {
    readonly cards: {
      /** What everyone may read. */
      public(agent: Agent): Promise<AgentCard>;
      /** What this caller's token allows; the caller is one that `authorize('pty:observe')` let pass (A2A 1.0 §3.1.11). */
      extended(agent: Agent, principal: Principal): Promise<AgentCard>;
    };
  }
}

type Sign = (card: AgentCard) => Promise<AgentCard>;

function signWith(app: FastifyInstance, signer: CardSigner): Sign {
  return async (card) => ({ ...card, signatures: [await signer.sign(card, `${app.publicUrl().http}${KEYS_PATH}`)] });
}

/** Signs a card once for each agent and address, so that the catalog costs nothing. An agent that the file no longer names is forgotten. */
function publicCards(app: FastifyInstance, sign: Sign) {
  const made = new WeakMap<Agent, { readonly at: string; readonly card: Promise<AgentCard> }>();
  return (agent: Agent): Promise<AgentCard> => {
    const base = app.publicUrl();
    const known = made.get(agent);
    if (known?.at === base.http) return known.card;
    const card = sign(publicCard(agent, base));
    made.set(agent, { at: base.http, card });
    return card;
  };
}

function publish(app: FastifyInstance, { keys }: CardSigner): void {
  app.get(KEYS_PATH, { schema: { summary: 'The keys that cards are signed with, as a JWK Set' } }, async (_, reply) =>
    reply.header('cache-control', `public, max-age=${KEYS_MAX_AGE_SECONDS}`).send(keys),
  );
}

export default fp(
  async (app) => {
    const { cardSigningKey } = app.config;
    const signer = cardSigningKey === undefined ? undefined : await openCardSigner(cardSigningKey);
    const sign: Sign = signer ? signWith(app, signer) : async (card) => card;
    if (signer) publish(app, signer);
    app.decorate('cards', {
      public: publicCards(app, sign),
      extended: (agent, principal) =>
        sign(extendedCard(agent, app.publicUrl(), { scopes: scopesOf(principal), operations: operationsFor(principal) })),
    });
  },
  { name: 'cards', dependencies: ['context', 'openapi'] },
);
