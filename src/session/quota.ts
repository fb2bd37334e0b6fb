// How many sessions of one agent may run, all replicas together: the port. Knows no Redis and no agent.

export interface Quota {
  /** Counts one more of an agent's sessions, if there are fewer than `limit`. It counts until it is given back, or its replica has died. */
  take(agentId: string, sessionId: string, limit: number): Promise<boolean>;
  /** Counts a session that runs here from now on, whatever the limit: it was another replica's. Never rejects. */
  hold(agentId: string, sessionId: string): Promise<void>;
  /** It has ended, here or with the replica that it ran on. */
  give(agentId: string, sessionId: string): void;
  /** It is no longer this replica's to count. */
  forget(sessionId: string): void;
}
