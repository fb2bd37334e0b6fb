// What can be run here: the agents file (JSON or YAML), checked. Knows no session.
import { type Static, Type } from '@sinclair/typebox';
import { PtyParams, Side } from '../protocol/params.js';
import { AdapterConfig } from './adapter.js';

/** Most seconds that a policy may name: a year. */
const YEAR_SECONDS = 31_536_000;

const Skill = Type.Object(
  {
    id: Type.String({ minLength: 1 }),
    name: Type.String({ minLength: 1 }),
    description: Type.String({ minLength: 1 }),
    tags: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
  },
  { additionalProperties: false },
);

export const Policy = Type.Object(
  {
    terminate_on_last_controller: Type.Boolean({
      default: false,
      description: 'End the session when its last controller goes, and nobody has asked for control.',
    }),
    idle_timeout_seconds: Type.Union([Type.Integer({ minimum: 1, maximum: YEAR_SECONDS }), Type.Null()], {
      default: null,
      description: 'End a session in which nothing was typed or printed for so long.',
    }),
    max_session_seconds: Type.Union([Type.Integer({ minimum: 1, maximum: YEAR_SECONDS }), Type.Null()], {
      default: null,
      description: 'End a session at this age.',
    }),
    max_sessions: Type.Integer({ minimum: 1, default: 100, description: 'Most running sessions of this agent.' }),
    reattach: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), {
        minItems: 1,
        description:
          'What another replica runs to go on with a session whose replica is gone: for commands whose terminal lives elsewhere (tmux attach).',
      }),
    ),
    controller_return_seconds: Type.Integer({
      minimum: 0,
      maximum: YEAR_SECONDS,
      default: 30,
      description:
        'With reattach and terminate_on_last_controller: how long a session waits for a controller after the last one went, which may be because its replica did.',
    }),
    redaction: Type.Union([Type.Literal('on'), Type.Literal('off')], {
      default: 'on',
      description: 'Whether secrets are cut out of what sessions print, unless a session is asked for otherwise.',
    }),
    redaction_patterns: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 512 }), {
        maxItems: 32,
        description: "What else is a secret: regular expressions in RE2's syntax, each looked for in every line.",
      }),
    ),
    live_stream: Type.Union([Type.Literal('redacted'), Type.Literal('raw')], {
      default: 'redacted',
      description: 'What those see who watch a session live at the replica that runs it; what is kept is redacted in any case.',
    }),
  },
  { additionalProperties: false },
);
export type Policy = Static<typeof Policy>;

export const AgentConfig = Type.Object(
  {
    name: Type.String({ minLength: 1 }),
    description: Type.String({ minLength: 1, default: 'A terminal.' }),
    version: Type.String({ minLength: 1, default: '1.0.0' }),
    command: Type.Array(Type.String({ minLength: 1 }), { minItems: 1 }),
    cwd: Type.Optional(Type.String({ minLength: 1 })),
    env: Type.Record(Type.String(), Type.String(), { default: {} }),
    allow_command_override: Type.Boolean({ default: false }),
    skills: Type.Array(Skill, { default: [] }),
    adapter: Type.Optional(AdapterConfig),
    pty: PtyParams,
    policy: Policy,
  },
  { additionalProperties: false },
);
export type AgentConfig = Static<typeof AgentConfig>;

/** An agent with its instance id, as in every URL. */
export interface Agent extends AgentConfig {
  readonly id: string;
}

/** The agents as they are now (the file is read again on SIGHUP). */
export interface Agents {
  get(instanceId: string): Agent | undefined;
  list(): readonly Agent[];
}

/** What may be asked of a new session (contract: POST /agents/:inst/sessions). */
export const SessionRequest = Type.Object(
  {
    argv: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 256 })),
    cwd: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
    env: Type.Optional(Type.Record(Type.String({ minLength: 1 }), Type.String())),
    cols: Type.Optional(Side),
    rows: Type.Optional(Side),
    label: Type.Optional(Type.String({ maxLength: 128 })),
    default_role: Type.Optional(Type.Union([Type.Literal('controller'), Type.Literal('observer')])),
    secrets: Type.Optional(Type.Array(Type.String({ minLength: 4, maxLength: 4096 }), { maxItems: 64 })),
    redaction: Type.Optional(Type.Union([Type.Literal('on'), Type.Literal('off')])),
    live_stream: Type.Optional(Type.Union([Type.Literal('redacted'), Type.Literal('raw')])),
  },
  { $id: 'SessionRequest', additionalProperties: false },
);
export type SessionRequest = Static<typeof SessionRequest>;
