// What came for this replica: read as it comes, each message handled once. Knows not who sends, and what.
import { bounded } from '../session/bounded.js';
import type { Logger } from '../session/sessions.js';
import { Alarm } from './alarm.js';
import { another, type Client, ready } from './client.js';
import { readLetters, Sorter } from './letters.js';
import { Trouble } from './trouble.js';

/** Entries that are read at once, each of up to one MiB, or one message. */
const READ_ENTRIES = 16;
/** How long one read waits for an entry, in milliseconds; after that it begins at the start again, which finds what a failover put behind. */
const BLOCK_MS = 1000;
/** How much later than that its answer may be before the connection is thought dead, in milliseconds. */
const PATIENCE_MS = 3000;
/** The pause after a failed read, in milliseconds. */
const RETRY_MS = 50;
/** Senders whose last number is remembered. */
const SENDERS_LIMIT = 1024;

export interface InboxParts {
  readonly client: Client;
  /** Where messages for the life of this replica lie; undefined while its lease is not held: that life may be over. */
  key(): string | undefined;
  handle(from: string, message: Uint8Array): void;
  gap(from: string, lost: number): void;
  readonly logger: Logger;
}

/** An entry of the stream: its id, and names and values in turn. */
type StreamEntry = readonly [id: Buffer, fields: readonly Buffer[]];

export class Inbox {
  readonly #parts: InboxParts;
  readonly #reader: Client;
  readonly #alarm = new Alarm();
  readonly #trouble: Trouble;
  #sorter = new Sorter(SENDERS_LIMIT);
  #key: string | undefined;
  #after = '0';
  #isOpen = true;
  readonly #running: Promise<void>;

  constructor(parts: InboxParts) {
    this.#parts = parts;
    this.#reader = another(parts.client);
    this.#trouble = new Trouble(parts.logger, 'the inbox of this replica');
    this.#running = this.#run();
  }

  /** To be called when the lease is held again. */
  turn(): void {
    if (this.#isOpen && this.#parts.key() !== this.#key) this.#reader.disconnect(true);
    this.#alarm.ring();
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    this.#alarm.ring();
    this.#reader.disconnect();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isOpen) {
      try {
        await this.#turn(this.#parts.key());
      } catch (error) {
        await this.#recover(error);
      }
    }
  }

  async #turn(key: string | undefined): Promise<void> {
    if (key === undefined) return this.#alarm.pause(BLOCK_MS);
    if (key !== this.#key) this.#begin(key);
    await ready(this.#reader, BLOCK_MS);
    const entries = await this.#read(key);
    this.#trouble.note(undefined);
    if (this.#isOpen && this.#parts.key() === key) this.#take(key, entries);
  }

  /** Numbers begin anew in each inbox. */
  #begin(key: string): void {
    this.#key = key;
    this.#after = '0';
    this.#sorter = new Sorter(SENDERS_LIMIT);
  }

  async #read(key: string): Promise<readonly StreamEntry[]> {
    const asked = this.#reader.xreadBuffer('COUNT', READ_ENTRIES, 'BLOCK', BLOCK_MS, 'STREAMS', key, this.#after);
    const reply = await bounded(asked, BLOCK_MS + PATIENCE_MS, () => new Error('Redis did not answer'));
    return (reply?.[0]?.[1] ?? []) as readonly StreamEntry[];
  }

  /** What stays because its removal fails is read again, known as a copy, and removed then. */
  #take(key: string, entries: readonly StreamEntry[]): void {
    this.#after = entries.at(-1)?.[0].toString() ?? '0';
    for (const [, fields] of entries) this.#open(fields);
    if (entries.length > 0) this.#parts.client.xdel(key, ...entries.map(([id]) => id)).catch(() => {});
  }

  #open(fields: readonly Buffer[]): void {
    const [, from = '', , sender = '', , letters = Buffer.alloc(0)] = fields;
    try {
      for (const letter of readLetters(letters)) {
        const missing = this.#sorter.take(sender.toString(), letter);
        if (missing === undefined) continue;
        if (missing > 0) this.#parts.gap(from.toString(), missing);
        this.#parts.handle(from.toString(), letter.message);
      }
    } catch (error) {
      this.#parts.logger.error({ err: error, from: from.toString() }, 'an entry of the inbox cannot be read');
    }
  }

  async #recover(error: unknown): Promise<void> {
    this.#after = '0';
    if (!this.#isOpen) return;
    this.#trouble.note(error);
    if (this.#reader.status === 'ready') this.#reader.disconnect(true);
    await this.#alarm.pause(RETRY_MS);
  }
}
