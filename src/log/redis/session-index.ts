// Which sessions there are: a list outside their slots, which may be behind them and is mended. Knows no writer.
import { Cluster, type Redis } from 'ioredis';
import type { Client } from '../../redis/client.js';
import { indexKey, keysOf, metaPattern, sessionOf } from './keys.js';

/** How long a session may be noted and not yet be there, in milliseconds: longer than making one may take, and than clocks differ. */
const MAKING_MS = 600_000;
/** Records asked for at once, and keys looked at in one step of a scan. */
const RECORDS_AT_ONCE = 1_000;
const SCAN_COUNT = 1_000;

export class SessionIndex {
  readonly #client: Client;
  readonly #prefix: string;
  readonly #key: string;
  #mending: Promise<void> | undefined;

  /** `client` sends what is asked in one turn together. */
  constructor(client: Client, prefix: string) {
    this.#client = client;
    this.#prefix = prefix;
    this.#key = indexKey(prefix);
  }

  /** To be done before a session is made, so that none is that is not noted. */
  async note(sessionId: string): Promise<void> {
    await this.#client.zadd(this.#key, Date.now(), sessionId);
  }

  async forget(sessionId: string): Promise<void> {
    await this.#client.zrem(this.#key, sessionId);
  }

  /** The records of all sessions as they are written, by id ascending. Drops from the list what is not there. */
  async records(): Promise<Array<{ readonly sessionId: string; readonly text: string }>> {
    const noted = await this.#client.zrange(this.#key, '0', '-1', 'WITHSCORES');
    const found: Array<{ sessionId: string; text: string }> = [];
    const gone: string[] = [];
    for (let i = 0; i < noted.length; i += 2 * RECORDS_AT_ONCE) {
      const some = noted.slice(i, i + 2 * RECORDS_AT_ONCE);
      const ids = some.filter((_, at) => at % 2 === 0);
      const texts = await Promise.all(ids.map((id) => this.#text(id)));
      for (const [at, sessionId] of ids.entries()) {
        const text = texts[at];
        if (text) found.push({ sessionId, text });
        else if (Number(some[2 * at + 1]) < Date.now() - MAKING_MS) gone.push(sessionId);
      }
    }
    if (gone.length > 0) await this.#client.zrem(this.#key, ...gone);
    return found.sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1));
  }

  async #text(sessionId: string): Promise<string | null> {
    const keys = keysOf(this.#prefix, sessionId);
    return keys ? this.#client.hget(keys.meta, 'record') : null;
  }

  /** Notes the sessions that the list lacks: it may have been lost without them. One at a time. */
  mend(): Promise<void> {
    this.#mending ??= this.#mend().finally(() => {
      this.#mending = undefined;
    });
    return this.#mending;
  }

  async #mend(): Promise<void> {
    const nodes = this.#client instanceof Cluster ? this.#client.nodes('master') : [this.#client];
    for (const node of nodes) await this.#mendFrom(node);
  }

  async #mendFrom(node: Redis): Promise<void> {
    let cursor = '0';
    do {
      const [next, keys] = await node.scan(cursor, 'MATCH', metaPattern(this.#prefix), 'COUNT', SCAN_COUNT, 'TYPE', 'hash');
      const ids = keys.flatMap((key) => sessionOf(this.#prefix, key) ?? []);
      if (ids.length > 0) await this.#client.zadd(this.#key, 'NX', ...ids.flatMap((id) => [`${Date.now()}`, id]));
      cursor = next;
    } while (cursor !== '0');
  }
}
