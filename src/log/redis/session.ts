// One session in this process, whoever writes to it: what is known of it, followers, readers. Knows no script.
//
// Followers are told by the writer, where it is here, or else by the session's channel. What the channel tells must follow on what was
// told; where it does not, or where the channel may have missed something, the stream is read until it does.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Listener } from '../../redis/channels.js';
import type { Client } from '../../redis/client.js';
import { type Extent, type Follower, LogError, type LogReader, type Numbered } from '../log.js';
import type { SessionKeys } from './keys.js';
import { type Message, Messages, type Told, toldAfter } from './news.js';
import { Behind, FIRST_PAUSE_MS, LONGEST_PAUSE_MS, patiently } from './patience.js';
import { readEntry, Stretch } from './stretch.js';
import type { RedisTroubles } from './troubles.js';
import type { RedisWriter } from './writer.js';

/** Most messages, and bytes of them, that wait while the stream is read; what comes then is read from the stream, too. */
const HELD_MESSAGES = 256;
const HELD_BYTES = 4 * 1024 * 1024;
/** What is read at once of a gap. */
const GAP_PIECE = { frames: 1_000, bytes: 1024 * 1024 };

/** What a session needs of the log that it belongs to. */
export interface Surroundings {
  /** For reading alone. */
  readonly client: Client;
  readonly troubles: RedisTroubles;
  listen(channels: readonly string[], listener: Listener): () => void;
  /** Tells that the session began or ceased to need being held in memory. */
  changed(session: RedisSession): void;
}

/** What Redis says of a session. */
export interface Found extends Extent {
  readonly epoch: number;
}

export class RedisSession implements LogReader, Listener {
  readonly id: string;
  readonly keys: SessionKeys;
  readonly #around: Surroundings;
  readonly #followers = new Set<Follower>();
  readonly #gapListeners = new Set<(after: number, upTo: number) => void>();
  #shown: Extent;
  #writer: RedisWriter | undefined;
  #stopListening: (() => void) | undefined;
  #filling: Promise<void> | undefined;
  #fillAgain = false;
  readonly #messages = new Messages();
  #held: Message[] = [];
  #heldBytes = 0;
  #gone: LogError | undefined;

  constructor(id: string, keys: SessionKeys, shown: Extent, around: Surroundings) {
    this.id = id;
    this.keys = keys;
    this.#shown = shown;
    this.#around = around;
  }

  /** Whether it may not be forgotten: someone here writes or follows. */
  get needed(): boolean {
    return !this.#gone && (this.#writer !== undefined || this.#followers.size > 0);
  }

  get writer(): RedisWriter | undefined {
    return this.#writer;
  }

  extent(): Extent {
    return this.#shown;
  }

