// The gateway's HTTP, as far as the page uses it. Knows no view and no WebSocket.
import type { SessionDescription } from '../../../src/session/session.js';
import type { Share } from '../../../src/shares/share.js';

/** Most sessions of one agent that are listed. */
const PAGE_SIZE = 100;
/** Milliseconds after which a call is given up. */
const CALL_TIMEOUT_MS = 15_000;

export interface AgentInfo {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** How many may have control at a time. */
  readonly maxControllers: number;
}

interface SessionPage {
  readonly sessions: readonly SessionDescription[];
  /** Whether there are more than these. */
  readonly more: boolean;
}

export interface NewShare {
  readonly ttl_seconds: number;
  readonly label?: string;
}

export interface NewSession {
  readonly label?: string;
  readonly cols?: number;
  readonly rows?: number;
}

/** A call that was refused, or that did not reach the gateway (status 0). */
export class CallError extends Error {
  override readonly name = 'CallError';
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** What a failed call is to be called on the page. */
export const messageOf = (error: unknown): string => (error instanceof CallError ? error.message : 'Something went wrong on this page.');

export interface Gateway {
  agents(): Promise<AgentInfo[]>;
  sessions(instanceId: string): Promise<SessionPage>;
  newestRunning(instanceId: string): Promise<SessionDescription | undefined>;
  session(instanceId: string, sessionId: string): Promise<SessionDescription>;
  create(instanceId: string, request: NewSession): Promise<SessionDescription>;
  end(instanceId: string, sessionId: string): Promise<void>;
  /** What its terminal shows now, as an SVG document. */
  picture(instanceId: string, sessionId: string, theme: 'light' | 'dark'): Promise<string>;
  /** The links to watch it that are good. */
  shares(instanceId: string, sessionId: string): Promise<readonly Share[]>;
  /** A new one; its address is told this once. */
  share(instanceId: string, sessionId: string, request: NewShare): Promise<Share & { readonly url: string }>;
  revokeShare(instanceId: string, sessionId: string, shareId: string): Promise<void>;
  /** Gives control to this connection alone. */
  moveControl(instanceId: string, sessionId: string, clientId: string): Promise<void>;
  /** Sends a connection away. */
  remove(instanceId: string, sessionId: string, clientId: string): Promise<void>;
}

/** The address of a session over HTTP, on the page's own origin and path prefix. */
export function sessionUrl(instanceId: string, sessionId: string): string {
  return new URL(`agents/${encodeURIComponent(instanceId)}/sessions/${encodeURIComponent(sessionId)}`, document.baseURI).href;
}

/** The attach address of a session, on the page's own origin and path prefix. */
export function attachUrl(instanceId: string, sessionId: string): string {
  const url = new URL(`${sessionUrl(instanceId, sessionId)}/attach`);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  url.hash = '';
  return url.href;
}

export function createGateway(token: string): Gateway {
  const call = (method: string, path: string, body?: unknown) => request(token, method, path, body);
  const sessions = (instanceId: string) => `agents/${encodeURIComponent(instanceId)}/sessions`;
  const one = (instanceId: string, sessionId: string) => `${sessions(instanceId)}/${encodeURIComponent(sessionId)}`;
  const page = async (instanceId: string, query: string) =>
    (await call('GET', `${sessions(instanceId)}?${query}`)) as { sessions: SessionDescription[]; next_page_token?: string | null };
  return {
    agents: async () => readCatalog(await call('GET', 'agents')),
    sessions: async (instanceId) => {
      const { sessions: listed, next_page_token } = await page(instanceId, `page_size=${PAGE_SIZE}`);
      return { sessions: listed, more: Boolean(next_page_token) };
    },
    newestRunning: async (instanceId) => (await page(instanceId, 'state=running&page_size=1')).sessions[0],
    session: async (...names) => (await call('GET', one(...names))) as SessionDescription,
    create: async (instanceId, body) => (await call('POST', sessions(instanceId), body)) as SessionDescription,
    picture: async (instanceId, sessionId, theme) =>
      (await send(token, 'GET', `${one(instanceId, sessionId)}/screen?format=svg&theme=${theme}`)).text(),
    shares: async (...names) => ((await call('GET', `${one(...names)}/shares`)) as { shares: Share[] }).shares,
    share: async (instanceId, sessionId, body) =>
      (await call('POST', `${one(instanceId, sessionId)}/shares`, body)) as Share & { url: string },
    revokeShare: async (instanceId, sessionId, shareId) =>
      void (await call('DELETE', `${one(instanceId, sessionId)}/shares/${encodeURIComponent(shareId)}`)),
    end: async (...names) => void (await call('DELETE', one(...names))),
    moveControl: async (instanceId, sessionId, clientId) =>
      void (await call('POST', `${one(instanceId, sessionId)}/controller`, { client_id: clientId })),
    remove: async (instanceId, sessionId, clientId) =>
      void (await call('DELETE', `${one(instanceId, sessionId)}/members/${encodeURIComponent(clientId)}`)),
  };
}

async function request(token: string, method: string, path: string, body: unknown): Promise<unknown> {
  const answer = await send(token, method, path, body);
  return answer.json().catch(() => undefined);
}

/** Rejects with a CallError unless it was done. */
async function send(token: string, method: string, path: string, body?: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  const answer = await fetch(new URL(path, document.baseURI), {
    method,
    headers,
    cache: 'no-store',
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new CallError(0, 'The gateway cannot be reached.');
  });
  if (answer.ok) return answer;
  const json: unknown = await answer.json().catch(() => undefined);
  throw new CallError(answer.status, refusal(json) ?? `The gateway answered ${answer.status}.`);
}

function refusal(json: unknown): string | undefined {
  const message = (json as { error?: { message?: unknown } } | undefined)?.error?.message;
  return typeof message === 'string' ? message : undefined;
}

interface Card {
  readonly name: string;
  readonly description?: string;
  readonly supportedInterfaces?: ReadonlyArray<{ readonly url: string }>;
  readonly capabilities?: { readonly extensions?: ReadonlyArray<{ readonly params?: Readonly<Record<string, unknown>> }> };
}

/** `GET /agents` is a catalog of AgentCards; an agent's id stands in the addresses of its interfaces. */
function readCatalog(json: unknown): AgentInfo[] {
  const cards = Array.isArray(json) ? (json as Card[]) : ((json as { agents?: Card[] } | undefined)?.agents ?? []);
  return cards.flatMap((card) => {
    const id = card.supportedInterfaces?.map(({ url }) => /\/agents\/([^/]+)\//.exec(url)?.[1]).find((found) => found !== undefined);
    return id === undefined ? [] : [{ id, name: card.name, description: card.description ?? '', maxControllers: maxControllers(card) }];
  });
}

/** As the extension's params say it (pty-ext §4.1). */
function maxControllers(card: Card): number {
  const params = card.capabilities?.extensions?.map((extension) => extension.params).find((p) => p && 'max_controllers' in p);
  return typeof params?.max_controllers === 'number' ? params.max_controllers : 1;
}
