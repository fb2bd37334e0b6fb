// The AgentCard of an agent (A2A 1.0; protocol, A2A 1.0; pty-ext §4). Knows no request.
import type { Agent } from '../agents.js';
import { BINDING_URI, CORE_OPERATIONS, EXTENSION_URI, PTY_OPERATIONS } from '../protocol/names.js';

/** Where the gateway is found; no slash ends either. */
interface Base {
  readonly http: string;
  readonly ws: string;
}

/** What an agent that names no skill can do all the same. */
const terminalSkill = {
  id: 'terminal',
  name: 'Terminal',
  description: 'Runs a program on a terminal that people and agents share.',
  tags: ['terminal'],
};

/** The card as JSON. It has no field that A2A 1.0 does not define: what is ours stands in capabilities.extensions. */
export function agentCard(agent: Agent, base: Base): Record<string, unknown> {
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
      pushNotifications: false,
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
    securityRequirements: [{ schemes: { bearer: { list: ['pty:observe'] } } }],
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: agent.skills.length > 0 ? agent.skills : [terminalSkill],
  };
}

function binding(endpoint: string) {
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

function extension({ pty }: Agent) {
  return {
    uri: EXTENSION_URI,
    description: 'Shared terminals: roles, replay, and Keyframes for who joins late.',
    required: false,
    params: pty,
  };
}
