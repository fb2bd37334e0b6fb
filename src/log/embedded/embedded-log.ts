// The log of one process on its own disk: a folder per session, with a record and append-only segment files. Knows no terminal.
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../../folder.js';
import { Damages } from '../damages.js';
import { FORMAT } from '../format.js';
import { type Log, LogError, type LogReader, type LogWriter, type Retention, type SessionRecord } from '../log.js';
import { Troubles } from '../patience.js';
import { currentBoot } from './boot.js';
import { type Disk, errorCode, explain, realDisk, syncFolder, withFile, writeAll } from './disk.js';
import { folderName, idOf, MAX_NAME, sessionsFolder } from './folder-names.js';
import { Handles } from './handles.js';
import { KeptRecords } from './kept-records.js';
import { FolderInUse, lockFolder } from './lock.js';
import { type Contents, readContents, writeContents } from './record-file.js';
import { type Recovered, recover } from './recovery.js';
import { SEGMENT_BYTES, segmentName } from './segment.js';
import { SessionFiles } from './session-files.js';
import { SessionLog, type Surroundings } from './session-log.js';

/** What was written is on the medium at the latest after so many milliseconds, while the disk keeps up. */
const SYNC_INTERVAL_MS = 1_000;
/** How long `close` waits for a disk that refuses, in milliseconds; what is not taken then is rejected as `unavailable`. */
const CLOSE_PATIENCE_MS = 5_000;
/** The same for a disk that has refused before it is closed. */
const TROUBLED_PATIENCE_MS = 1_000;
/** How often, while the disk refuses, sessions that write nothing are rid of what is old, in milliseconds. */
const TIDY_MS = 60_000;
/** Records read at once by `records()`. */
const READS_AT_ONCE = 16;

export interface EmbeddedLogOptions {
  /** The data folder; it is made if it is not there. One process uses it at a time. */
  readonly dir: string;
  /** Milliseconds since the epoch, for retention. */
  readonly now?: () => number;
  /** Called once for each new trouble, and each session found damaged, with a sentence, and of which session it was noticed. */
  readonly onTrouble?: (sentence: string, sessionId: string) => void;
  /** Called when the disk takes all that it is given, after a trouble. */
  readonly onRecovered?: () => void;
  /** What reads and writes, for tests. */
  readonly disk?: Disk;
  /** Bytes from which on a segment is followed by a new one; small ones for tests. */
  readonly segmentBytes?: number;
  /** Milliseconds between two looks for what is old in sessions that write nothing, while the disk refuses; few for tests. */
  readonly tidyMs?: number;
}

/**
 * Opens the log in a folder. Rejects with FolderInUse, naming the process that has it, or with LogError `unavailable` if the
 * folder cannot be used; never because of one session that is damaged.
 */
export async function openEmbeddedLog(options: EmbeddedLogOptions): Promise<Log> {
  try {
    await makeFolder(sessionsFolder(options.dir));
    const unlock = await lockFolder(options.dir);
    const log = new EmbeddedLog(options, await currentBoot(), unlock);
    await log.sweep();
    return log;
  } catch (error) {
    if (error instanceof FolderInUse) throw error;
    throw new LogError('unavailable', `the data folder ${options.dir} cannot be used: ${explain(error)}`, { cause: error });
  }
}

/** Folders whose name begins so are no sessions: they are being made, or being removed. */
const ASIDE = '.';

class EmbeddedLog implements Log {
  private readonly root: string;
  private readonly disk: Disk;
  private readonly handles: Handles;
  private readonly troubles: Troubles;
  private readonly damages: Damages;
  private readonly around: Surroundings;
  private readonly segmentBytes: number;
  private readonly unlock: () => Promise<void>;
  /** Every session's log that anybody has, so that all have the same; and those which may not be forgotten. */
  private readonly known = new Map<string, WeakRef<SessionLog>>();
  private readonly needed = new Set<SessionLog>();
  /** Of the others. */
  private readonly kept = new KeptRecords();
  private readonly loading = new Map<string, Promise<SessionLog>>();
  private readonly forgotten = new FinalizationRegistry<string>((id) => {
    if (!this.known.get(id)?.deref()) this.known.delete(id);
  });
  private syncTimer: NodeJS.Timeout | undefined;
  private readonly tidier: NodeJS.Timeout;
  private closed: Promise<void> | undefined;

  constructor(options: EmbeddedLogOptions, boot: string, unlock: () => Promise<void>) {
    this.root = sessionsFolder(options.dir);
    this.disk = options.disk ?? realDisk;
    this.handles = new Handles(this.disk);
    this.troubles = new Troubles(options.onTrouble, options.onRecovered);
    this.damages = new Damages(options.onTrouble);
    this.segmentBytes = options.segmentBytes ?? SEGMENT_BYTES;
    this.unlock = unlock;
    const now = options.now ?? Date.now;
    const { disk, troubles, damages } = this;
    this.around = { disk, boot, troubles, damages, now, changed: (session) => this.changed(session) };
    this.tidier = setInterval(() => void this.tidy(), options.tidyMs ?? TIDY_MS).unref();
  }

