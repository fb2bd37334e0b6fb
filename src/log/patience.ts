// Trying again while the disk refuses, and saying so in one sentence. Knows no session and no file.
import { setTimeout as sleep } from 'node:timers/promises';
import { errorCode, explain } from './embedded/disk.js';
import { LogError } from './log.js';

/** The pause after the first failure, doubled after each more, up to the longest. Milliseconds. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 2_000;

/** What the whole disk, or the whole process, suffers from: told of one session it is told of all. */
const ofAll = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EMFILE', 'ENFILE']);

/** What of a session may fail, in the words in which its failing is told: `session … cannot be written`. */
export interface Concern {
  readonly sessionId: string;
  readonly failing: string;
}

/** What is wrong now, by whom it concerns. Bounded by the number of sessions. */
export class Troubles {
  private readonly causes = new Map<string, string>();
  /** Codes of `ofAll` that were told since all was well. */
  private readonly told = new Set<string>();
  private readonly tell: (sentence: string, sessionId: string) => void;
  private readonly recovered: () => void;

  constructor(tell: (sentence: string, sessionId: string) => void = () => undefined, recovered: () => void = () => undefined) {
    this.tell = tell;
    this.recovered = recovered;
  }

  /** Notes a trouble; tells it once for as long as it lasts. */
  note({ sessionId, failing }: Concern, error: unknown): void {
    const cause = explain(error);
    if (this.causes.get(failing) === cause) return;
    this.causes.set(failing, cause);
    const code = errorCode(error) ?? '';
    if (!this.told.has(code)) this.tell(sentenceOf(failing, cause), sessionId);
    if (ofAll.has(code)) this.told.add(code);
  }

  /** It was done: for each batch that is written, so it costs nothing while all is well. */
  over(concern: Concern): void {
    if (this.giveUp(concern) && this.causes.size === 0) this.recovered();
  }

  /** It is not tried any more. Whether it was in trouble. */
  giveUp({ failing }: Concern): boolean {
    const wasTold = this.causes.delete(failing);
    if (wasTold && this.causes.size === 0) this.told.clear();
    return wasTold;
  }

  /** The oldest trouble, and how many there are beside it. */
  sentence(): string | undefined {
    const [first] = this.causes;
    const more = this.causes.size - 1;
    return first && `${sentenceOf(...first)}${more > 0 ? ` (and ${more} more like it)` : ''}`;
  }

  /** Of the oldest trouble, in words. */
  cause(): string | undefined {
    return this.causes.values().next().value;
  }
}

const sentenceOf = (failing: string, cause: string): string => `${failing}: ${cause}; it is tried again`;

/** Does `attempt` until it succeeds, with what went wrong in `troubles`. Rejects with its LogError, or the signal's reason, when that is given up. */
export async function persist(attempt: () => Promise<void>, concern: Concern, troubles: Troubles, signal: AbortSignal): Promise<void> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    signal.throwIfAborted();
    try {
      await attempt();
      return troubles.over(concern);
    } catch (error) {
      if (error instanceof LogError) return giveUp(error, concern, troubles);
      troubles.note(concern, error);
    }
    await sleep(pause, undefined, { signal }).catch(() => troubles.giveUp(concern));
  }
}

function giveUp(error: LogError, concern: Concern, troubles: Troubles): never {
  troubles.giveUp(concern);
  throw error;
}
