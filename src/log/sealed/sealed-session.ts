// One session's entries and record, sealed on their way into a log and opened on their way out. Knows no other session, and not where the log is.

import { type Keyring, SEAL_BYTES, type Seal, SealError } from '../../keyring.js';
import type { Extent, Follower, LogReader, LogWriter, Numbered, SessionRecord } from '../log.js';
import { type Draft, type Entry, isEntry, LogError } from '../log.js';

/** A record as the log below keeps it: all that is needed to find the key again, and the record itself, in base64. */
export interface SealedRecord extends SessionRecord {
  readonly sealed: { readonly kid: string; readonly salt: string; readonly record: string };
}

export const isSealed = (record: SessionRecord): record is SealedRecord => typeof record.sealed === 'object' && record.sealed !== null;

/** What one session is sealed with, for its whole life: keys that come later seal later sessions. */
export class SessionSeal {
  readonly #sessionId: string;
  readonly #seal: Seal;
  readonly #kid: string;
  readonly #salt: Uint8Array;
  /**
   * What is sealed in these bytes, for as long as anybody holds them: whoever writes here, and each who follows, has the same ones. Who reads has
   * bytes of its own, of which nothing is remembered.
   */
  readonly #opened = new WeakMap<Uint8Array, Uint8Array>();

  private constructor(sessionId: string, seal: Seal, kid: string, salt: Uint8Array) {
    this.#sessionId = sessionId;
    this.#seal = seal;
    this.#kid = kid;
    this.#salt = salt;
  }

  /** Undefined if there is no key to seal with. */
  static mint(keyring: Keyring, sessionId: string): SessionSeal | undefined {
    const minted = keyring.mint(`session ${sessionId}`);
    return minted && new SessionSeal(sessionId, minted.seal, minted.kid, minted.salt);
  }

  /** Throws LogError `corrupt` if its key is not there. */
  static of(keyring: Keyring, sessionId: string, { sealed }: SealedRecord): SessionSeal {
    return corruptUnless(sessionId, () => {
      const salt = Buffer.from(String(sealed.salt), 'base64');
      return new SessionSeal(sessionId, keyring.find(String(sealed.kid), salt, `session ${sessionId}`), String(sealed.kid), salt);
    });
  }

  closeRecord(record: SessionRecord): SealedRecord {
    const closed = this.#seal.close(Buffer.from(JSON.stringify(record)), 'record');
    return { sealed: { kid: this.#kid, salt: Buffer.from(this.#salt).toString('base64'), record: closed.toString('base64') } };
  }

  openRecord({ sealed }: SealedRecord): SessionRecord {
    return corruptUnless(this.#sessionId, () => {
      return JSON.parse(this.#seal.open(Buffer.from(String(sealed.record), 'base64'), 'record').toString()) as SessionRecord;
    });
  }

  /** What shows that somebody with this session's key has said this text. */
  prove(text: string): string {
    return this.#seal.close(new Uint8Array(), text).toString('base64');
  }

  /** Throws LogError `corrupt` unless `prove` made it for this text. */
  check(text: string, proof: string): void {
    corruptUnless(this.#sessionId, () => this.#seal.open(Buffer.from(proof, 'base64'), text));
  }

  close<D extends Draft>(draft: D): D {
    return isEntry(draft) ? { ...draft, body: this.#closeBody(draft) } : draft;
  }

  open(entry: Numbered): Numbered {
    return { ...entry, body: this.#openBody(entry) };
  }

  /** As `open`, for an entry that others are given as well. */
  openOnce(entry: Numbered): Numbered {
    return { ...entry, body: this.#opened.get(entry.body) ?? this.#remember(entry.body, this.#openBody(entry)) };
  }

  #closeBody(entry: Entry): Uint8Array {
    const closed = this.#seal.close(entry.body, contextOf(entry));
    this.#remember(closed, entry.body);
    return closed;
  }

  #remember(closed: Uint8Array, body: Uint8Array): Uint8Array {
    this.#opened.set(closed, body);
    return body;
  }

  #openBody(entry: Entry): Uint8Array {
    return corruptUnless(this.#sessionId, () => this.#seal.open(entry.body, contextOf(entry)));
  }
}

/** An entry keeps its kind, id and time: none of them can be given to another body. */
function contextOf({ kind, id, ts }: Entry): string {
  return `entry ${kind} ${id} ${ts}`;
}

function corruptUnless<T>(sessionId: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    const cause = error instanceof SealError ? error : new SealError('what is sealed is no record');
    throw new LogError('corrupt', `session ${sessionId}: ${cause.message}`, { cause });
  }
}

export class SealedReader implements LogReader {
  readonly onGap?: NonNullable<LogReader['onGap']>;
  readonly missing?: NonNullable<LogReader['missing']>;
  readonly #inner: LogReader;
  readonly #seal: SessionSeal;

  constructor(inner: LogReader, seal: SessionSeal) {
    this.#inner = inner;
    this.#seal = seal;
    if (inner.missing) this.missing = inner.missing.bind(inner);
    if (inner.onGap) this.onGap = (listener) => (inner.onGap as NonNullable<LogReader['onGap']>)(listener);
  }

  extent(): Extent {
    return this.#inner.extent();
  }

  /** The limit holds for what is given out; below, each entry is a little longer. */
  async read(after: number, { frames, bytes }: { readonly frames: number; readonly bytes: number }): Promise<Numbered[]> {
    const longer = Math.min(bytes + frames * SEAL_BYTES, Number.MAX_SAFE_INTEGER);
    const sealed = await this.#inner.read(after, { frames, bytes: longer });
    return within(sealed, bytes).map((entry) => this.#seal.open(entry));
  }

  async latest(kind: string, where?: 'log'): Promise<Numbered | undefined> {
    const entry = await this.#inner.latest(kind, where);
    return entry && this.#seal.open(entry);
  }

  follow(follower: Follower): () => void {
    return this.#inner.follow((entries, extent, places) =>
      follower(
        entries.map((entry) => this.#seal.openOnce(entry)),
        extent,
        places,
      ),
    );
  }
}

function within(sealed: readonly Numbered[], bytes: number): readonly Numbered[] {
  let sum = 0;
  const end = sealed.findIndex((entry, i) => {
    sum += entry.body.length - SEAL_BYTES;
    return i > 0 && sum > bytes;
  });
  return end < 0 ? sealed : sealed.slice(0, end);
}

export class SealedWriter implements LogWriter {
  readonly reader: LogReader;
  readonly #inner: LogWriter;
  readonly #seal: SessionSeal;

  constructor(inner: LogWriter, reader: LogReader, seal: SessionSeal) {
    this.reader = reader;
    this.#inner = inner;
    this.#seal = seal;
  }

  append(drafts: readonly Draft[]): Promise<number> {
    return this.#inner.append(drafts.map((draft) => this.#seal.close(draft)));
  }

  amend(record: SessionRecord): Promise<void> {
    return this.#inner.amend(this.#seal.closeRecord(record));
  }

  release(): Promise<void> {
    return this.#inner.release();
  }
}
