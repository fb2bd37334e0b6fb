// The one place in Redis where replicas say that they live, and where it is written that one is dead. Knows not when to do so.
import { bounded } from '../session/bounded.js';
import { type Client, Script } from './client.js';

/** How long it stays written that a replica is dead, in milliseconds: a process that was stopped for less learns it when it wakes. */
export const FORGET_MS = 3_600_000;
/** How long the directory outlives the last replica, in milliseconds. */
const DIRECTORY_MS = 86_400_000;

/** One life of a replica: no two are alike, and none comes back. */
export type Life = string;

/** What is written of a replica. Its text changes with each beat. */
export interface Sign {
  readonly life: Life;
  readonly isDead: boolean;
  /** After how long without a new beat it may be believed dead, in milliseconds. */
  readonly leaseMs: number;
  readonly text: string;
}

/** How a beat was taken: `dead` and `taken` (another process has that id) leave the directory as it was. */
export interface Answer {
  readonly outcome: 'held' | 'dead' | 'taken';
  /** When it was taken, in milliseconds of Redis' clock. */
  readonly at: number;
  readonly signs: ReadonlyMap<string, Sign>;
}

// A sign is `<life> <beat> <lease in ms>` or `<life> dead <when, in ms of Redis' clock>`. Only the first beat of a life, 0, replaces a dead one.
const beat = new Script(`
local directory, channel = KEYS[1], ARGV[1]
local id, life, beat, lease, forget, keep = ARGV[2], ARGV[3], ARGV[4], ARGV[5], tonumber(ARGV[6]), ARGV[7]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local outcome = 'held'
local sign = redis.call('HGET', directory, id)
if sign then
  local holder, state = string.match(sign, '^(%S+) (%S+)')
  if state == 'dead' then
    if beat ~= '0' then outcome = 'dead' end
  elseif holder ~= life then
    outcome = 'taken'
  end
end
if outcome == 'held' then
  redis.call('HSET', directory, id, life .. ' ' .. beat .. ' ' .. lease)
  redis.call('PEXPIRE', directory, keep)
  if beat == '0' then redis.call('PUBLISH', channel, id) end
end
local answer = { outcome, now }
local all = redis.call('HGETALL', directory)
for i = 1, #all, 2 do
  local since = string.match(all[i + 1], '^%S+ dead (%d+)$')
  if since and now - tonumber(since) > forget then
    redis.call('HDEL', directory, all[i])
  else
    answer[#answer + 1] = all[i]
    answer[#answer + 1] = all[i + 1]
  end
end
return answer`);

// Writes that a life is over, unless its replica gave another sign than the one expected ('*': any of that life; '': none at all).
const bury = new Script(`
local directory, channel, id, life, expected = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local sign = redis.call('HGET', directory, id) or ''
if expected == '*' then
  if string.match(sign, '^%S+') ~= life then return 0 end
elseif sign ~= expected then
  return 0
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', directory, id, life .. ' dead ' .. string.format('%.0f', now))
redis.call('PUBLISH', channel, id)
return 1`);

export class Directory {
  readonly #client: Client;
  readonly #key: string;
  readonly #patienceMs: number;
  /** Where it is published that somebody was born or has died. */
  readonly channel: string;

  /** Each call rejects if Redis does not answer within `patienceMs` milliseconds. */
  constructor(client: Client, prefix: string, patienceMs: number) {
    this.#client = client;
    this.#key = `${prefix}:{replicas}:signs`;
    this.#patienceMs = patienceMs;
    this.channel = `${prefix}:{replicas}:news`;
  }

  /** Says that a replica lives, and reads what all say, in one step. `count` is 0 for the first beat of a life, and never again. */
  async beat(id: string, life: Life, count: number, leaseMs: number): Promise<Answer> {
    const reply = await this.#run(beat, id, life, count, leaseMs, FORGET_MS, DIRECTORY_MS);
    const [outcome, at, ...rest] = reply as [Answer['outcome'], number, ...string[]];
    const signs = new Map<string, Sign>();
    for (let i = 0; i + 1 < rest.length; i += 2) signs.set(rest[i] as string, readSign(rest[i + 1] as string));
    return { outcome, at, signs };
  }

  /** Writes that a life is over; does nothing if the replica gave another sign than `expected` meanwhile (undefined: none was there). */
  async bury(id: string, life: Life, expected: Sign | undefined): Promise<void> {
    await this.#run(bury, id, life, expected?.text ?? '');
  }

  /** Ends a life in order, whatever its last sign was. */
  async leave(id: string, life: Life): Promise<void> {
    await this.#run(bury, id, life, '*');
  }

  #run(script: Script, ...args: ReadonlyArray<string | number>): Promise<unknown> {
    const reply = script.run(this.#client, [this.#key], [this.channel, ...args]);
    return bounded(reply, this.#patienceMs, () => new Error('Redis did not answer'));
  }
}

function readSign(text: string): Sign {
  const [life = '', state = '', number = ''] = text.split(' ');
  return { life, isDead: state === 'dead', leaseMs: Number(number), text };
}
