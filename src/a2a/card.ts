// The AgentCard of an agent: for everyone, and for one caller (A2A 1.0 §8, pty-ext §4). Knows no request and no key.

import type { Scope } from '../access/principal.js';
import type { Agent } from '../agents/agents.js';
import type { PublicUrl } from '../config.js';
import { BINDING_URI, CORE_OPERATIONS, EXTENSION_URI, type Op, PTY_OPERATIONS } from '../protocol/names.js';

/** Where the gateway is found. */
type Base = Pick<PublicUrl, 'http' | 'ws'>;

/** What a caller's token is good for. */
export interface Grant {
  readonly scopes: readonly Scope[];
  /** Of the operations that the public card names. */
  readonly operations: readonly Op[];
}

/** A detached JWS over the card (A2A 1.0 §8.4). */
export interface CardSignature {
  readonly protected: string;
  readonly signature: string;
}

/** The card as JSON. It has no field that A2A 1.0 does not define: what is ours stands in capabilities.extensions. */
export interface AgentCard extends ReturnType<typeof publicCard> {
  readonly signatures?: readonly CardSignature[];
}

/** What an agent that names no skill can do all the same. */
const terminalSkill = {
  id: 'terminal',
  name: 'Terminal',
  description: 'Runs a program on a terminal that people and agents share.',
  tags: ['terminal'],
};
const watchSkill = {
  id: 'watch',
  name: 'Watch',
  description: 'Shows what the terminals of this agent print, now and from the first frame that is kept.',
  tags: ['terminal', 'observe'],
};

/** The card that everyone may read. */
export function publicCard(agent: Agent, base: Base) {
  const path = `/agents/${encodeURIComponent(agent.id)}`;
  const endpoint = `${base.ws}${path}/sessions/{session_id}/attach`;
  return {
    name: agent.name,
    description: agent.description,
    version: agent.version,
    supportedInterfaces: [
      { url: `${base.http}${path}/a2a/v1`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url: `${base.http}${path}/a2a/jsonrpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: endpoint, protocolBinding: BINDING_URI, protocolVersion: '1.0' },
    ],
    capabilities: {
      streaming: true,
      pushNotifications: true,
      extendedAgentCard: true,
      extensions: [binding(endpoint), extension(agent)],
    },
    securitySchemes: {
      bearer: {
        httpAuthSecurityScheme: {
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'A token with the scope pty:observe, pty:control or pty:admin.',
        },
      },
    },
    securityRequirements: [needs('pty:observe')],
    defaultInputModes: ['text/plain', 'application/json'],
    defaultOutputModes: ['text/plain'],
    skills: runningSkills(agent),
  };
}

/** The card with what this caller may do in the place of what anyone might: operations, skills, and the scopes that say so (A2A 1.0 §3.1.11). */
export function extendedCard(agent: Agent, base: Base, { scopes, operations }: Grant): AgentCard {
  const card = publicCard(agent, base);
  const extensions = card.capabilities.extensions.map((entry) =>
    entry.uri === BINDING_URI ? { ...entry, params: { ...entry.params, operations, scopes } } : entry,
  );
  const skills = scopes.includes('pty:control') ? runningSkills(agent) : [];
  return {
    ...card,
    capabilities: { ...card.capabilities, extensions },
    skills: [...skills, { ...watchSkill, securityRequirements: [needs('pty:observe')] }],
  };
}

function runningSkills({ skills }: Agent) {
  return (skills.length > 0 ? skills : [terminalSkill]).map((skill) => ({ ...skill, securityRequirements: [needs('pty:control')] }));
}

function needs(scope: Scope) {
  return { schemes: { bearer: { list: [scope] } } };
}

interface Extension {
  readonly uri: string;
  readonly description: string;
  readonly required: boolean;
  /** No empty string, list or null: verifiers of signatures leave those out. */
  readonly params: Readonly<Record<string, unknown>>;
}

function binding(endpoint: string): Extension {
  return {
    uri: BINDING_URI,
    description: 'Sessions over a WebSocket: the A2A operations, numbered frames, replay from a cursor.',
    required: false,
    params: {
      endpoint,
      preference: 'secondary',
      operations: [...CORE_OPERATIONS, ...PTY_OPERATIONS],
      notes: 'One connection is one session; {session_id} is given by POST to the sessions of the agent.',
    },
  };
}

function extension({ pty }: Agent): Extension {
  return {
    uri: EXTENSION_URI,
    description: 'Shared terminals: roles, replay, and Keyframes for who joins late.',
    required: false,
    params: pty,
  };
}
