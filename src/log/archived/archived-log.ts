// A log whose entries are kept on in an archive when they leave it: both are read as one. Knows no store, no terminal and no client.
//
// The log that it is put on stays what it was: it numbers, stores, trims and announces. The owner of a session copies what is new into the
// archive, so that nobody who writes waits for that. What is sealed in the log is sealed in the archive, for it is copied as it is.
import { Damages } from '../damages.js';
import type { Log, LogReader, LogWriter, Retention, SessionRecord } from '../log.js';
import { Access, type ArchiveCounts } from './access.js';
import { ArchivedReader, ArchivedWriter } from './archived-session.js';
import { Archiver, SEGMENT_MS, within } from './archiver.js';
import type { Gap } from './copy.js';
import { lanes } from './lanes.js';
import { newWriter } from './names.js';
import { nobodyProves, type ProverOf } from './proof.js';
import { restore } from './restore.js';
import { SessionArchive, type Surroundings } from './session-archive.js';
import type { ArchiveStore } from './store.js';

/** For how long at least the log keeps an entry, in seconds: three times as long as it takes to be archived. */
export const HOT_SECONDS = 900;
/** Sessions that are archived at the same time: each has one segment in memory. */
const COPIES_AT_ONCE = 4;
/** Sessions of which it is remembered what the archive has; the one that was not asked for longest is forgotten. */
const REMEMBERED = 1024;
/** How long the list of a session's segments is waited for where the log alone would do, in milliseconds, and how old it may be. */
const LIST_PATIENCE_MS = 2_000;
const LIST_AGE_MS = 60_000;
/** When what the archive has is first compared with what the log has, in milliseconds: owners of sessions that Redis lost have begun them again by then. */
const RESTORE_DELAY_MS = 60_000;
/** How often it is looked whether anything of a session that has ended was kept long enough, in milliseconds. */
const LOOK_MS = 3_600_000;

export interface ArchivedLogOptions {
  readonly store: ArchiveStore;
  /** For how many seconds an entry is kept, from its time on. */
  readonly retentionSeconds: number;
  /** For sessions that are sealed. */
  readonly proverOf?: ProverOf;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Called once for each new trouble, with a sentence. */
  readonly onTrouble?: (sentence: string, sessionId?: string) => void;
  /** Called for each stretch of numbers that was lost to the archive. */
  readonly onGap?: (gap: Gap) => void;
  /** HOT_SECONDS, SEGMENT_MS and RESTORE_DELAY_MS; others, for tests. */
  readonly hotSeconds?: number;
  readonly segmentMs?: number;
  readonly restoreDelayMs?: number;
}

export interface ArchivedLog extends Log {
  archiveSeconds(): number;
  settle(sessionId: string): Promise<void>;
  counts(): ArchiveCounts;
  /** Whether the archive did not do what it was asked last. */
  isArchiveAway(): boolean;
}

export function archivedLog(inner: Log, options: ArchivedLogOptions): ArchivedLog {
  return new ArchivingLog(inner, options);
}

class ArchivingLog implements ArchivedLog {
  readonly amendDamaged?: NonNullable<Log['amendDamaged']>;
  readonly #inner: Log;
  readonly #options: ArchivedLogOptions;
  readonly #access: Access;
  readonly #damages: Damages;
  readonly #around: Surroundings;
  readonly #inTurn = lanes(COPIES_AT_ONCE);
  /** In the order of their last use. */
  readonly #remembered = new Map<string, SessionArchive>();
  /** The same reader for the same session, as the log below has it. */
  readonly #readers = new WeakMap<LogReader, LogReader>();
  readonly #archivers = new Map<string, Archiver>();
  readonly #finishing = new Set<Promise<void>>();
  /** When a session that has ended is to be looked at again, in milliseconds since the epoch. Bounded by the number of sessions. */
  readonly #settled = new Map<string, number>();
  readonly #restoring: NodeJS.Timeout;

  constructor(inner: Log, options: ArchivedLogOptions) {
    const { store, proverOf = nobodyProves, retentionSeconds: seconds, now = Date.now, onTrouble = () => undefined } = options;
    this.#inner = inner;
    this.#options = options;
    this.#access = new Access(store, proverOf, onTrouble);
    this.#damages = new Damages(onTrouble);
    const gap = (gap: Gap) => this.#lost(gap);
    this.#around = { log: inner, access: this.#access, keeping: { seconds, now }, writer: newWriter(), gap };
    if (inner.amendDamaged) this.amendDamaged = inner.amendDamaged.bind(inner);
    this.#restoring = setTimeout(() => void this.#restore(), options.restoreDelayMs ?? RESTORE_DELAY_MS).unref();
  }