  /** Clears what an earlier process left half made or half removed. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.root)) {
      if (name.startsWith(ASIDE)) await rm(join(this.root, name), { recursive: true, force: true }).catch(() => undefined);
    }
  }

  async create(sessionId: string, record: SessionRecord, retention: Retention, after = 0): Promise<LogWriter> {
    this.demandOpen();
    const folder = this.folder(sessionId);
    if (!folder) throw new LogError('unavailable', `the session id must have 1 to ${MAX_NAME} characters as a file name`);
    const contents: Contents = { format: FORMAT, retention, writing: this.around.boot, current: after, record };
    await this.lay(sessionId, folder, contents);
    return (await this.session(sessionId)).claim();
  }

  /** Makes the folder aside and moves it into place, so that it is there whole or not at all. */
  private async lay(sessionId: string, folder: string, contents: Contents): Promise<void> {
    const aside = join(this.root, `${ASIDE}new-${randomUUID()}`);
    try {
      await mkdir(aside, { mode: 0o700 });
      await writeContents(this.disk, aside, contents);
      await this.layFirstSegment(aside, contents);
      await rename(aside, folder);
      await syncFolder(this.disk, this.root);
    } catch (error) {
      await rm(aside, { recursive: true, force: true }).catch(() => undefined);
      const there = errorCode(error) === 'ENOTEMPTY' || errorCode(error) === 'EEXIST';
      if (there) throw new LogError('exists', `the session ${sessionId} exists already`, { cause: error });
      throw new LogError('unavailable', `the session ${sessionId} cannot be made: ${explain(error)}`, { cause: error });
    }
  }

  /** A session without any segment is a damaged one: even an empty one has its first. */
  private async layFirstSegment(folder: string, contents: Contents): Promise<void> {
    const { current } = contents;
    const nothing: Recovered = { segments: [], latest: new Map(), current, clock: 0, lost: current > 0, dead: [] };
    const plan = this.files(folder, contents, nothing).plan([], this.around.now());
    await withFile(this.disk, join(folder, segmentName(current + 1)), 'w+', (file) => writeAll(file, plan.bytes, 0));
    await syncFolder(this.disk, folder);
  }

  async claim(sessionId: string, _ifEpoch?: number, record?: SessionRecord): Promise<LogWriter> {
    const writer = await (await this.session(sessionId)).claim();
    if (record) await writer.amend(record);
    return writer;
  }

  async reader(sessionId: string): Promise<LogReader> {
    return this.session(sessionId);
  }

  async record(sessionId: string): Promise<SessionRecord | undefined> {
    this.demandOpen();
    const known = this.known.get(sessionId)?.deref();
    if (known) return known.record;
    const folder = this.folder(sessionId);
    return folder === undefined ? undefined : this.kept.get(sessionId, () => this.readable(sessionId, folder));
  }

  async records(): Promise<ReadonlyArray<{ readonly sessionId: string; readonly record: SessionRecord }>> {
    this.demandOpen();
    const folders = (await readdir(this.root, { withFileTypes: true })).filter((entry) => entry.isDirectory());
    const found: Array<{ sessionId: string; record: SessionRecord }> = [];
    const rest = folders.flatMap((entry) => idOf(entry.name) ?? []).values();
    const readRest = async (): Promise<void> => {
      for (const sessionId of rest) {
        const record = await this.record(sessionId);
        if (record) found.push({ sessionId, record });
      }
    };
    await Promise.all(Array.from({ length: READS_AT_ONCE }, readRest));
    return found.sort((a, b) => (a.sessionId < b.sessionId ? -1 : 1));
  }

  private async readable(sessionId: string, folder: string): Promise<SessionRecord | undefined> {
    try {
      return (await readContents(folder))?.record;
    } catch (error) {
      if (this.isDamage(sessionId, error)) return undefined;
      throw error;
    }
  }

  async amendDamaged(sessionId: string, record: SessionRecord): Promise<void> {
    this.demandOpen();
    const folder = this.folder(sessionId);
    const contents = folder && (await readContents(folder));
    if (!folder || !contents) throw new LogError('unknown_session', `there is no session ${sessionId}`);
    await writeContents(this.disk, folder, { ...contents, writing: null, record });
    this.kept.forget(sessionId);
  }

