// Counts the sessions of each agent over all replicas: each has a place that lapses unless its replica renews it. Knows no session.
import { bounded } from '../session/bounded.js';
import type { Quota } from '../session/quota.js';
import { type Client, Script } from './client.js';

/** After how long a place is free whose replica renews it no more, in milliseconds: so long a dead replica's sessions count on that nobody closes. */
const LAPSE_MS = 15_000;
/** How often places are renewed, in milliseconds. */
const RENEW_MS = 5_000;
/** How long Redis may take to answer, in milliseconds. */
const ANSWER_MS = 5_000;

const now = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

// Of one agent: its places are a sorted set of sessions, by the time at which they lapse. Arguments: how long a place is kept, session, limit.
const take = new Script(`${now}
local places, keep, session, limit = KEYS[1], tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
redis.call('ZREMRANGEBYSCORE', places, '-inf', now)
if not redis.call('ZSCORE', places, session) and redis.call('ZCARD', places) >= limit then return 0 end
redis.call('ZADD', places, now + keep, session)
redis.call('PEXPIRE', places, keep)
return 1`);

// Arguments: how long a place is kept, sessions.
const renew = new Script(`${now}
for i = 2, #ARGV do redis.call('ZADD', KEYS[1], now + ARGV[1], ARGV[i]) end
return redis.call('PEXPIRE', KEYS[1], ARGV[1])`);

export class RedisQuota implements Quota {
  readonly #client: Client;
  readonly #prefix: string;
  /** The agents of the sessions that run here, by the sessions' ids. */
  readonly #held = new Map<string, string>();
  readonly #renewing: NodeJS.Timeout;

  /** `client` is not closed here. */
  constructor(client: Client, prefix: string) {
    this.#client = client;
    this.#prefix = prefix;
    this.#renewing = setInterval(() => void this.#renewAll(), RENEW_MS).unref();
  }

  async take(agentId: string, sessionId: string, limit: number): Promise<boolean> {
    const isTaken = (await this.#run(take, agentId, sessionId, limit)) === 1;
    if (isTaken) this.#held.set(sessionId, agentId);
    return isTaken;
  }

  async hold(agentId: string, sessionId: string): Promise<void> {
    this.#held.set(sessionId, agentId);
    await this.#run(renew, agentId, sessionId).catch(() => {}); // the next renewal makes good for it
  }

  give(agentId: string, sessionId: string): void {
    this.#held.delete(sessionId);
    this.#client.zrem(this.#key(agentId), sessionId).catch(() => {}); // it lapses
  }

  forget(sessionId: string): void {
    this.#held.delete(sessionId);
  }

  close(): void {
    clearInterval(this.#renewing);
  }

  /** What was lost in Redis, or has lapsed while it was away, is counted again. */
  async #renewAll(): Promise<void> {
    const byAgent = new Map<string, string[]>();
    for (const [sessionId, agentId] of this.#held) byAgent.set(agentId, [...(byAgent.get(agentId) ?? []), sessionId]);
    await Promise.allSettled([...byAgent].map(([agentId, sessionIds]) => this.#run(renew, agentId, ...sessionIds)));
  }

  #run(script: Script, agentId: string, ...args: ReadonlyArray<string | number>): Promise<unknown> {
    const reply = script.run(this.#client, [this.#key(agentId)], [LAPSE_MS, ...args]);
    return bounded(reply, ANSWER_MS, () => new Error('Redis did not answer'));
  }

  #key(agentId: string): string {
    return `${this.#prefix}:quota:{${encodeURIComponent(agentId)}}`;
  }
}