  async create(sessionId: string, record: SessionRecord, { frames, seconds }: Retention, after?: number): Promise<LogWriter> {
    const retention = { frames, seconds: Math.max(seconds, this.#options.hotSeconds ?? HOT_SECONDS) };
    const writer = await this.#inner.create(sessionId, record, retention, after);
    return this.#write(writer, this.#remember(SessionArchive.begin(sessionId, retention, this.#around)));
  }

  async claim(sessionId: string, ifEpoch?: number, record?: SessionRecord): Promise<LogWriter> {
    const writer = await this.#inner.claim(sessionId, ifEpoch, record);
    const session = this.#session(sessionId);
    await this.#list(session);
    if (record) session.amended();
    return this.#write(writer, session);
  }

  async reader(sessionId: string): Promise<LogReader> {
    const inner = await this.#inner.reader(sessionId);
    const session = this.#session(sessionId);
    if (inner.extent().oldest > 1) await this.#list(session);
    return this.#read(inner, session);
  }

  record(sessionId: string): Promise<SessionRecord | undefined> {
    return this.#inner.record(sessionId);
  }

  records(): ReturnType<Log['records']> {
    return this.#inner.records();
  }

  async settle(sessionId: string): Promise<void> {
    const { now, seconds } = this.#around.keeping;
    if ((this.#settled.get(sessionId) ?? 0) > now()) return;
    const session = this.#session(sessionId);
    const reader = await this.#inner.reader(sessionId);
    const upTo = await this.#inTurn(() => session.complete(reader));
    await this.#inner.shed?.(sessionId, upTo);
    this.#settled.set(sessionId, now() + Math.min(LOOK_MS, seconds * 1000));
  }

  archiveSeconds(): number {
    return this.#around.keeping.seconds;
  }

  /** The archive first: what is left behind when that fails is still known, and removed the next time. */
  async remove(sessionId: string): Promise<void> {
    await this.#archivers.get(sessionId)?.stop();
    this.#archivers.delete(sessionId);
    await this.#session(sessionId).remove();
    await this.#inner.remove(sessionId);
    this.#remembered.delete(sessionId);
    this.#settled.delete(sessionId);
    this.#damages.forget(sessionId);
  }

  trouble(): string | undefined {
    return this.#inner.trouble();
  }

  damaged(): readonly string[] {
    return [...this.#inner.damaged(), ...this.#damages.sentences()];
  }

  counts(): ArchiveCounts {
    return this.#access.counts;
  }

  isArchiveAway(): boolean {
    return this.#access.isAway;
  }

  async close(): Promise<void> {
    clearTimeout(this.#restoring);
    for (const [sessionId, archiver] of this.#archivers) this.#finish(sessionId, archiver);
    await Promise.all(this.#finishing);
    await this.#inner.close();
    this.#access.close();
  }

  #write(inner: LogWriter, session: SessionArchive): LogWriter {
    const { id, shelf } = session;
    this.#settled.delete(id);
    void this.#archivers.get(id)?.stop();
    const archiver = new Archiver(inner.reader, {
      segmentMs: this.#options.segmentMs ?? SEGMENT_MS,
      copy: () => this.#inTurn(() => session.keepUp(inner.reader)),
      covered: (upTo) => shelf.cover(upTo),
      isCovered: (upTo) => shelf.isLoaded && shelf.covered >= upTo,
    });
    this.#archivers.set(id, archiver);
    const amended = () => {
      session.amended();
      archiver.stir();
    };
    return new ArchivedWriter(inner, this.#read(inner.reader, session), { amended, released: () => this.#finish(id, archiver) });
  }

  #read(inner: LogReader, { shelf }: SessionArchive): LogReader {
    const reader = this.#readers.get(inner) ?? new ArchivedReader(inner, shelf, this.#damages);
    this.#readers.set(inner, reader);
    return reader;
  }

  /** What a session that is let go of still has to be archived is archived behind it. */
  #finish(sessionId: string, archiver: Archiver): void {
    if (this.#archivers.get(sessionId) === archiver) this.#archivers.delete(sessionId);
    const finishing: Promise<void> = archiver.finish().finally(() => this.#finishing.delete(finishing));
    this.#finishing.add(finishing);
  }

  #session(sessionId: string): SessionArchive {
    return this.#remember(this.#remembered.get(sessionId) ?? SessionArchive.of(sessionId, this.#around));
  }

  #remember(session: SessionArchive): SessionArchive {
    this.#remembered.delete(session.id);
    this.#remembered.set(session.id, session);
    const [longestUnused] = this.#remembered.keys();
    if (this.#remembered.size > REMEMBERED && longestUnused !== undefined) this.#remembered.delete(longestUnused);
    return session;
  }

  /** A store that is away or slow makes nobody wait who can do without. */
  async #list({ shelf }: SessionArchive): Promise<void> {
    if (this.#access.isAway) void shelf.load(LIST_AGE_MS).catch(() => undefined);
    else await within(LIST_PATIENCE_MS, shelf.load(LIST_AGE_MS));
  }

  #lost(gap: Gap): void {
    this.#access.counts.gaps++;
    this.#access.counts.lostNumbers += gap.to - gap.from + 1;
    this.#options.onGap?.(gap);
  }

  async #restore(): Promise<void> {
    try {
      const restored = await restore(this.#inner, this.#access, (sessionId) => this.#session(sessionId));
      if (restored.length > 0)
        this.#options.onTrouble?.(`the log had lost ${restored.length} sessions; they were begun again from the archive`);
    } catch {
      this.#restoring.refresh();
    }
  }
}
