// The log that several replicas share, in Redis: one server, a cluster, or a master that Sentinels watch. Knows no terminal.
import { randomUUID } from 'node:crypto';
import { Channels } from '../../redis/channels.js';
import { type Client, ready } from '../../redis/client.js';
import { connect, type Node, type RedisAddress, readAddress } from '../../redis/connect.js';
import { FIRST_EPOCH, type Log, LogError, type LogReader, type LogWriter, type Retention, type SessionRecord } from '../log.js';
import { whyNotDurable } from './durability.js';
import { formatTrouble } from './format.js';
import { keysOf, type SessionKeys } from './keys.js';
import { Behind, PATIENCE_MS, patiently } from './patience.js';
import * as scripts from './scripts.js';
import { type Found, RedisSession, type Surroundings } from './session.js';
import { SessionIndex } from './session-index.js';
import type { TailBudget } from './tail.js';
import { RedisTroubles } from './troubles.js';
import { type Claimed, KEEP_MS, RedisWriter } from './writer.js';

const LOOK_MS = 5_000;
/** After how long without an answer a connection is given up, in milliseconds. */
const SILENCE_MS = 10_000;
/** How long it is known that a session was removed, in milliseconds: a writer that was stopped for less learns it when it wakes. */
const GONE_MS = 3_600_000;
/** How long `close` waits for what was appended, in milliseconds; what is not taken then is rejected as `unavailable`. */
const CLOSE_PATIENCE_MS = 5_000;

export interface RedisLogOptions extends RedisAddress {
  /** Of every key: `<prefix>:{session}:…`. */
  readonly prefix: string;
  /** Redis loses nothing that it took: then a session whose owner died goes on with its history whatever Redis went through. False if absent. */
  readonly durable?: boolean;
  /** Milliseconds since the epoch, for retention. */
  readonly now?: () => number;
  /** Called once for each new trouble, with a sentence. */
  readonly onTrouble?: (sentence: string, sessionId?: string) => void;
  /** What was told as trouble is over. */
  readonly onRecovered?: () => void;
  readonly logger?: { warn(fields: object, message: string): void };
  /** How long a session's keys outlive its retention if nobody writes to it or removes it, in milliseconds; KEEP_MS if absent. */
  readonly keepMs?: number;
  /** How often every session that somebody here needs is looked at in Redis, in milliseconds; often, for tests. */
  readonly lookMs?: number;
}

/**
 * Opens the log. Throws RedisAddressError for an address that is none; rejects with LogError `unavailable` if Redis does not answer
 * within 5 s, is older than version 7, keeps what a later version of the gateway wrote, or is `durable` and not set up to be.
 */
export async function openRedisLog(options: RedisLogOptions): Promise<Log> {
  const log = new RedisLog(options);
  try {
    await log.open();
    return log;
  } catch (error) {
    await log.close();
    throw error;
  }
}

class RedisLog implements Log {
  private readonly options: RedisLogOptions;
  private readonly name: string;
  private readonly keepMs: number;
  /** Batches and claims go out on one connection, all that is read on another: a long replay does not hold appends up. */
  private readonly writing: Client;
  private readonly reading: Client;
  private readonly channels: Channels;
  private readonly index: SessionIndex;
  private readonly troubles: RedisTroubles;
  private readonly around: Surroundings;
  private readonly tails: TailBudget = { bytes: 0 };
  /** Every session that anybody here has, so that all have the same; and those which may not be forgotten. */
  private readonly known = new Map<string, WeakRef<RedisSession>>();
  private readonly needed = new Set<RedisSession>();
  private readonly loading = new Map<string, Promise<RedisSession>>();
  private readonly forgotten = new FinalizationRegistry<string>((id) => {
    if (!this.known.get(id)?.deref()) this.known.delete(id);
  });
  private readonly looks: NodeJS.Timeout;
  private closed: Promise<void> | undefined;

