// Messages on their way to one life of one replica: in order, each once, one batch at a time. Knows not what they say.
//
// A batch whose connection broke may be in the inbox or not. It is handed over again with the same numbers, and the receiver drops
// copies. What its sender was told has failed is never taken later: the script refuses a batch after its bound, by Redis' own clock,
// whose distance from ours is known from the last answer, and never thought larger than it is.
import { bounded } from '../session/bounded.js';
import { BusError } from '../session/replicas/cluster.js';
import { type Client, ready, Script } from './client.js';
import { type Letter, writeLetters } from './letters.js';

/** Most entries of an inbox, and about how many bytes it may have when it has more than a few; while it is full, senders wait. */
const INBOX_ENTRIES = 1024;
const INBOX_BYTES = 64 * 1024 * 1024;
/** How long an inbox outlives its last message, in milliseconds. */
const INBOX_MS = 600_000;
/** Messages, and bytes of them, that may wait for one replica. */
const WAITING_MESSAGES = 10_000;
const WAITING_BYTES = 32 * 1024 * 1024;
/** Messages, and bytes of them past the first, that are handed over in one step. */
const BATCH_MESSAGES = 1000;
const BATCH_BYTES = 1024 * 1024;
/** How long one attempt waits for Redis, in milliseconds. */
const ATTEMPT_MS = 2000;
/** The pause after an attempt that failed, in milliseconds. */
const RETRY_MS = 20;

// Refuses a batch whose time is over ('late'), or for which there is no room ('full'). Answers with Redis' clock, in milliseconds.
const handOver = new Script(`
local inbox, entries, bytes, keep, limit = KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if now >= limit then return { 'late', now } end
local length = redis.call('XLEN', inbox)
if length >= entries then return { 'full', now } end
if length > 8 then
  local size = redis.pcall('MEMORY', 'USAGE', inbox)
  if type(size) == 'number' and size >= bytes then return { 'full', now } end
end
redis.call('XADD', inbox, '*', 'from', ARGV[5], 'sender', ARGV[6], 'letters', ARGV[7])
redis.call('PEXPIRE', inbox, keep)
return { 'taken', now }`);

interface Waiting {
  readonly message: Uint8Array;
  /** When it is given up, in milliseconds of the monotonic clock. */
  readonly deadline: number;
  readonly settle: (error?: BusError) => void;
  /** Given at its first attempt. */
  number: number | undefined;
  /** Whether Redis may have it although it did not say so. */
  isDoubtful: boolean;
  isSettled: boolean;
}

export interface LaneParts {
  readonly client: Client;
  readonly from: string;
  /** Unlike any other sender's, ever. */
  readonly sender: string;
  readonly to: string;
  /** The key of the receiver's inbox; undefined if there is no such replica. Rejects while that cannot be known. */
  inbox(): Promise<string | undefined>;
  /** There is none: the lane is to be ended. */
  gone(): void;
}

export class Lane {
  readonly #parts: LaneParts;
  #waiting: Waiting[] = [];
  #bytes = 0;
  #inbox: string | undefined;
  /** The last number given, and the last of a message that Redis has. */
  #given = 0;
  #taken = 0;
  /** Redis' clock less ours, in milliseconds, at most. Unknown after a failure: it may be another Redis then. */
  #ahead: number | undefined;
  #pumping: Promise<void> | undefined;
  #end: BusError | undefined;

  constructor(parts: LaneParts) {
    this.#parts = parts;
  }

