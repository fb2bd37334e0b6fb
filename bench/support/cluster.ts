// Two replicas on one Redis, as a bench needs them: what a session of the first looks like through the other. Knows no question.
import { type RedisServer, startRedis } from '../../test/support/redis.js';
import type { Line } from '../load/jobs.js';
import { Gateway } from '../peers/gateway.js';

/** A key that both believe tokens of. */
const AUTH_JWT_SECRET = 'a secret of the bench, long enough for HS256';

export class Pair {
  readonly owner: Gateway;
  readonly other: Gateway;
  readonly #redis: RedisServer;

  private constructor(redis: RedisServer, owner: Gateway, other: Gateway) {
    this.#redis = redis;
    this.owner = owner;
    this.other = other;
  }

  /** Redis writes its file once a second. */
  static async start(env: Readonly<Record<string, string>> = {}): Promise<Pair> {
    const redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'everysec');
    const shared = { REDIS_URL: redis.url, AUTH_JWT_SECRET, ...env };
    return new Pair(redis, await Gateway.start(shared), await Gateway.start(shared));
  }

  /** The same session, through the replica that does not run it. */
  elsewhere(line: Line): Line {
    return { ...line, url: this.other.through(line.url) };
  }

  async close(): Promise<void> {
    await Promise.all([this.owner.close(), this.other.close()]);
    await this.#redis.dispose();
  }
}
