// What one session has in the archive, kept up and cleared away. Knows when nothing of that is due.

import { FORMAT } from '../format.js';
import { type Log, LogError, type LogReader, type Retention } from '../log.js';
import type { Access } from './access.js';
import { bridge, type Copying, copy, type Gap } from './copy.js';
import { recordsOf, segmentsOf } from './names.js';
import { newestRecord, putRecord } from './records.js';
import { type Keeping, Shelf } from './shelf.js';

/** Of a session whose log was made before there was an archive, should it ever have to be made again. */
const SOME_RETENTION: Retention = { frames: 1_000, seconds: 86_400 };

export interface Surroundings {
  readonly log: Log;
  readonly access: Access;
  readonly keeping: Keeping;
  /** What this process's objects are called by. */
  readonly writer: string;
  gap(gap: Gap): void;
}

export class SessionArchive {
  readonly id: string;
  readonly shelf: Shelf;
  readonly #around: Surroundings;
  #retention: Retention | undefined;
  #isAmended: boolean;
  #completeTo: number | undefined;
  /** Nothing was ever put there: what was not begun need not be cleared away. */
  #isEmpty: boolean;
  #isRemoved = false;

  private constructor(id: string, around: Surroundings, shelf: Shelf, retention?: Retention) {
    this.id = id;
    this.shelf = shelf;
    this.#around = around;
    this.#retention = retention;
    this.#isEmpty = retention !== undefined;
    this.#isAmended = this.#isEmpty;
  }

  /** Of a session that has just begun. */
  static begin(id: string, retention: Retention, around: Surroundings): SessionArchive {
    return new SessionArchive(id, around, Shelf.empty(id, around.access, around.keeping), retention);
  }

  static of(id: string, around: Surroundings): SessionArchive {
    return new SessionArchive(id, around, new Shelf(id, around.access, around.keeping));
  }

  /** Its record is another now. */
  amended(): void {
    this.#isAmended = true;
  }

  /** Puts there what is not there yet, and takes away what was kept long enough. Rejects with LogError `unavailable` if the store refuses. */
  keepUp(reader: LogReader): Promise<void> {
    return this.#alone(async () => {
      await copy(reader, this.#copying());
      if (this.#isAmended) await this.#putRecord(reader.extent().current, false);
      await this.#clearExpired();
    });
  }

  /** The same for a session that has ended: all of it is there then. Returns the number up to which that is. */
  complete(reader: LogReader): Promise<number> {
    return this.#alone(async () => {
      await this.shelf.load(0);
      const { current, oldest } = reader.extent();
      await copy(reader, this.#copying());
      await bridge(this.#copying(), current);
      const { end } = this.shelf;
      // One that the log has let go of was complete before.
      if (this.#isAmended || (end !== this.#completeTo && oldest <= current)) await this.#putRecord(end, true);
      this.#completeTo = end;
      await this.#clearExpired();
      return end;
    });
  }

  /** Nothing was appended up to this number. */
  bridge(upTo: number): Promise<void> {
    return this.#alone(async () => {
      await this.shelf.load(0);
      await bridge(this.#copying(), upTo);
    });
  }

  /** Deletes all that there is of the session. What is still under way here comes before; nothing comes after. */
  async remove(): Promise<void> {
    const { access } = this.#around;
    await this.shelf.alone(async () => {
      if (this.#isEmpty) return;
      for (const folder of [segmentsOf(this.id), recordsOf(this.id)]) await access.delete(await access.list(folder));
    });
    this.#isRemoved = true;
  }

  /** One after another: nothing is archived twice here. */
  #alone<T>(work: () => Promise<T>): Promise<T> {
    return this.shelf.alone(() => {
      if (this.#isRemoved) throw new LogError('unknown_session', `the session ${this.id} was removed`);
      this.#isEmpty = false;
      return work();
    });
  }

  #copying(): Copying {
    const { access, writer, keeping, gap } = this.#around;
    return { shelf: this.shelf, access, writer, now: () => keeping.now(), gap };
  }

  /** Read where the log is stored, since another may have amended it. */
  async #putRecord(current: number, isComplete: boolean): Promise<void> {
    const { log, access, writer, keeping } = this.#around;
    this.#isAmended = false;
    try {
      const record = await log.record(this.id);
      this.#retention ??= (await newestRecord(access, this.id))?.retention ?? SOME_RETENTION;
      if (record)
        await putRecord(
          access,
          this.id,
          { format: FORMAT, retention: this.#retention, current, isComplete, record },
          keeping.now(),
          writer,
        );
    } catch (error) {
      this.#isAmended = true;
      throw error;
    }
  }

  async #clearExpired(): Promise<void> {
    const expired = this.shelf.expired();
    if (expired.length === 0) return;
    await this.#around.access.delete(expired.map(({ name }) => name));
    this.shelf.forget(expired);
  }
}