  send(message: Uint8Array, timeoutMs: number): Promise<void> {
    if (this.#end) return Promise.reject(this.#end);
    if (this.#waiting.length >= WAITING_MESSAGES || this.#bytes + message.byteLength > WAITING_BYTES) {
      return Promise.reject(new BusError('unavailable', `too much waits for replica ${this.#parts.to}`));
    }
    return new Promise((resolve, reject) => {
      this.#put(message, timeoutMs, (error) => (error ? reject(error) : resolve()));
      this.#pumping ??= this.#pump();
    });
  }

  /** Resolves when nothing waits. */
  async idle(): Promise<void> {
    await this.#pumping;
  }

  /** Gives up all that waits. */
  end(error: BusError): void {
    this.#end ??= error;
    for (const waiting of this.#waiting) waiting.settle(this.#end);
    this.#waiting = [];
  }

  #put(message: Uint8Array, timeoutMs: number, settle: (error?: BusError) => void): void {
    const timer = setTimeout(() => waiting.settle(this.#tooLate(waiting)), timeoutMs);
    const waiting: Waiting = {
      message,
      deadline: performance.now() + timeoutMs,
      number: undefined,
      isDoubtful: false,
      isSettled: false,
      settle: (error) => {
        if (waiting.isSettled) return;
        waiting.isSettled = true;
        clearTimeout(timer);
        this.#bytes -= message.byteLength;
        settle(error);
      },
    };
    this.#bytes += message.byteLength;
    this.#waiting.push(waiting);
  }

  #tooLate({ isDoubtful }: Waiting): BusError {
    if (!isDoubtful) return new BusError('unavailable', `Redis did not take a message for replica ${this.#parts.to} in time`);
    return new BusError('unknown', `Redis did not say in time whether it has a message for replica ${this.#parts.to}`);
  }

  /** That it has ended is known in the turn in which nothing waited any more: what is sent in the next begins it again. */
  async #pump(): Promise<void> {
    while (this.#end === undefined) {
      this.#waiting = this.#waiting.filter((waiting) => !waiting.isSettled);
      if (this.#waiting.length === 0) break;
      const isDone = await this.#attempt().catch(() => {
        this.#ahead = undefined;
        return false;
      });
      if (!isDone) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
    this.#pumping = undefined;
  }

  /** Hands over one batch. False if it was refused, for now. */
  async #attempt(): Promise<boolean> {
    await ready(this.#parts.client, ATTEMPT_MS);
    this.#inbox ??= await this.#parts.inbox();
    if (this.#inbox === undefined) this.#parts.gone();
    if (this.#inbox === undefined || this.#end) return true;
    if (this.#ahead === undefined) await this.#handOver(this.#inbox, 0, Buffer.alloc(0));
    const batch = this.#batch();
    if (batch.length === 0) return true;
    const limit = Math.min(...batch.map(({ deadline }) => deadline)) + (this.#ahead ?? Number.NaN);
    const certain = batch.filter(({ isDoubtful }) => !isDoubtful);
    for (const waiting of batch) waiting.isDoubtful = true;
    const outcome = await this.#handOver(this.#inbox, Math.floor(limit), writeLetters(this.#number(batch)));
    if (outcome !== 'taken') {
      for (const waiting of certain) waiting.isDoubtful = false;
      return false;
    }
    this.#taken = batch.at(-1)?.number ?? this.#taken;
    for (const waiting of batch) waiting.settle();
    return true;
  }

  #batch(): Waiting[] {
    const batch: Waiting[] = [];
    let bytes = 0;
    for (const waiting of this.#waiting) {
      if (waiting.isSettled) continue;
      bytes += waiting.message.byteLength;
      if (batch.length === BATCH_MESSAGES || (batch.length > 0 && bytes > BATCH_BYTES)) break;
      batch.push(waiting);
    }
    return batch;
  }

  #number(batch: readonly Waiting[]): Letter[] {
    let after = this.#taken;
    return batch.map((waiting) => {
      waiting.number ??= ++this.#given;
      const letter = { number: waiting.number, after, message: waiting.message };
      after = waiting.number;
      return letter;
    });
  }

  async #handOver(inbox: string, limit: number, letters: Buffer): Promise<string> {
    const { client, from, sender } = this.#parts;
    const reply = handOver.run(client, [inbox], [INBOX_ENTRIES, INBOX_BYTES, INBOX_MS, limit, from, sender, letters]);
    const [outcome, now] = (await bounded(reply, ATTEMPT_MS, () => new Error('Redis did not answer'))) as [string, number];
    this.#ahead = now - performance.now();
    return outcome;
  }
}
