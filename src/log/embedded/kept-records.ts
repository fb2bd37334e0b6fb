// Records of sessions that nobody has open, as they were read: a list need not read all files again. Knows no file and no session.
import type { SessionRecord } from '../log.js';

/** Characters of JSON of all that is kept. Who comes when there is no room is read each time, so that a long list pushes nobody out. */
const MOST_CHARS = 16 * 1024 * 1024;

export class KeptRecords {
  readonly #kept = new Map<string, { readonly record: SessionRecord; readonly chars: number }>();
  /** Of each session the newest read that is under way; none from before it was forgotten. */
  readonly #reads = new Map<string, object>();
  readonly #most: number;
  #chars = 0;

  constructor(most = MOST_CHARS) {
    this.#most = most;
  }

  /** What is kept, or else what `read` gives, which is kept unless the session was forgotten meanwhile. */
  async get(sessionId: string, read: () => Promise<SessionRecord | undefined>): Promise<SessionRecord | undefined> {
    const kept = this.#kept.get(sessionId);
    if (kept) return kept.record;
    const own = {};
    this.#reads.set(sessionId, own);
    try {
      const record = await read();
      if (record && this.#reads.get(sessionId) === own) this.#keep(sessionId, record);
      return record;
    } finally {
      if (this.#reads.get(sessionId) === own) this.#reads.delete(sessionId);
    }
  }

  /** It is another now, or may become so by whoever has it open. */
  forget(sessionId: string): void {
    this.#reads.delete(sessionId);
    this.#chars -= this.#kept.get(sessionId)?.chars ?? 0;
    this.#kept.delete(sessionId);
  }

  #keep(sessionId: string, record: SessionRecord): void {
    this.forget(sessionId);
    const chars = JSON.stringify(record).length;
    if (this.#chars + chars > this.#most) return;
    this.#kept.set(sessionId, { record, chars });
    this.#chars += chars;
  }
}
