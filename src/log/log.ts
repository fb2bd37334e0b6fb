// The contract of the log: what happened in a session, in order. Knows no terminal, no client and no protocol.

/** One thing that happened. `body` is opaque here. */
export interface Entry {
  /** What it is, up to 32 ASCII characters, for example `Output`. */
  readonly kind: string;
  /** UUIDv7. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly ts: number;
  readonly body: Uint8Array;
}

/** An entry that the log has taken. Its number is its own for ever. */
export interface Numbered extends Entry {
  /** 1…2^53−1, without gaps over all drafts of the session. */
  readonly sequence: number;
}

/** A number for what one reader alone is given: nothing of it is kept, and it is told who it is for. */
export interface Place {
  /** Up to 64 ASCII characters. */
  readonly to: string;
}

/** What a writer hands in. */
export type Draft = Entry | Place;

export const isEntry = (draft: Draft): draft is Entry => 'body' in draft;

/** A place that the log has given a number. */
export interface Placed extends Place {
  readonly sequence: number;
}

/** The places among the drafts of one append, whose first number is `first`. */
export function placesOf(drafts: readonly Draft[], first: number): Placed[] {
  return drafts.flatMap((draft, i) => (isEntry(draft) ? [] : [{ to: draft.to, sequence: first + i }]));
}

/** An entry is kept while it is among the newest `frames` OR younger than `seconds` (pty-ws §8); places do not count. */
export interface Retention {
  readonly frames: number;
  readonly seconds: number;
}

/** What is said about a session beside its entries; kept with them, and gone with them. */
export type SessionRecord = Readonly<Record<string, unknown>>;

/** Numbers that follow on each other, both ends included. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** What is kept, as numbers. */
export interface Extent {
  /** The lowest number not trimmed away: 1 until the first entry goes, then the lowest entry kept. Never goes back. */
  readonly oldest: number;
  /** The last number given; 0 for a fresh session. */
  readonly current: number;
}

/** Called once for each append that was taken, in order: its kept entries, the extent after it, and its places. */
export type Follower = (entries: readonly Numbered[], extent: Extent, places: readonly Placed[]) => void;

/** A session's entries, for anyone. */
export interface LogReader {
  /** What is kept now, as far as this process knows. */
  extent(): Extent;
  /** The kept entries with a number above `after`, ascending, at most `limit.frames` of them and, past the first, `limit.bytes` of bodies; empty at the end. */
  read(after: number, limit: { readonly frames: number; readonly bytes: number }): Promise<Numbered[]>;
  /** The newest kept entry of a kind; with `log`, of those that are found without asking an archive, which may be away. */
  latest(kind: string, where?: 'log'): Promise<Numbered | undefined>;
  /**
   * The numbers up to the last that was given of which nothing is kept any more, ascending: those before the first entry, whose time is over,
   * and those between entries, which are lost. Absent where nothing is missing but what is before `extent().oldest`. Rejects with LogError `unavailable`.
   */
  missing?(): Promise<readonly Stretch[]>;
  /** From now on, tells of each append, those who follow longest first. Returns the way to stop. A follower that throws harms nobody else. */
  follow(follower: Follower): () => void;
  /**
   * Where appends reach this process from another one, some may be read from the store afterwards: then the entries are told all the same,
   * but the places among (`after`, `upTo`] are unknown, and those who wait for one must ask again. Called before they are told. Returns the
   * way to stop. Absent where it cannot happen.
   */
  onGap?(listener: (after: number, upTo: number) => void): () => void;
}

/** The epoch of a session that was begun and never claimed. */
export const FIRST_EPOCH = 1;
/** The epoch of a session that had this one and was claimed once more. */
export const nextEpoch = (epoch: number): number => epoch + 1;

/** The one who may write. */
export interface LogWriter {
  readonly reader: LogReader;
  /**
   * Numbers, stores, trims and announces, in one step and in the order of the calls; the drafts of one call get consecutive numbers.
   * Resolves with the first of them once all are taken (from then on they survive the end of this process), after the followers were told.
   * While the store is away it waits, keeping the order. Rejects with a LogError only when these drafts will never be taken.
   */
  append(drafts: readonly Draft[]): Promise<number>;
  /** Replaces the session's record. Same promises as `append`. */
  amend(record: SessionRecord): Promise<void>;
  /** Lets go of the session after what was appended is taken. Its entries stay. */
  release(): Promise<void>;
}

/** Why a log did not do it. `fenced`: another writer claimed the session. `corrupt`: what is stored cannot be read. */
export type LogFailure = 'fenced' | 'corrupt' | 'unavailable' | 'unknown_session' | 'exists';

export class LogError extends Error {
  override readonly name = 'LogError';
  readonly failure: LogFailure;
  constructor(failure: LogFailure, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.failure = failure;
  }
}

/** All sessions' logs. */
export interface Log {
  /** Whether what is kept of a session that begins now cannot be read where it is stored. Absent: it can. */
  isSealed?(): boolean;
  /** For how many seconds, from its time on, an entry is kept on in an archive when it has left the log. Absent: then it is gone. */
  archiveSeconds?(): number;
  /**
   * Begins a session's log; the caller owns it, with FIRST_EPOCH. LogError `exists` if the id was ever used. With `after`, the numbers up to
   * that one were given elsewhere, and nothing is kept of them here.
   */
  create(sessionId: string, record: SessionRecord, retention: Retention, after?: number): Promise<LogWriter>;
  /**
   * Takes a session over: who wrote before is fenced. Also opens a session that has ended, for the numbers of its late readers.
   * With `ifEpoch`, only if nobody took it since it had that epoch; else LogError `fenced`, and nothing is changed. A log that several
   * processes share heeds it, so that of those who saw the same epoch only one wins. With `record`, that is the session's record from then on:
   * no process can die between taking a session and saying that it has it.
   */
  claim(sessionId: string, ifEpoch?: number, record?: SessionRecord): Promise<LogWriter>;
  /** LogError `unknown_session`, or `corrupt`. The same reader for the same session while anybody follows it. */
  reader(sessionId: string): Promise<LogReader>;
  /** The record of a session, or undefined if it is unknown, or cannot be read and is named in `damaged()`. */
  record(sessionId: string): Promise<SessionRecord | undefined>;
  /** All sessions that are kept, by id ascending. One whose record cannot be read is left out and named in `damaged()`. */
  records(): Promise<ReadonlyArray<{ readonly sessionId: string; readonly record: SessionRecord }>>;
  /**
   * Replaces the record of a session whose entries cannot be read, so that nobody can claim it. LogError `unknown_session` if there is nothing
   * left of it. Absent where a damaged session is claimed like any other.
   */
  amendDamaged?(sessionId: string, record: SessionRecord): Promise<void>;
  /**
   * Of a session that has ended and whose retention is over: puts into the archive all that is not there yet, and has the log let go of it.
   * LogError `unavailable` if the archive cannot be written now. Absent where there is none.
   */
  settle?(sessionId: string): Promise<void>;
  /**
   * Lets go of the entries of a session that has ended, all of which are kept elsewhere, unless there is one with a number above `upTo`; its
   * record stays. Absent where they take no room that is needed.
   */
  shed?(sessionId: string, upTo: number): Promise<void>;
  /** Forgets a session wholly. */
  remove(sessionId: string): Promise<void>;
  /** In one sentence, what keeps the log from taking entries now; undefined while all is well. */
  trouble(): string | undefined;
  /** In a sentence each, the sessions of which something stored was found unreadable. They keep no other session from anything. */
  damaged(): readonly string[];
  /** Takes what was appended, then lets go of all. */
  close(): Promise<void>;
}
