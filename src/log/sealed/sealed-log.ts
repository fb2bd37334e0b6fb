// A log that keeps nothing readable where it is stored: seals what goes into another log, opens what comes out. Knows no disk and no Redis.

import type { Keyring } from '../../keyring.js';
import { Damages, type TellDamage } from '../damages.js';
import type { Log, LogReader, LogWriter, Retention, SessionRecord } from '../log.js';
import { LogError } from '../log.js';
import { isSealed, SealedReader, SealedWriter, SessionSeal } from './sealed-session.js';

/**
 * A session is sealed, or not, for its whole life: with the key that was the first when it began. Sessions of before there were keys
 * stay as they are until their retention ends, and one whose key is not there is damaged, not gone.
 * `onDamage` is called once for each of those, with a sentence.
 */
export function sealedLog(inner: Log, keyring: Keyring, onDamage?: TellDamage): Log {
  return new SealedLog(inner, keyring, onDamage);
}

class SealedLog implements Log {
  readonly amendDamaged?: NonNullable<Log['amendDamaged']>;
  readonly archiveSeconds?: NonNullable<Log['archiveSeconds']>;
  readonly settle?: NonNullable<Log['settle']>;
  readonly #inner: Log;
  readonly #keyring: Keyring;
  readonly #damages: Damages;
  /** The same reader for the same session, as the log below has it. */
  readonly #readers = new WeakMap<LogReader, LogReader>();

  constructor(inner: Log, keyring: Keyring, onDamage?: TellDamage) {
    this.#inner = inner;
    this.#keyring = keyring;
    // Nothing is lost of what another key opens.
    this.#damages = new Damages(onDamage, 'cannot be read here');
    const { amendDamaged, archiveSeconds, settle } = inner;
    if (archiveSeconds) this.archiveSeconds = archiveSeconds.bind(inner);
    if (settle) this.settle = settle.bind(inner);
    if (amendDamaged)
      this.amendDamaged = async (id, record) => amendDamaged.call(inner, id, (await this.#sealOf(id))?.closeRecord(record) ?? record);
  }

  async create(sessionId: string, record: SessionRecord, retention: Retention, after?: number): Promise<LogWriter> {
    const seal = SessionSeal.mint(this.#keyring, sessionId);
    return this.#write(await this.#inner.create(sessionId, seal?.closeRecord(record) ?? record, retention, after), seal);
  }

  async claim(sessionId: string, ifEpoch?: number, record?: SessionRecord): Promise<LogWriter> {
    const seal = await this.#sealOf(sessionId);
    return this.#write(await this.#inner.claim(sessionId, ifEpoch, record && (seal?.closeRecord(record) ?? record)), seal);
  }

  async reader(sessionId: string): Promise<LogReader> {
    const seal = await this.#sealOf(sessionId);
    return this.#read(await this.#inner.reader(sessionId), seal);
  }

  async record(sessionId: string): Promise<SessionRecord | undefined> {
    const stored = await this.#inner.record(sessionId);
    return stored && this.#open(sessionId, stored);
  }

  async records(): Promise<ReadonlyArray<{ readonly sessionId: string; readonly record: SessionRecord }>> {
    const all = await this.#inner.records();
    return all.flatMap(({ sessionId, record: stored }) => {
      const record = this.#open(sessionId, stored);
      return record ? [{ sessionId, record }] : [];
    });
  }

  async remove(sessionId: string): Promise<void> {
    await this.#inner.remove(sessionId);
    this.#damages.forget(sessionId);
  }

  isSealed(): boolean {
    return this.#keyring.canSeal;
  }

  trouble(): string | undefined {
    return this.#inner.trouble();
  }

  damaged(): readonly string[] {
    return [...this.#inner.damaged(), ...this.#damages.sentences()];
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  /** Undefined for a session that is not sealed, and for one that is unknown: of that the log below speaks. The key is tried first. */
  async #sealOf(sessionId: string): Promise<SessionSeal | undefined> {
    const stored = await this.#inner.record(sessionId);
    if (!stored || !isSealed(stored)) return undefined;
    const seal = SessionSeal.of(this.#keyring, sessionId, stored);
    seal.openRecord(stored);
    return seal;
  }

  #open(sessionId: string, stored: SessionRecord): SessionRecord | undefined {
    if (!isSealed(stored)) return stored;
    try {
      return SessionSeal.of(this.#keyring, sessionId, stored).openRecord(stored);
    } catch (error) {
      if (!(error instanceof LogError && error.cause instanceof Error)) throw error;
      this.#damages.note(sessionId, error.cause.message, true);
      return undefined;
    }
  }

  #read(inner: LogReader, seal: SessionSeal | undefined): LogReader {
    if (!seal) return inner;
    const reader = this.#readers.get(inner) ?? new SealedReader(inner, seal);
    this.#readers.set(inner, reader);
    return reader;
  }

  #write(inner: LogWriter, seal: SessionSeal | undefined): LogWriter {
    return seal ? new SealedWriter(inner, this.#read(inner.reader, seal), seal) : inner;
  }
}
