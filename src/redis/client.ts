// What is done alike with every ioredis client: waiting until it is connected, a second connection, a script. Knows no key.
import { createHash } from 'node:crypto';
import { Cluster, type Redis } from 'ioredis';
import { bounded } from '../session/bounded.js';

export type Client = Redis | Cluster;

const connecting = new WeakMap<Client, Promise<void>>();

/** Resolves when commands go out at once; rejects if that takes longer than `ms` milliseconds or the client was closed. */
export async function ready(client: Client, ms: number): Promise<void> {
  if (client.status === 'ready') return;
  if (client.status === 'end') throw new Error('the connection to Redis was closed');
  if (client.status === 'wait') client.connect().catch(() => {});
  await bounded(connected(client), ms, () => new Error('there is no connection to Redis'));
}

/** One for all who wait, however many they are. */
function connected(client: Client): Promise<void> {
  const known = connecting.get(client);
  if (known) return known;
  const promise = new Promise<void>((resolve) => {
    const over = () => {
      client.off('ready', over).off('end', over);
      connecting.delete(client);
      resolve();
    };
    client.on('ready', over).on('end', over);
  });
  connecting.set(client, promise);
  return promise;
}

/**
 * A connection of its own to the same Redis, which gives up what was under way when it breaks, subscriptions among it. Its errors are met
 * again by its commands.
 */
export function another(client: Client): Client {
  const own = { autoResendUnfulfilledCommands: false, autoResubscribe: false, lazyConnect: false };
  const copy = client instanceof Cluster ? client.duplicate([], { lazyConnect: false, redisOptions: own }) : client.duplicate(own);
  copy.on('error', () => {});
  return copy;
}

/** A Lua script that is sent whole only where Redis has not got it. */
export class Script {
  readonly #text: string;
  readonly #sha: string;

  constructor(text: string) {
    this.#text = text;
    this.#sha = createHash('sha1').update(text).digest('hex');
  }

  /** All keys must be in one slot. */
  async run(client: Client, keys: readonly string[], args: ReadonlyArray<string | number | Buffer>): Promise<unknown> {
    try {
      return await client.evalsha(this.#sha, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return client.eval(this.#text, keys.length, ...keys, ...args);
    }
  }
}
