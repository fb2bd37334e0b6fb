// The agents and the sessions that a gateway tells of. Knows HTTP answers, no session.
import type { MemberRef } from '../protocol/frames.js';
import { CommandError } from './failure.js';
import type { Gateway } from './gateway.js';
import { type Asked, askJson, Refused } from './http.js';

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
    const answer = askJson<{ sessions: ListedSession[]; next_page_token?: string | null }>(
      gateway,
      `${instancePath(instanceId)}/sessions?${query}`,
    );
    const page = await ofAgent(gateway, instanceId, answer);
    yield* page.sessions;
    after = page.next_page_token;
  } while (after);
}

export const instancePath = (instanceId: string): string => `/agents/${encodeURIComponent(instanceId)}`;
export const sessionPath = (instanceId: string, sessionId: string): string => `${instancePath(instanceId)}/sessions/${sessionId}`;

/** As the answer is; where there is no such agent, rejects with a CommandError that says which there are. */
export async function ofAgent<T>(gateway: Gateway, instance: string, answer: Promise<T>): Promise<T> {
  return answer.catch(async (error: unknown) => {
    if (!(error instanceof Refused && error.status === 404)) throw error;
    const ids = await instancesOf(gateway).catch(() => [instance]);
    if (ids.includes(instance)) throw error;
    const there = ids.length === 0 ? 'this token may see none' : `there are: ${ids.join(', ')}`;
    throw new CommandError(`there is no agent ${JSON.stringify(instance)}; ${there}`, { code: error.code });
  });
}
