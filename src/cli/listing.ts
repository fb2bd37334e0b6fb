// The agents and the sessions that a gateway tells of. Knows HTTP answers, no session.
import type { MemberRef } from '../protocol/frames.js';
import type { Gateway } from './gateway.js';
import { type Asked, askJson } from './http.js';

/** What is shown of a session (contract, Sessions over HTTP). */
export interface ListedSession {
  readonly session_id: string;
  readonly instance_id: string;
  readonly state: string;
  readonly created_at: string;
  readonly exit_code?: number | null;
  readonly reason?: string;
  readonly cols: number;
  readonly rows: number;
  readonly title?: string;
  readonly label?: string;
  readonly sensitive?: true;
  readonly current_sequence: number;
  readonly oldest_sequence: number;
  readonly controllers: readonly MemberRef[];
  readonly observers: readonly MemberRef[];
  readonly pty_ws_url: string;
}

interface Card {
  readonly supportedInterfaces: ReadonlyArray<{ readonly url: string }>;
}

/** The instance ids of a gateway's agents: they stand in the addresses of their cards. */
export async function instancesOf(gateway: Gateway, asked: Asked = {}): Promise<string[]> {
  const { agents: cards } = await askJson<{ agents: Card[] }>(gateway, '/agents', asked);
  const ids = cards.map(({ supportedInterfaces: [first] }) => /\/agents\/([^/]+)\//.exec(first?.url ?? '')?.[1]);
  return ids.filter((id) => id !== undefined).map(decodeURIComponent);
}

export interface Wanted {
  /** Of this agent alone. */
  readonly instance?: string | undefined;
  /** In this state alone. */
  readonly state?: string | undefined;
}

/** Those that the token may see, agent by agent, the newest first. */
export async function sessionsAt(gateway: Gateway, { instance, state }: Wanted = {}): Promise<ListedSession[]> {
  const instances = instance === undefined ? await instancesOf(gateway) : [instance];
  const found: ListedSession[] = [];
  for (const each of instances) for await (const session of sessionsOf(gateway, each, state)) found.push(session);
  return found;
}

async function* sessionsOf(gateway: Gateway, instanceId: string, state: string | undefined): AsyncGenerator<ListedSession> {
  let after: string | null | undefined;
  do {
    const query = new URLSearchParams({ ...(state && { state }), ...(after && { page_token: after }) });
    const page = await askJson<{ sessions: ListedSession[]; next_page_token?: string | null }>(
      gateway,
      `${instancePath(instanceId)}/sessions?${query}`,
    );
    yield* page.sessions;
    after = page.next_page_token;
  } while (after);
}

export const instancePath = (instanceId: string): string => `/agents/${encodeURIComponent(instanceId)}`;
export const sessionPath = (instanceId: string, sessionId: string): string => `${instancePath(instanceId)}/sessions/${sessionId}`;