  async read(after: number, limit: { readonly frames: number; readonly bytes: number }): Promise<Numbered[]> {
    return this.#asking(async () => {
      const found = await this.#findNow();
      const from = Math.max(after, found.oldest - 1);
      return new Stretch(this.#around.client, this.keys.log, limit).read(from, this.#shown.current);
    });
  }

  async latest(kind: string): Promise<Numbered | undefined> {
    return this.#asking(async () => {
      const { oldest } = await this.#findNow();
      const sequence = Number((await this.#around.client.hget(this.keys.meta, `kind:${kind}`)) ?? 0);
      if (sequence < oldest) return undefined;
      const [raw] = await this.#around.client.xrangeBuffer(this.keys.log, `${sequence}`, `${sequence}`);
      return raw && readEntry(raw);
    });
  }

  follow(follower: Follower): () => void {
    // A wrapper, so that one function that follows twice is told twice and stops once.
    const own: Follower = (...told) => follower(...told);
    this.#followers.add(own);
    this.#tune();
    return () => {
      this.#followers.delete(own);
      this.#tune();
    };
  }

  onGap(listener: (after: number, upTo: number) => void): () => void {
    const own = (after: number, upTo: number) => listener(after, upTo);
    this.#gapListeners.add(own);
    return () => void this.#gapListeners.delete(own);
  }

  /** Asks Redis what there is. LogError `unknown_session`; Behind where it is missing and was not removed: its owner will write it again. */
  async find(): Promise<Found> {
    const { client } = this.#around;
    const [epoch, current, oldest] = await client.hmget(this.keys.meta, 'epoch', 'current', 'oldest');
    if (epoch == null && this.needed && (await client.exists(this.keys.gone)) === 0) throw new Behind();
    if (epoch == null) throw this.#end(new LogError('unknown_session', `there is no session ${this.id}`));
    return { epoch: Number(epoch), current: Number(current), oldest: Number(oldest) };
  }

  /** What is kept now. Where nobody here is told of appends, that is what Redis says. */
  async refresh(): Promise<void> {
    await this.#asking(() => this.#findNow());
  }

  async #findNow(): Promise<Found> {
    const found = await this.find();
    this.#learn(found);
    if (found.current < this.#shown.current) throw new Behind();
    return found;
  }

  /** Those who follow are told of what is new in order; that what they were told of has left the log (`shed`), they learn here. */
  #learn({ current, oldest }: Extent): void {
    const known = this.#shown.current;
    if (!this.needed || current === known) this.#shown = { current, oldest };
    else if (oldest > known) this.#shown = { current: known, oldest: known + 1 };
  }

  #asking<T>(ask: () => Promise<T>): Promise<T> {
    return patiently(`session ${this.id}`, this.#around.troubles, async () => {
      if (this.#gone) throw this.#gone;
      return ask();
    });
  }

  /** A writer of this process takes the session: followers are told of all before it, then by it. */
  async own(writer: RedisWriter, claimed: Extent): Promise<void> {
    this.#writer = writer;
    this.#tune();
    await this.#filling;
    if (this.#shown.current < claimed.current && this.#followers.size > 0) await this.#asking(() => this.#readGap());
    if (this.#shown.current <= claimed.current) this.#shown = claimed;
  }

  disown(writer: RedisWriter): void {
    if (this.#writer !== writer) return;
    this.#writer = undefined;
    this.#tune();
  }

  /** What an append here has taken. */
  took(told: Told): void {
    this.#tell(told);
  }

  jumped(extent: Extent): void {
    this.#shown = extent;
  }

  /** It is known to be gone, or nobody may ask any more. */
  end(reason: LogError): void {
    this.#end(reason);
  }

  #end(reason: LogError): LogError {
    this.#gone ??= reason;
    this.#tune();
    return this.#gone;
  }

  /** Done now and then, with what Redis says: finds what no message told. */
  look(found: Found): void {
    if (!this.#writer && found.current > this.#shown.current) this.#fill();
  }

  /** Listens while somebody follows who is not told by a writer here. */
  #tune(): void {
    const wanted = this.#followers.size > 0 && !this.#writer && !this.#gone;
    if (wanted && !this.#stopListening) this.#stopListening = this.#around.listen([this.keys.live, this.keys.bodies], this);
    if (!wanted) {
      this.#stopListening?.();
      this.#stopListening = undefined;
      this.#messages.reset();
      this.#drop();
    }
    this.#around.changed(this);
  }

  listening(): void {
    this.#messages.reset();
    this.#fill();
  }

  /** What cannot be read is a sign that there is news in the stream. */
  heard(part: Buffer, channel: string): void {
    const message = channel === this.keys.live ? this.#messages.hearNews(part) : this.#messages.hearBody(part);
    if (message === 'unreadable') this.#fill();
    else if (message && this.#filling) this.#hold(message);
    else if (message) this.#take(message);
  }

  #hold(message: Message): void {
    this.#held.push(message);
    this.#heldBytes += message.bytes;
    if (this.#held.length <= HELD_MESSAGES && this.#heldBytes <= HELD_BYTES) return;
    this.#drop();
    this.#fillAgain = true;
  }

  #drop(): void {
    this.#held = [];
    this.#heldBytes = 0;
  }

  /** Tells what is new in a message, if it follows on what was told. */
  #take(message: Message): void {
    if (message.first <= this.#shown.current + 1) {
      this.#tellNew(message.calls);
      return;
    }
    this.#hold(message);
    this.#fill();
  }

  #tellNew(calls: readonly Told[]): void {
    for (const call of calls) {
      const told = toldAfter(call, this.#shown.current);
      if (told) this.#tell(told);
    }
  }

  #fill(): void {
    this.#fillAgain = true;
    this.#filling ??= this.#fillGaps().finally(() => {
      this.#filling = undefined;
      if (this.#fillAgain && this.#stopListening) this.#fill();
    });
  }

  /** Reads from the stream until it has told all that Redis had, then goes on with what was heard meanwhile. */
  async #fillGaps(): Promise<void> {
    for (let pause = FIRST_PAUSE_MS; this.#fillAgain && this.#stopListening; ) {
      this.#fillAgain = false;
      try {
        await this.#readGap();
        pause = FIRST_PAUSE_MS;
      } catch {
        this.#fillAgain = true;
        await sleep(pause);
        pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
      }
    }
    for (const message of this.#takeHeld()) this.#take(message);
  }

  #takeHeld(): Message[] {
    const held = this.#held;
    this.#drop();
    return held;
  }

  async #readGap(): Promise<void> {
    const { current, oldest } = await this.find();
    const after = this.#shown.current;
    if (current <= after) return;
    this.#warn(after, current);
    const stretch = new Stretch(this.#around.client, this.keys.log, GAP_PIECE);
    for (let place = Math.max(after, oldest - 1); place < current; ) {
      const entries = await stretch.read(place, current);
      place = entries.at(-1)?.sequence ?? current;
      this.#tell({ entries, extent: { oldest: Math.max(oldest, this.#shown.oldest), current: place }, places: [] });
    }
  }

  #warn(after: number, upTo: number): void {
    for (const listener of [...this.#gapListeners]) harmless(() => listener(after, upTo));
  }

  #tell({ entries, extent, places }: Told): void {
    this.#shown = extent;
    for (const follower of [...this.#followers]) harmless(() => follower(entries, extent, places));
  }
}

/** Who throws harms nobody else. */
function harmless(call: () => void): void {
  try {
    call();
  } catch {
    // It was told.
  }
}