  constructor(options: RedisLogOptions) {
    this.options = options;
    this.keepMs = options.keepMs ?? KEEP_MS;
    const target = readAddress(options);
    this.name = target.name;
    this.troubles = new RedisTroubles(target.name, options.onTrouble, options.onRecovered);
    this.writing = connect(options, { socketTimeout: SILENCE_MS });
    this.reading = connect(options, { socketTimeout: SILENCE_MS, enableAutoPipelining: true });
    this.channels = new Channels(target, () => nodesOf(this.reading));
    this.index = new SessionIndex(this.reading, options.prefix);
    this.around = {
      client: this.reading,
      troubles: this.troubles,
      listen: (channels, listener) => this.channels.listen(channels, listener),
      changed: (session) => this.changed(session),
    };
    this.looks = setInterval(() => void this.lookAtAll(), options.lookMs ?? LOOK_MS).unref();
  }

  async open(): Promise<void> {
    this.writing.on('error', (error: Error) => this.troubles.failed(error));
    try {
      await Promise.all([ready(this.writing, PATIENCE_MS), ready(this.reading, PATIENCE_MS)]);
    } catch (error) {
      this.troubles.away();
      throw new LogError('unavailable', this.troubles.sentence() ?? 'Redis cannot be reached', { cause: error });
    }
    await this.demandShardedChannels();
    const unread = await patiently(this.name, this.troubles, () => formatTrouble(this.writing, this.options.prefix));
    if (unread) throw new LogError('unavailable', `what Redis (${this.name}) keeps under ${this.options.prefix} cannot be used: ${unread}`);
    const contradiction = await this.contradiction();
    if (contradiction) throw new LogError('unavailable', contradiction);
    this.writing.on('close', () => {
      if (!this.closed) this.troubles.away();
    });
    this.writing.on('ready', () => this.backAgain());
    this.backAgain();
  }

  private async demandShardedChannels(): Promise<void> {
    const [command] = (await patiently(this.name, this.troubles, () => this.reading.call('COMMAND', 'INFO', 'spublish'))) as unknown[];
    if (!command) throw new LogError('unavailable', `Redis (${this.name}) is too old: version 7 or later is needed, or Valkey`);
  }

  private async contradiction(): Promise<string | undefined> {
    return this.options.durable ? patiently(this.name, this.troubles, () => whyNotDurable(this.writing)) : undefined;
  }

  /** After it was away, the list of sessions may be one from before. */
  private backAgain(): void {
    this.troubles.back();
    this.index.mend().catch(() => {});
  }

  async create(sessionId: string, record: SessionRecord, retention: Retention, after = 0): Promise<LogWriter> {
    const keys = this.keys(sessionId);
    if (!keys) throw new LogError('unavailable', 'the session id must have 1 to 255 characters as part of a key');
    const owner = randomUUID();
    const text = JSON.stringify(record);
    const keepMs = Math.ceil(retention.seconds * 1000 + this.keepMs);
    const args = [owner, retention.frames, retention.seconds, keepMs, text, after];
    await this.ask(sessionId, () => this.index.note(sessionId));
    const isNew = await this.ask(sessionId, () => scripts.create.run(this.writing, [keys.meta, keys.gone], args));
    if (!isNew) throw new LogError('exists', `the session ${sessionId} exists already`);
    const session = this.know(new RedisSession(sessionId, keys, { oldest: after + 1, current: after }, this.around));
    return this.writer(session, { owner, epoch: FIRST_EPOCH, current: after, retention, record: text }, after + 1);
  }