  async remove(sessionId: string): Promise<void> {
    this.demandOpen();
    const gone = new LogError('unknown_session', `the session ${sessionId} was removed`);
    await this.loading.get(sessionId)?.catch(() => undefined);
    const known = this.known.get(sessionId)?.deref();
    known?.end(gone);
    await known?.drained();
    await this.removeFolder(sessionId);
    this.kept.forget(sessionId);
    this.known.delete(sessionId);
    if (known) this.changed(known);
    this.damages.forget(sessionId);
  }

  /** Renamed first: from then on the session is unknown, whatever becomes of its files. */
  private async removeFolder(sessionId: string): Promise<void> {
    const folder = this.folder(sessionId);
    if (!folder) return;
    const aside = join(this.root, `${ASIDE}removed-${randomUUID()}`);
    try {
      await rename(folder, aside);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return;
      throw new LogError('unavailable', `the session ${sessionId} cannot be removed: ${explain(error)}`, { cause: error });
    }
    this.handles.forgetUnder(folder);
    await rm(aside, { recursive: true, force: true }).catch(() => undefined);
  }

  trouble(): string | undefined {
    return this.troubles.sentence();
  }

  damaged(): readonly string[] {
    return this.damages.sentences();
  }

  close(): Promise<void> {
    this.closed ??= this.letGo();
    return this.closed;
  }

  private async letGo(): Promise<void> {
    clearTimeout(this.syncTimer);
    clearInterval(this.tidier);
    await Promise.allSettled(this.loading.values());
    const sessions = new Set([...this.needed, ...[...this.known.values()].flatMap((ref) => ref.deref() ?? [])]);
    const end = () => {
      const reason = this.closedBecause();
      for (const session of sessions) session.end(reason);
    };
    const impatience = setTimeout(end, this.trouble() ? TROUBLED_PATIENCE_MS : CLOSE_PATIENCE_MS);
    await Promise.all([...sessions].map((session) => session.close()));
    clearTimeout(impatience);
    end();
    await this.handles.close();
    await this.unlock();
  }

  private closedBecause(): LogError {
    const cause = this.troubles.cause();
    return new LogError('unavailable', cause ? `the log was closed before it took all: ${cause}` : 'the log is closed');
  }

  private folder(sessionId: string): string | undefined {
    const name = folderName(sessionId);
    return name && join(this.root, name);
  }

  /** The one object for a session, read from its folder when nobody has it. */
  private async session(sessionId: string): Promise<SessionLog> {
    this.demandOpen();
    const known = this.known.get(sessionId)?.deref();
    if (known) return known;
    const loading = this.loading.get(sessionId) ?? this.load(sessionId).finally(() => this.loading.delete(sessionId));
    this.loading.set(sessionId, loading);
    return loading;
  }

  private async load(sessionId: string): Promise<SessionLog> {
    try {
      const session = await this.restore(sessionId);
      this.known.set(sessionId, new WeakRef(session));
      this.kept.forget(sessionId);
      this.forgotten.register(session, sessionId);
      this.damages.opened(sessionId);
      return session;
    } catch (error) {
      this.isDamage(sessionId, error);
      throw error;
    }
  }

  private async restore(sessionId: string): Promise<SessionLog> {
    const folder = this.folder(sessionId);
    const contents = folder && (await readContents(folder));
    if (!folder || !contents) throw new LogError('unknown_session', `there is no session ${sessionId}`);
    const found = await recover(this.disk, folder, contents, this.around.boot, this.around.now());
    const files = this.files(folder, contents, found);
    const extent = { oldest: await files.trim(0, found.current), current: found.current };
    return new SessionLog(sessionId, folder, files, contents, extent, this.around);
  }

  private files(folder: string, { retention }: Contents, found: Recovered): SessionFiles {
    const { disk, handles, segmentBytes } = this;
    return new SessionFiles({ folder, disk, handles, segmentBytes, retention }, found);
  }

  /** Whether a session could not be opened because it is damaged, which is noted then. */
  private isDamage(sessionId: string, error: unknown): boolean {
    if (!(error instanceof LogError && error.failure === 'corrupt')) return false;
    this.damages.note(sessionId, error.message, true);
    return true;
  }

  private changed(session: SessionLog): void {
    if (session.needed) this.needed.add(session);
    else this.needed.delete(session);
    if (session.dirty && !this.closed) this.syncTimer ??= setTimeout(() => void this.syncAll(), SYNC_INTERVAL_MS).unref();
  }

  /** One after another, so that syncs never take all the threads that writes need. */
  private async syncAll(): Promise<void> {
    for (const session of [...this.needed]) if (session.dirty) await session.sync();
    this.syncTimer = undefined;
    for (const session of this.needed) this.changed(session);
  }

  /** For those that have something to write. */
  private async tidy(): Promise<void> {
    if (!this.trouble()) return;
    for (const session of [...this.needed]) if (!this.closed) await session.tidy();
  }

  private demandOpen(): void {
    if (this.closed) throw new LogError('unavailable', 'the log is closed');
  }
}
