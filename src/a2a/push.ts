// Whom a task's updates are pushed to: a config, its bounds, and the configs of one task (A2A 1.0 §3.1.7–3.1.10, §4.3). Knows no session.
import { type Static, Type } from '@sinclair/typebox';
import { Fault } from '../errors.js';
import { checker, withoutNulls } from '../protocol/check.js';
import { MAX_ID_CHARS } from '../protocol/envelope.js';

/** Most configs of one task. */
export const MAX_PUSH_CONFIGS = 10;
/** Longest URL, token and credentials, in characters. */
const MAX_URL_CHARS = 2048;
const MAX_TOKEN_CHARS = 4096;
/** Longest name of an HTTP authentication scheme, in characters. */
const MAX_SCHEME_CHARS = 64;

/** What may stand in a header, so that nothing in it can begin another one. */
const HeaderValue = (what: string) =>
  Type.String({ maxLength: MAX_TOKEN_CHARS, pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$', title: what });
const Id = Type.String({ minLength: 1, maxLength: MAX_ID_CHARS });

/** A2A TaskPushNotificationConfig, as JSON. */
export const PushConfig = Type.Object(
  {
    id: Type.Optional(Id),
    taskId: Type.Optional(Id),
    url: Type.String({ minLength: 1, maxLength: MAX_URL_CHARS }),
    token: Type.Optional(HeaderValue(`a token of printable ASCII, at most ${MAX_TOKEN_CHARS} characters`)),
    authentication: Type.Optional(
      Type.Object({
        scheme: Type.String({
          maxLength: MAX_SCHEME_CHARS,
          pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$",
          title: 'the name of an HTTP authentication scheme',
        }),
        credentials: Type.Optional(HeaderValue(`credentials of printable ASCII, at most ${MAX_TOKEN_CHARS} characters`)),
      }),
    ),
  },
  { description: 'Where updates of a task are sent to (A2A 1.0 §4.3.1).' },
);
export type PushConfig = Static<typeof PushConfig>;
/** One that is kept: it has its id. */
export type NamedPushConfig = PushConfig & { readonly id: string };

/** One that belongs to a task. */
export type TaskPushConfig = NamedPushConfig & { readonly taskId: string };

/** A2A StreamResponse, as JSON: one member, named after what it holds (§3.2.3). */
export type StreamResponse = { readonly statusUpdate: object } | { readonly artifactUpdate: object };

/** What became of an event: `failed` was given up by its sender, `dropped` was too much or is wanted no more, `left` is for whoever goes on. */
export type PushOutcome = 'delivered' | 'failed' | 'dropped' | 'left';

/** Delivers events. */
export interface PushSender {
  /** Why nothing may be sent to a URL, as far as it can be told beforehand; undefined if it may. */
  refusal(url: string): string | undefined;
  /** Delivers an event after those before it, or gives it up. Never rejects. */
  notify(config: TaskPushConfig, event: StreamResponse): Promise<PushOutcome>;
  /** Nothing more goes there; what waited has that outcome, `dropped` if absent. */
  forget(taskId: string, configId: string, as?: PushOutcome): void;
  /** Takes nothing more; resolves when what it took is settled, or `left` because it takes too long. */
  close(): Promise<void>;
}

/** The configs of one task. What they answer is without `authentication.credentials`: those are written, never read. */
export interface PushConfigs {
  /** An id is minted where there is none; the same id replaces. INVALID_REQUEST for a URL that may not be reached, or one config too many. */
  set(config: PushConfig): Promise<TaskPushConfig>;
  get(id: string): Promise<TaskPushConfig | undefined>;
  /** In the order in which they were set first. */
  list(): Promise<readonly TaskPushConfig[]>;
  /** Nothing is sent there from now on. One that is not there is no error (§3.1.10). */
  remove(id: string): Promise<void>;
}

const wrong = checker(PushConfig, 'pushNotificationConfig');

/** A config that somebody else wrote, as it is kept: null and empty members count as absent, unknown ones are let go. Throws INVALID_REQUEST. */
export function readPushConfig(value: unknown): PushConfig {
  const given = isRecord(value) ? withoutNulls(filled(value), PushConfig) : value;
  const complaint = wrong(given);
  if (complaint) throw new Fault('INVALID_REQUEST', complaint);
  const { id, taskId, url, token, authentication } = given as PushConfig;
  return {
    url,
    ...(id === undefined ? {} : { id }),
    ...(taskId === undefined ? {} : { taskId }),
    ...(token === undefined ? {} : { token }),
    ...(authentication && { authentication: kept(authentication) }),
  };
}

/** As it is shown to whoever asks for it. */
export function withoutCredentials<C extends PushConfig>(config: C): C {
  if (!config.authentication) return config;
  return { ...config, authentication: { scheme: config.authentication.scheme } };
}

function kept({ scheme, credentials }: NonNullable<PushConfig['authentication']>): NonNullable<PushConfig['authentication']> {
  return credentials === undefined ? { scheme } : { scheme, credentials };
}

/** An empty text is what a member has that was never set (ProtoJSON). */
function filled(value: Record<string, unknown>): Record<string, unknown> {
  const set = Object.entries(value).filter(([, member]) => member !== '');
  return Object.fromEntries(set.map(([name, member]) => [name, isRecord(member) ? filled(member) : member]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
