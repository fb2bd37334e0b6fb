// The frames of a session for those who watch it live where it runs, if they are to see what was printed: numbers of the log, bytes of the terminal.
// What is read from the log is what the log has. Knows no redaction.
import type { Extent, Follower, LogReader, Numbered, Placed } from '../log/log.js';

export class RawLive implements LogReader {
  readonly missing?: NonNullable<LogReader['missing']>;
  readonly #kept: LogReader;
  /** What was printed, by the id of the entry that stands for it in the log; only while that entry is on its way into the log. */
  readonly #printed = new Map<string, Uint8Array>();
  readonly #followers = new Set<Follower>();

  constructor(kept: LogReader) {
    this.#kept = kept;
    if (kept.missing) this.missing = kept.missing.bind(kept);
    kept.follow((...told) => this.#tell(...told));
  }

  /** The entry with this id is about to be appended, and this was printed. */
  note(id: string, printed: Uint8Array): void {
    this.#printed.set(id, printed);
  }

  extent = (): Extent => this.#kept.extent();
  read: LogReader['read'] = (after, limit) => this.#kept.read(after, limit);
  latest: LogReader['latest'] = (...asked) => this.#kept.latest(...asked);

  follow(follower: Follower): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }

  #tell(entries: readonly Numbered[], extent: Extent, places: readonly Placed[]): void {
    const printed = entries.map((entry) => this.#asPrinted(entry));
    for (const follower of this.#followers) {
      try {
        follower(printed, extent, places);
      } catch {
        // It harms nobody else.
      }
    }
  }

  #asPrinted(entry: Numbered): Numbered {
    const body = this.#printed.get(entry.id);
    this.#printed.delete(entry.id);
    return body ? { ...entry, body } : entry;
  }
}
