// All that is asked of an archive's store: counted, its troubles told once while they last, and what was read kept for a while. Knows no session.
import { LogError } from '../log.js';
import type { ProverOf } from './proof.js';
import { decodeSegment, encodeSegment, type Named, type Segment } from './segment.js';
import type { ArchiveStore } from './store.js';

/** Bytes of segments that are kept as they were read, for all readers of this process together. */
const CACHE_BYTES = 32 * 1024 * 1024;

/** Since the process began. */
export interface ArchiveCounts {
  /** Objects that were written, and bytes in them. */
  readonly objects: number;
  readonly bytes: number;
  /** Requests that the store did not fulfil. */
  readonly failures: number;
  /** Stretches of numbers that were trimmed before they could be kept, and how many numbers there are in them. */
  readonly gaps: number;
  readonly lostNumbers: number;
}

type Verb = 'written' | 'read' | 'listed' | 'cleared';

export class Access {
  readonly counts: { -readonly [name in keyof ArchiveCounts]: number } = { objects: 0, bytes: 0, failures: 0, gaps: 0, lostNumbers: 0 };
  readonly #store: ArchiveStore;
  readonly #proverOf: ProverOf;
  readonly #tell: (sentence: string) => void;
  readonly #failing = new Set<Verb>();
  readonly #reading = new Map<string, Promise<Segment | undefined>>();
  /** In the order of their last use. */
  readonly #read = new Map<string, { readonly segment: Segment; readonly bytes: number }>();
  #readBytes = 0;

  constructor(store: ArchiveStore, proverOf: ProverOf, tell: (sentence: string) => void) {
    this.#store = store;
    this.#proverOf = proverOf;
    this.#tell = tell;
  }

  /** Whether the store did not do what it was asked last. */
  get isAway(): boolean {
    return this.#failing.size > 0;
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    await this.#ask('written', () => this.#store.put(name, bytes));
    this.counts.objects++;
    this.counts.bytes += bytes.length;
  }

  async putSegment(named: Named, segment: Segment): Promise<void> {
    await this.put(named.name, encodeSegment(named, segment, await this.#proverOf(named.session)));
  }

  get(name: string): Promise<Buffer | undefined> {
    return this.#ask('read', () => this.#store.get(name));
  }

  list(folder: string): Promise<string[]> {
    return this.#ask('listed', () => this.#store.list(folder));
  }

  async delete(names: readonly string[]): Promise<void> {
    if (names.length > 0) await this.#ask('cleared', () => this.#store.delete(names));
    for (const name of names) this.#forget(name);
  }

  /** Undefined if it is not there any more. Rejects with LogError `corrupt`, or `unavailable`. */
  segment(sessionId: string, name: string): Promise<Segment | undefined> {
    const known = this.#read.get(name);
    if (known) return Promise.resolve(this.#keep(name, known));
    const reading = this.#reading.get(name) ?? this.#fetch({ session: sessionId, name }).finally(() => this.#reading.delete(name));
    this.#reading.set(name, reading);
    return reading;
  }

  close(): void {
    this.#store.close();
  }

  async #fetch(named: Named): Promise<Segment | undefined> {
    const [bytes, prover] = await Promise.all([this.get(named.name), this.#proverOf(named.session)]);
    return bytes && this.#keep(named.name, { segment: decodeSegment(named, bytes, prover), bytes: bytes.length });
  }

  #keep(name: string, kept: { readonly segment: Segment; readonly bytes: number }): Segment {
    this.#forget(name);
    this.#read.set(name, kept);
    this.#readBytes += kept.bytes;
    for (const longestUnused of this.#read.keys()) {
      if (this.#readBytes <= CACHE_BYTES) break;
      this.#forget(longestUnused);
    }
    return kept.segment;
  }

  #forget(name: string): void {
    this.#readBytes -= this.#read.get(name)?.bytes ?? 0;
    this.#read.delete(name);
  }

  async #ask<T>(verb: Verb, ask: () => Promise<T>): Promise<T> {
    try {
      const answer = await ask();
      this.#failing.delete(verb);
      return answer;
    } catch (error) {
      if (error instanceof LogError) throw error;
      this.counts.failures++;
      const sentence = `the archive (${this.#store.place}) cannot be ${verb}: ${why(error)}`;
      if (!this.#failing.has(verb)) this.#tell(sentence);
      this.#failing.add(verb);
      throw new LogError('unavailable', sentence, { cause: error });
    }
  }
}

function why(error: unknown): string {
  const { message, code, name } = error as Partial<NodeJS.ErrnoException>;
  return message || code || name || String(error);
}
