// The log of one session in this process: one queue for whoever may write, followers, readers. Knows its files only through SessionFiles.
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Damages } from '../damages.js';
import {
  type Draft,
  type Entry,
  type Extent,
  type Follower,
  isEntry,
  LogError,
  type LogReader,
  type LogWriter,
  type Numbered,
  type Placed,
  placesOf,
  type SessionRecord,
} from '../log.js';
import { type Concern, persist, type Troubles } from '../patience.js';
import { type Disk, errorCode, explain } from './disk.js';
import { faultOf } from './entry-fault.js';
import { MAX_BODY_BYTES } from './framing.js';
import { type Contents, writeContents } from './record-file.js';
import type { Limit, Plan, SessionFiles } from './session-files.js';

/** Most bytes of bodies in one write, unless a single append has more. */
const BATCH_BYTES = 1024 * 1024;
/** Most kinds of entries in one session: the place of the newest of each is remembered. */
const MAX_KINDS = 64;

/** What a session's log needs of the log that it belongs to. */
export interface Surroundings {
  readonly disk: Disk;
  readonly boot: string;
  readonly troubles: Troubles;
  readonly damages: Damages;
  now(): number;
  /** Tells that the session began or ceased to need being held in memory and synced. */
  changed(session: SessionLog): void;
}

interface Pending {
  readonly drafts: readonly Draft[];
  readonly bytes: number;
  resolve(first: number): void;
  reject(error: unknown): void;
}

export class SessionLog implements LogReader {
  readonly id: string;
  private readonly folder: string;
  private readonly files: SessionFiles;
  private readonly around: Surroundings;
  private readonly followers = new Set<Follower>();
  private readonly kinds = new Set<string>();
  private shown: Extent;
  private contents: Contents;
  private saving: Promise<void> = Promise.resolve();
  private saveNext: Promise<void> | undefined;
  /** Counts the claims: a writer with a lower number is fenced. 0 while nobody may write. */
  private claims = 0;
  private owner = 0;
  private queue: Pending[] = [];
  private writing: Promise<void> | undefined;
  private unsynced = false;
  private syncing: Promise<void> = Promise.resolve();
  private readonly ended = new AbortController();

  /** `extent` as recovered. */
  constructor(id: string, folder: string, files: SessionFiles, contents: Contents, extent: Extent, around: Surroundings) {
    this.id = id;
    this.folder = folder;
    this.files = files;
    this.contents = contents;
    this.shown = extent;
    this.around = around;
  }

  get record(): SessionRecord {
    return this.contents.record;
  }

  /** Whether it may not be forgotten: someone writes or follows, or something is not on the disk yet. */
  get needed(): boolean {
    return !this.ended.signal.aborted && (this.owner > 0 || this.followers.size > 0 || this.dirty);
  }

  /** Whether a sync has work. */
  get dirty(): boolean {
    return this.unsynced || this.writing !== undefined;
  }

  extent(): Extent {
    return this.shown;
  }

  async read(after: number, limit: Limit): Promise<Numbered[]> {
    const { oldest, current } = this.shown;
    return this.reading(() => this.files.read(Math.max(after, oldest - 1), current, limit));
  }

  async latest(kind: string): Promise<Numbered | undefined> {
    const entry = await this.reading(() => this.files.newest(kind));
    return entry && entry.sequence >= this.shown.oldest ? entry : undefined;
  }

  private async reading<T>(read: () => Promise<T>): Promise<T> {
    this.ended.signal.throwIfAborted();
    try {
      return await read();
    } catch (error) {
      this.ended.signal.throwIfAborted();
      this.noteDamage(error);
      throw error;
    }
  }

  private noteDamage(error: unknown): boolean {
    if (!(error instanceof LogError && error.failure === 'corrupt')) return false;
    this.around.damages.note(this.id, error.message);
    return true;
  }

