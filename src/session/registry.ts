// Finds, makes and ends sessions. Knows no HTTP.
import type { Agent, SessionRequest } from '../agents/agents.js';
import type { ListedSession } from './listed-session.js';
import type { Session } from './session.js';

export interface Sessions {
  /** In a context of A2A of its own unless one is named. Faults: PERMISSION_DENIED (403), INVALID_REQUEST 422 (cannot start), RATE_LIMITED 503 (too many). */
  create(agent: Agent, request: SessionRequest, createdBy: string, contextId?: string): Promise<Session>;
  /** A running or kept session of that instance. */
  find(instanceId: string, sessionId: string): Promise<Session | undefined>;
  /** Who created it, by what is kept of it: whether it is looked at or not found takes as long. Undefined if `find` would find none. */
  creatorOf(instanceId: string, sessionId: string): Promise<string | undefined>;
  /** All kept sessions of an instance, the newest first. */
  list(instanceId: string): Promise<ListedSession[]>;
  /** Those whose terminals run here. */
  owned(): readonly Session[];
  /** In one sentence, why no session is taken now; undefined when all is well. */
  trouble(): string | undefined;
  /** Lets other replicas go on with the sessions that can (policy.reattach); the others stay. */
  handOver(): Promise<void>;
  /** Takes no new session from now on. */
  stopTaking(): void;
  /** Ends the owned sessions (`instance_terminated`) and waits for their Closed. */
  close(): Promise<void>;
}
