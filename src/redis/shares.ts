// The links in Redis, which all replicas see: a hash for each session. Knows no token and no route.
import { Fault } from '../errors.js';
import { lives, MAX_SHARES, MAX_TTL_SECONDS, type Share, shareIn } from '../shares/share.js';
import { type Shares, tooMany } from '../shares/shares.js';
import { type Client, Script } from './client.js';

// Keys: the hash. Arguments: id, link, how many there may be, how long the last of them can live in seconds.
const add = new Script(`
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[4])
return 1`);

export class RedisShares implements Shares {
  readonly #client: Client;
  readonly #prefix: string;

  /** `client` is not closed here. */
  constructor(client: Client, prefix: string) {
    this.#client = client;
    this.#prefix = prefix;
  }

  /** INTERNAL (503) while Redis does not answer, as are the others. */
  async add(share: Share): Promise<void> {
    await this.list(share.session_id);
    const args = [share.share_id, JSON.stringify(share), MAX_SHARES, MAX_TTL_SECONDS];
    const added = await answered(add.run(this.#client, [this.#key(share.session_id)], args));
    if (added === 0) throw tooMany();
  }

  /** Those that live no longer are removed on the way. */
  async list(sessionId: string): Promise<Share[]> {
    const kept = await answered(this.#client.hvals(this.#key(sessionId)));
    const shares = kept.map((text) => JSON.parse(text) as Share).sort((a, b) => (a.share_id < b.share_id ? -1 : 1));
    const over = shares.filter((share) => !lives(share)).map(({ share_id }) => share_id);
    if (over.length > 0) await answered(this.#client.hdel(this.#key(sessionId), ...over));
    return shares.filter((share) => lives(share));
  }

  async revoke(sessionId: string, shareId: string): Promise<boolean> {
    return (await answered(this.#client.hdel(this.#key(sessionId), shareId))) === 1;
  }

  async among(words: readonly string[]): Promise<ReadonlySet<string>> {
    const sought = words.flatMap((word) => {
      const share = shareIn(word);
      return share ? [{ word, ...share }] : [];
    });
    const kept = await Promise.all(sought.map(({ sessionId, shareId }) => this.#client.hexists(this.#key(sessionId), shareId)));
    return new Set(sought.filter((_, i) => kept[i] === 0).map(({ word }) => word));
  }

  #key(sessionId: string): string {
    return `${this.#prefix}:{${sessionId}}:shares`;
  }
}

async function answered<T>(asked: Promise<T>): Promise<T> {
  return asked.catch((cause) => {
    throw new Fault('INTERNAL', 'the links of this session are not known now; try again', { status: 503, cause });
  });
}