  async claim(sessionId: string, ifEpoch?: number, record?: SessionRecord): Promise<LogWriter> {
    const session = await this.session(sessionId);
    const former = session.writer;
    // What a writer here was given goes first.
    await Promise.race([former?.drained(), new Promise((late) => setTimeout(late, PATIENCE_MS).unref())]);
    const { meta, log, times } = session.keys;
    const owner = randomUUID();
    const isDurable = this.options.durable && (await this.contradiction()) === undefined;
    const asked = record ? JSON.stringify(record) : '';
    const args = [owner, ifEpoch ?? '', this.keepMs, asked, session.extent().current, isDurable ? 1 : ''];
    const answer = await this.ask(sessionId, () => scripts.claim.run(this.writing, [meta, log, times], args));
    const [verdict, epoch, current, oldest, frames, seconds, text] = answer as [string, number, number, number, string, string, string];
    if (verdict === 'unknown') throw this.gone(session);
    if (verdict === 'other') {
      throw new LogError('fenced', `another writer claimed session ${sessionId}: its epoch is ${epoch}, not ${ifEpoch}`);
    }
    former?.end(new LogError('fenced', `another writer claimed session ${sessionId}`));
    if (oldest === current + 1 && current > scripts.LOSS_JUMP) this.tellOfJump(sessionId, current);
    const retention = { frames: Number(frames), seconds: Number(seconds) };
    return this.writer(session, { owner, epoch, current, retention, record: text }, oldest);
  }

  private async writer(session: RedisSession, claimed: Claimed, oldest: number): Promise<LogWriter> {
    const { troubles, tails, writing } = this;
    const writer: RedisWriter = new RedisWriter(
      {
        id: session.id,
        keys: session.keys,
        client: writing,
        reader: session,
        troubles,
        tails,
        keepMs: this.keepMs,
        now: this.options.now ?? Date.now,
        took: (told) => session.took(told),
        // The list of sessions may have been lost with what the session lost.
        resumed: () => void this.index.note(session.id).catch(() => {}),
        jumped: (extent) => {
          this.tellOfJump(session.id, extent.current);
          session.jumped(extent);
        },
        ended: (ended, reason) => {
          session.disown(ended);
          if (reason.failure === 'unknown_session') this.gone(session);
        },
      },
      claimed,
    );
    await session.own(writer, { oldest, current: claimed.current });
    return writer;
  }

  private tellOfJump(sessionId: string, current: number): void {
    const message = 'Redis may have lost numbers that this session had given; it goes on far above them, without its history';
    this.options.logger?.warn({ session_id: sessionId, current_sequence: current }, message);
  }

  async reader(sessionId: string): Promise<LogReader> {
    const session = await this.session(sessionId);
    if (!session.needed) await session.refresh();
    return session;
  }

  async record(sessionId: string): Promise<SessionRecord | undefined> {
    const keys = this.keys(sessionId);
    if (!keys) return undefined;
    const text = await this.ask(sessionId, () => this.reading.hget(keys.meta, 'record'));
    return text === null ? undefined : this.readRecord(sessionId, text);
  }

  async records(): Promise<ReadonlyArray<{ readonly sessionId: string; readonly record: SessionRecord }>> {
    this.demandOpen();
    const texts = await patiently('the list of sessions', this.troubles, () => this.index.records());
    return texts.flatMap(({ sessionId, text }) => {
      const record = this.readRecord(sessionId, text);
      return record ? [{ sessionId, record }] : [];
    });
  }

  private readRecord(sessionId: string, text: string): SessionRecord | undefined {
    try {
      const record = JSON.parse(text) as SessionRecord;
      this.troubles.whole(sessionId);
      return record;
    } catch {
      this.troubles.corrupt(sessionId, 'its record in Redis is not JSON');
      return undefined;
    }
  }

  async shed(sessionId: string, upTo: number): Promise<void> {
    const keys = this.keys(sessionId);
    if (keys) await this.ask(sessionId, () => scripts.shed.run(this.writing, [keys.meta, keys.log, keys.times], [upTo]));
  }

  async remove(sessionId: string): Promise<void> {
    const keys = this.keys(sessionId);
    if (!keys) return;
    await this.loading.get(sessionId)?.catch(() => undefined);
    const known = this.known.get(sessionId)?.deref();
    if (known) this.gone(known);
    const all = [keys.meta, keys.log, keys.times, keys.gone];
    // On the connection of the writers: what one of this session has under way is done before.
    await this.ask(sessionId, () => scripts.remove.run(this.writing, all, [GONE_MS]));
    await this.ask(sessionId, () => this.index.forget(sessionId));
    this.troubles.whole(sessionId);
  }

