// Trying again while the disk refuses, and saying so in one sentence. Knows no session and no file.
import { setTimeout as sleep } from 'node:timers/promises';
import { explain } from './embedded/disk.js';
import { LogError } from './log.js';

/** The pause after the first failure, doubled after each more, up to the longest. Milliseconds. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 2_000;

/** What is wrong now, by whom it concerns. Bounded by the number of sessions. */
export class Troubles {
  private readonly sentences = new Map<string, string>();
  private readonly tell: (sentence: string) => void;

  constructor(tell: (sentence: string) => void = () => undefined) {
    this.tell = tell;
  }

  /** Notes a trouble; tells it once for as long as it lasts. */
  set(key: string, sentence: string): void {
    if (this.sentences.get(key) === sentence) return;
    this.sentences.set(key, sentence);
    this.tell(sentence);
  }

  clear(key: string): void {
    this.sentences.delete(key);
  }

  /** The oldest trouble, and how many there are beside it. */
  sentence(): string | undefined {
    const [first] = this.sentences.values();
    const more = this.sentences.size - 1;
    return first && more > 0 ? `${first} (and ${more} more like it)` : first;
  }
}

/** Does `attempt` until it succeeds, with what went wrong under `key` in `troubles`. Rejects with its LogError, or the signal's reason, when that is given up. */
export async function persist(
  attempt: () => Promise<void>,
  what: string,
  key: string,
  troubles: Troubles,
  signal: AbortSignal,
): Promise<void> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    signal.throwIfAborted();
    try {
      await attempt();
      return troubles.clear(key);
    } catch (error) {
      if (error instanceof LogError) return giveUp(error, key, troubles);
      troubles.set(key, `${what} cannot be written: ${explain(error)}; it is tried again`);
    }
    await sleep(pause, undefined, { signal }).catch(() => troubles.clear(key));
  }
}

function giveUp(error: LogError, key: string, troubles: Troubles): never {
  troubles.clear(key);
  throw error;
}
