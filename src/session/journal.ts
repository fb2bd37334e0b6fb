// The session's pen: appends to its log, and does what follows from it in the order of the numbers. Knows no terminal and no member.
import { type Draft, isEntry, type LogReader, type LogWriter, type Numbered, type SessionRecord } from '../log/log.js';
import { type Meter, secondsSince } from '../metrics/meter.js';

interface Waiting {
  readonly drafts: number;
  readonly bytes: number;
  /** When it was appended, by `performance.now()`. */
  readonly at: number;
  readonly taken: ((first: number) => void) | undefined;
}

export interface JournalEvents {
  /** Kept entries that the log has taken: all with a lower number were told before. */
  taken(entries: readonly Numbered[]): void;
  /** The log will take nothing more. */
  failed(error: unknown): void;
}

export class Journal {
  readonly #writer: LogWriter;
  readonly #events: JournalEvents;
  readonly #meter: Meter;
  readonly #waiting: Waiting[] = [];
  readonly #unfollow: () => void;
  readonly #idle: Array<() => void> = [];
  #promised: number;
  #bytes = 0;

  constructor(writer: LogWriter, events: JournalEvents, meter: Meter) {
    this.#writer = writer;
    this.#events = events;
    this.#meter = meter;
    this.#promised = writer.reader.extent().current;
    // Followers are told in the order in which they came, and this is the first: what it does for a number
    // (private deliveries, above all) is done before any reader of the session hears of that number.
    this.#unfollow = writer.reader.follow((entries, extent) => this.#take(entries, extent.current));
  }

  get reader(): LogReader {
    return this.#writer.reader;
  }

  /** The number that the next draft will get, unless the log has to jump (I2). */
  get next(): number {
    return this.#promised + 1;
  }

  /** Bytes of bodies that were appended and not yet taken. */
  get bytesInFlight(): number {
    return this.#bytes;
  }

  /** `taken` is called with the first number, in the order of the numbers, after the entries were told. Rejects as LogWriter.append does. */
  append(drafts: readonly Draft[], taken?: (first: number) => void): Promise<number> {
    const bytes = drafts.reduce((sum, draft) => sum + (isEntry(draft) ? draft.body.length : 0), 0);
    this.#waiting.push({ drafts: drafts.length, bytes, at: performance.now(), taken });
    this.#promised += drafts.length;
    this.#bytes += bytes;
    const appended = this.#writer.append(drafts);
    appended.catch((error) => this.#events.failed(error));
    return appended;
  }

  /** Resolves when all that was appended so far is taken. */
  async idle(): Promise<void> {
    while (this.#waiting.length > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  amend(record: SessionRecord): Promise<void> {
    return this.#writer.amend(record);
  }

  /** Hears of nothing more. */
  stop(): void {
    this.#unfollow();
  }

  #take(entries: readonly Numbered[], current: number): void {
    const done = this.#waiting.shift();
    if (!done) return;
    this.#bytes -= done.bytes;
    this.#meter.observe('log_append_seconds', secondsSince(done.at));
    this.#meter.count('log_appended_bytes_total', done.bytes);
    this.#promised = current + this.#waiting.reduce((sum, w) => sum + w.drafts, 0);
    this.#events.taken(entries);
    done.taken?.(current - done.drafts + 1);
    if (this.#waiting.length === 0) for (const resolve of this.#idle.splice(0)) resolve();
  }
}
