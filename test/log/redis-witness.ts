// Appends without end, remembers what was promised, and says whether the log keeps it. Knows no store.
import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'vitest';
import type { LogReader, LogWriter, Numbered } from '../../src/log/log.js';
import { entry, nobody } from './contract.js';

const everything = { frames: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER };
/** Appends that wait for their answer at once. */
const IN_FLIGHT = 20;

export class Witness {
  readonly #writer: LogWriter;
  /** The entries that were promised, by number. */
  readonly promised = new Map<number, ReturnType<typeof entry>>();
  readonly #under = new Set<Promise<void>>();
  #count = 0;

  constructor(writer: LogWriter) {
    this.#writer = writer;
  }

  /** Hands in one more: an entry, or two around a place. */
  append(size = 30): Promise<void> {
    const make = () => entry(`${this.#count++} `.padEnd(size, '.'), Date.now());
    const drafts = this.#count % 7 === 0 ? [make(), nobody, make()] : [make()];
    const appended = this.#writer.append(drafts).then((first) => {
      for (const [i, draft] of drafts.entries()) if ('body' in draft) this.promised.set(first + i, draft);
    });
    const under = appended.finally(() => this.#under.delete(under));
    this.#under.add(under);
    return under;
  }

  async appendMany(count: number, size?: number): Promise<void> {
    for (let n = 0; n < count; n++) {
      void this.append(size);
      if (this.#under.size >= IN_FLIGHT) await Promise.race(this.#under);
    }
    await this.allTaken();
  }

  /** Appends until `stop` is resolved, then waits for all. */
  async appendUntil(stop: Promise<unknown>): Promise<void> {
    let isOver = false;
    void stop.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      void this.append();
      if (this.#under.size >= IN_FLIGHT) await Promise.race(this.#under);
      await turn();
    }
    await Promise.all([stop, this.allTaken()]);
  }

  async allTaken(): Promise<void> {
    await Promise.all(this.#under);
  }

  /** Every entry that was promised is there, once, under its number, and nothing else is. */
  async expectAll(reader: LogReader): Promise<void> {
    const kept = await reader.read(0, everything);
    expect(kept.map(essence)).toEqual([...this.promised].map(([sequence, draft]) => essence({ sequence, ...draft })));
    expect(kept.map(({ body }) => Number.parseInt(Buffer.from(body).toString(), 10))).toEqual(
      Array.from({ length: kept.length }, (_, n) => n),
    );
  }
}

function essence({ sequence, id, ts, kind, body }: Numbered): unknown[] {
  return [sequence, id, ts, kind, Buffer.from(body).toString()];
}

/** What a follower was told, and whether that was each number once, in order. */
export function told(reader: LogReader): { readonly entries: Numbered[]; readonly from: number } {
  const entries: Numbered[] = [];
  const from = reader.extent().current;
  let current = from;
  reader.follow((some, extent, places) => {
    for (const { sequence } of [...some, ...places]) expect(sequence > current && sequence <= extent.current).toBe(true);
    expect(extent.current).toBeGreaterThan(current);
    current = extent.current;
    entries.push(...some);
  });
  return { entries, from };
}
