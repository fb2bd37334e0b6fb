// Entries of a stream in Redis, read in pieces whose size is bounded by what the entries before them weighed. Knows no session.
import type { Client } from '../../redis/client.js';
import { LogError, type Numbered } from '../log.js';

/** Entries asked for at first and at most, and bytes of bodies that are aimed at, in one question. */
const FIRST_ENTRIES = 16;
const MOST_ENTRIES = 1_000;
const AIM_BYTES = 4 * 1024 * 1024;

type Raw = [id: Buffer, fields: Buffer[]];

/** LogError `corrupt` if it is not what the log writes. */
export function readEntry([id, fields]: Raw): Numbered {
  const [, kind, , entryId, , ts, , body] = fields;
  if (!kind || !entryId || !ts || !body)
    throw new LogError('corrupt', `the entry ${id} in Redis is not what this version of the log writes`);
  const sequence = Number.parseInt(id.toString('latin1'), 10);
  return { sequence, kind: kind.toString('latin1'), id: entryId.toString('latin1'), ts: Number(ts.toString('latin1')), body };
}

export class Stretch {
  readonly #client: Client;
  readonly #key: string;
  readonly #limit: { readonly frames: number; readonly bytes: number };
  #ask = FIRST_ENTRIES;

  constructor(client: Client, key: string, limit: { readonly frames: number; readonly bytes: number }) {
    this.#client = client;
    this.#key = key;
    this.#limit = limit;
  }

  /** The entries with numbers in (`after`, `upTo`], as many as the limit allows; past the first, their bodies fit into its bytes. */
  async read(after: number, upTo: number): Promise<Numbered[]> {
    const found: Numbered[] = [];
    let bytes = 0;
    for (let place = after; place < upTo && found.length < this.#limit.frames; ) {
      const wanted = Math.min(this.#ask, this.#limit.frames - found.length);
      const piece = await this.#client.xrangeBuffer(this.#key, `${place + 1}`, `${upTo}`, 'COUNT', wanted);
      for (const entry of piece.map(readEntry)) {
        bytes += entry.body.length;
        if (found.length > 0 && bytes > this.#limit.bytes) return found;
        found.push(entry);
        place = entry.sequence;
      }
      if (piece.length < wanted) return found;
      this.#weigh(bytes / found.length, this.#limit.bytes - bytes);
    }
    return found;
  }

  #weigh(mean: number, left: number): void {
    const fit = Math.ceil(Math.min(left, AIM_BYTES) / Math.max(mean, 1));
    this.#ask = Math.max(1, Math.min(fit, MOST_ENTRIES));
  }
}