  /** What goes to a folder that somebody took away never will be there: `corrupt`, where the folders of other sessions still are. */
  private async onDisk(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (!isGone(error) || !(await isThere(dirname(this.folder))) || (await isThere(this.folder))) throw error;
      const gone = new LogError('corrupt', `its folder ${this.folder} is gone`, { cause: error });
      this.noteDamage(gone);
      throw gone;
    }
  }

  follow(follower: Follower): () => void {
    // A wrapper, so that one function that follows twice is told twice and stops once.
    const own: Follower = (...told) => follower(...told);
    this.followers.add(own);
    this.around.changed(this);
    return () => {
      this.followers.delete(own);
      this.around.changed(this);
    };
  }

  /** Takes the session over from whoever wrote before. LogError `unavailable` if that cannot be noted on the disk, `corrupt` if its folder is gone. */
  async claim(): Promise<LogWriter> {
    this.ended.signal.throwIfAborted();
    const turn = ++this.claims;
    this.owner = turn;
    this.around.changed(this);
    try {
      await this.onDisk(this.note({ writing: this.around.boot, current: this.files.current }));
    } catch (error) {
      if (this.owner === turn) this.owner = 0;
      if (error instanceof LogError) throw error;
      throw new LogError('unavailable', `session ${this.id} cannot be opened for writing: ${explain(error)}`, { cause: error });
    }
    return new Writer(this, turn);
  }

  /** Queues drafts of the writer that made the `turn`-th claim. */
  append(drafts: readonly Draft[], turn: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.demand(turn);
      for (const draft of drafts) if (isEntry(draft)) this.check(draft);
      const bytes = drafts.reduce((sum, draft) => sum + (isEntry(draft) ? draft.body.length : 0), 0);
      this.queue.push({ drafts, bytes, resolve, reject });
      if (this.writing) return;
      this.writing = this.writeAll();
      this.around.changed(this);
    });
  }

  async amend(record: SessionRecord, turn: number): Promise<void> {
    this.demand(turn);
    this.contents = { ...this.contents, record };
    await persist(
      () => this.onDisk(this.note({})),
      this.concern('cannot be written', 'the record of session'),
      this.around.troubles,
      this.ended.signal,
    );
  }

  /** The writer of the `turn`-th claim lets go. */
  async release(turn: number): Promise<void> {
    if (this.owner === turn) this.owner = 0;
    await this.drained();
    await this.sync();
    if (this.owner > 0 || this.dirty || this.contents.writing === null || this.ended.signal.aborted) return;
    await this.note({ writing: null, current: this.files.current }).catch(() => {
      // Then the next start thinks that this process was killed, which loses nothing.
    });
    this.around.changed(this);
  }

  /** Lets go in order, whoever writes. */
  close(): Promise<void> {
    return this.release(this.owner);
  }

  /** What is not taken yet never will be; nothing can be asked any more. */
  end(reason: LogError): void {
    this.owner = 0;
    this.ended.abort(reason);
  }

  /** Resolves when nothing waits to be written. */
  async drained(): Promise<void> {
    while (this.writing) await this.writing;
  }

  /** Makes durable what was written; one sync at a time. */
  sync(): Promise<void> {
    this.syncing = this.syncing.then(() => this.syncNow());
    return this.syncing;
  }

  private async syncNow(): Promise<void> {
    if (!this.unsynced) return;
    this.unsynced = false;
    const concern = this.concern('cannot be made durable');
    try {
      await this.onDisk(this.files.sync());
      this.around.troubles.over(concern);
    } catch (error) {
      this.unsynced = !this.ended.signal.aborted && !this.noteDamage(error);
      if (this.unsynced) this.around.troubles.note(concern, error);
    }
    this.around.changed(this);
  }

  private concern(failing: string, what = 'session'): Concern {
    return { sessionId: this.id, failing: `${what} ${this.id} ${failing}` };
  }

  private demand(turn: number): void {
    this.ended.signal.throwIfAborted();
    if (turn === this.owner) return;
    throw new LogError(
      'fenced',
      `this writer may no longer write to session ${this.id}: it released the session, or another writer claimed it`,
    );
  }

  private check(draft: Entry): void {
    const fault =
      faultOf(draft, MAX_BODY_BYTES) ??
      (this.kinds.size >= MAX_KINDS && !this.kinds.has(draft.kind) ? `its kind is one more than ${MAX_KINDS}` : undefined);
    if (fault) throw new LogError('unavailable', `an entry for session ${this.id} cannot be taken: ${fault}`);
    this.kinds.add(draft.kind);
  }

  /** The one place that writes. The first step waits for the end of the caller's turn, so that all its appends are one write. */
  private async writeAll(): Promise<void> {
    await undefined;
    try {
      while (this.queue.length > 0) await this.writeBatch(this.nextBatch());
    } finally {
      this.writing = undefined;
      this.around.changed(this);
    }
  }

  private nextBatch(): Pending[] {
    let bytes = 0;
    const full = this.queue.findIndex((pending, index) => {
      bytes += pending.bytes;
      return index > 0 && bytes > BATCH_BYTES;
    });
    return this.queue.splice(0, full < 0 ? this.queue.length : full);
  }

  private async writeBatch(batch: readonly Pending[]): Promise<void> {
    try {
      const drafts = batch.map((pending) => pending.drafts);
      const plan = this.files.plan(drafts, this.around.now());
      await persist(() => this.put(plan), this.concern('cannot be written'), this.around.troubles, this.ended.signal);
      this.files.took(plan);
      this.unsynced = true;
      await this.announce(batch, plan);
    } catch (error) {
      for (const pending of batch)
        pending.reject(error instanceof LogError ? error : new LogError('unavailable', explain(error), { cause: error }));
    }
  }

  /** A full disk would have nothing trimmed for ever if that waited for a write. */
  private async put(plan: Plan): Promise<void> {
    try {
      await this.onDisk(this.files.write(plan));
    } catch (error) {
      if (isFull(error)) await this.makeRoom();
      throw error;
    }
  }

  /** Makes room for other sessions where nothing is written. What is closed stays as it was when it was closed. */
  async tidy(): Promise<void> {
    if (this.owner === 0 || this.writing) return;
    this.writing = this.makeRoom().then(() => this.writeAll());
    await this.writing;
  }

  private async makeRoom(): Promise<void> {
    this.shown = { ...this.shown, oldest: await this.trimmed(() => this.files.makeRoom(this.around.now())) };
  }

  private async announce(batch: readonly Pending[], plan: Plan): Promise<void> {
    let after = plan.calls.reduce((sum, call) => sum + call.entries.length, 0);
    for (const [index, call] of plan.calls.entries()) {
      after -= call.entries.length;
      this.shown = { oldest: await this.trimmed(() => this.files.trim(after, call.last)), current: call.last };
      const places = placesOf(batch[index]?.drafts ?? [], call.first);
      for (const follower of [...this.followers]) this.tell(follower, call.entries, places);
      batch[index]?.resolve(call.first);
    }
  }

  /** A beginning that cannot be read cannot be trimmed: then more is kept than need be. */
  private async trimmed(trim: () => Promise<number>): Promise<number> {
    const concern = this.concern('cannot be trimmed');
    try {
      const oldest = await trim();
      this.around.troubles.over(concern);
      return Math.max(this.shown.oldest, oldest);
    } catch (error) {
      if (!this.noteDamage(error)) this.around.troubles.note(concern, error);
      return this.shown.oldest;
    }
  }

  private tell(follower: Follower, entries: readonly Numbered[], places: readonly Placed[]): void {
    try {
      follower(entries, this.shown, places);
    } catch {
      // A follower that throws harms nobody else.
    }
  }

  /** Changes record.json. Changes that wait for the one being written share the next writing. */
  private note(change: Partial<Contents>): Promise<void> {
    this.contents = { ...this.contents, ...change };
    this.saveNext ??= this.saving.then(() => {
      this.saveNext = undefined;
      const save = writeContents(this.around.disk, this.folder, this.contents);
      this.saving = save.catch(() => undefined);
      return save;
    });
    return this.saveNext;
  }
}

const isGone = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '');

const isFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT'].includes(errorCode(error) ?? '');

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

class Writer implements LogWriter {
  readonly reader: LogReader;
  private readonly session: SessionLog;
  private readonly turn: number;

  constructor(session: SessionLog, turn: number) {
    this.reader = session;
    this.session = session;
    this.turn = turn;
  }

  append(drafts: readonly Draft[]): Promise<number> {
    return this.session.append(drafts, this.turn);
  }

  amend(record: SessionRecord): Promise<void> {
    return this.session.amend(record, this.turn);
  }

  release(): Promise<void> {
    return this.session.release(this.turn);
  }
}
