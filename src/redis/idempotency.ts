// Makes the same request, sent twice with one key, happen once on all replicas. Knows no route and not what is made.
import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault } from '../errors.js';
import { type Digest, type Idempotency, KEY_TTL_MS, MAX_KEYS, otherBody } from '../idempotency.js';
import { bounded } from '../session/bounded.js';
import { type Client, Script } from './client.js';

/** After how long what a replica is making may be made by another one, in milliseconds: it has died. */
const MAKING_MS = 30_000;
/** How long what another replica is making is waited for, and how often it is asked for meanwhile, in milliseconds. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 100;
/** How long Redis may take to answer, in milliseconds. */
const ANSWER_MS = 5_000;

// Hash of keys: `<digest> <who makes it> <until when, in ms of Redis' clock> <what was made, or nothing yet>`; and the same keys, by the time
// at which they are forgotten. Keys: hash, sorted set. Arguments: key, digest, who, how long it may be made, how long it is kept, how many are.
const begin = new Script(`
local known, ages, key, digest, who, making = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local old = redis.call('ZRANGEBYSCORE', ages, '-inf', now, 'LIMIT', 0, 100)
if redis.call('ZCARD', ages) - #old >= tonumber(ARGV[6]) then old[#old + 1] = redis.call('ZRANGE', ages, #old, #old)[1] end
for _, each in ipairs(old) do
  redis.call('HDEL', known, each)
  redis.call('ZREM', ages, each)
end
local sign = redis.call('HGET', known, key)
if sign then
  local body, by, till, made = sign:match('^(%S+) (%S+) (%d+) (%S*)$')
  if body ~= digest then return { 'other' } end
  if made ~= '' then return { 'made', made } end
  if by ~= who and tonumber(till) > now then return { 'making' } end
end
redis.call('HSET', known, key, string.format('%s %s %.0f ', digest, who, now + making))
redis.call('ZADD', ages, now + ARGV[5], key)
return { 'yours' }`);

// What was made, or nothing if it failed. Arguments: key, digest, who, what.
const end = new Script(`
local known, ages, key, digest, who, made = KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local sign = redis.call('HGET', known, key)
if not sign or sign:sub(1, #digest + #who + 2) ~= digest .. ' ' .. who .. ' ' then return 0 end
if made ~= '' then return redis.call('HSET', known, key, digest .. ' ' .. who .. ' 0 ' .. made) end
redis.call('HDEL', known, key)
return redis.call('ZREM', ages, key)`);

type Verdict = readonly ['yours'] | readonly ['making'] | readonly ['other'] | readonly ['made', string];

export class RedisIdempotency implements Idempotency {
  readonly #client: Client;
  readonly #keys: readonly [string, string];
  readonly #digestOf: Digest;
  readonly #limits: { readonly keys: number; readonly makingMs: number };

  /** `client` is not closed here. `digestOf` is the same on all replicas. */
  constructor(client: Client, prefix: string, digestOf: Digest, limits = { keys: MAX_KEYS, makingMs: MAKING_MS }) {
    this.#client = client;
    this.#keys = [`${prefix}:{once}:known`, `${prefix}:{once}:ages`];
    this.#limits = limits;
    this.#digestOf = digestOf;
  }

  /** INTERNAL (503, retryable) while Redis does not answer, or another replica takes too long to make it. */
  async once(key: string, body: unknown, make: () => Promise<string>): Promise<string> {
    const own = [createHash('sha256').update(key).digest('base64'), this.#digestOf(key, body), randomUUID()] as const;
    const known = await this.#begin(own);
    if (known !== undefined) return known;
    try {
      const made = await make();
      // Should Redis not hear of it, it is forgotten when its time is over.
      await this.#run(end, [...own, made]).catch(() => {});
      return made;
    } catch (error) {
      await this.#run(end, [...own, '']).catch(() => {});
      throw error;
    }
  }

  /** What was made; undefined if it is to be made now. */
  async #begin(own: readonly string[]): Promise<string | undefined> {
    const deadline = performance.now() + PATIENCE_MS;
    for (; performance.now() < deadline; await sleep(LOOK_MS)) {
      const [verdict, made] = await this.#ask(own);
      if (verdict === 'other') throw otherBody();
      if (verdict !== 'making') return made;
    }
    throw new Fault('INTERNAL', 'another request with this Idempotency-Key is being answered; try again', { status: 503 });
  }

  async #ask(own: readonly string[]): Promise<Verdict> {
    const { keys, makingMs } = this.#limits;
    try {
      return (await this.#run(begin, [...own, makingMs, KEY_TTL_MS, keys])) as Verdict;
    } catch (cause) {
      throw new Fault('INTERNAL', 'what this Idempotency-Key has made is not known now; try again', { status: 503, cause });
    }
  }

  #run(script: Script, args: ReadonlyArray<string | number>): Promise<unknown> {
    return bounded(script.run(this.#client, this.#keys, args), ANSWER_MS, () => new Error('Redis did not answer'));
  }
}