  trouble(): string | undefined {
    return this.troubles.sentence();
  }

  damaged(): readonly string[] {
    return this.troubles.damaged();
  }

  close(): Promise<void> {
    this.closed ??= this.letGo();
    return this.closed;
  }

  private async letGo(): Promise<void> {
    clearInterval(this.looks);
    await Promise.allSettled(this.loading.values());
    const reason = new LogError('unavailable', 'the log is closed');
    const writers = [...this.needed].flatMap((session) => session.writer ?? []);
    const impatience = setTimeout(() => {
      for (const writer of writers) writer.end(reason);
    }, CLOSE_PATIENCE_MS);
    await Promise.all(writers.map((writer) => writer.release()));
    clearTimeout(impatience);
    for (const ref of this.known.values()) ref.deref()?.end(reason);
    this.channels.close();
    this.writing.disconnect();
    this.reading.disconnect();
  }

  private keys(sessionId: string): SessionKeys | undefined {
    this.demandOpen();
    return keysOf(this.options.prefix, sessionId);
  }

  private ask<T>(sessionId: string, ask: () => Promise<T>): Promise<T> {
    return patiently(`session ${sessionId}`, this.troubles, ask);
  }

  /** The one object for a session. */
  private async session(sessionId: string): Promise<RedisSession> {
    const keys = this.keys(sessionId);
    if (!keys) throw new LogError('unknown_session', `there is no session of such an id`);
    const known = this.known.get(sessionId)?.deref();
    if (known) return known;
    const loading = this.loading.get(sessionId) ?? this.load(sessionId, keys).finally(() => this.loading.delete(sessionId));
    this.loading.set(sessionId, loading);
    return loading;
  }

  private async load(sessionId: string, keys: SessionKeys): Promise<RedisSession> {
    const session = new RedisSession(sessionId, keys, { oldest: 1, current: 0 }, this.around);
    await session.refresh();
    return this.know(session);
  }

  private know(session: RedisSession): RedisSession {
    this.known.set(session.id, new WeakRef(session));
    this.forgotten.register(session, session.id);
    return session;
  }

  private gone(session: RedisSession): LogError {
    const reason = new LogError('unknown_session', `the session ${session.id} was removed`);
    session.end(reason);
    session.writer?.end(reason);
    if (this.known.get(session.id)?.deref() === session) this.known.delete(session.id);
    return reason;
  }

  private changed(session: RedisSession): void {
    if (session.needed) this.needed.add(session);
    else this.needed.delete(session);
  }

  /** Finds what no message and no answer told: another owner, a lost end, a message that was missed, a session that is gone. */
  private async lookAtAll(): Promise<void> {
    await Promise.all([...this.needed].map((session) => this.lookAt(session).catch(() => {})));
  }

  private async lookAt(session: RedisSession): Promise<void> {
    const { writer } = session;
    const taken = writer?.taken ?? 0;
    const found = await this.foundIn(session);
    writer?.look(found, taken);
    if (found) session.look(found);
  }

  /** Undefined if it is not there. Whoever only follows a session that was removed is told by that. */
  private async foundIn(session: RedisSession): Promise<Found | undefined> {
    try {
      return await session.find();
    } catch (error) {
      const isMissing = error instanceof Behind || (error instanceof LogError && error.failure === 'unknown_session');
      if (!isMissing) throw error;
      if (error instanceof LogError && !session.writer) this.gone(session);
      return undefined;
    }
  }

  private demandOpen(): void {
    if (this.closed) throw new LogError('unavailable', 'the log is closed');
  }
}

function nodesOf(client: Client): Node[] {
  if (!client.isCluster || !('nodes' in client)) return [];
  return client.nodes('master').map(({ options }) => ({ host: options.host ?? '', port: options.port ?? 0 }));
}
