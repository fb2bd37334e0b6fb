// What keeps a shared store from taking entries, in words. Knows no client.

const words: Readonly<Record<string, string>> = {
  OOM: 'its memory is full (maxmemory)',
  READONLY: 'the server is a replica, and takes no writes',
  LOADING: 'it is still loading its data',
  CLUSTERDOWN: 'the cluster is down',
  MASTERDOWN: 'the replica has lost its master',
  MISCONF: 'it cannot save its data to its disk',
  NOREPLICAS: 'it has fewer replicas than it was told to have',
  BUSY: 'it is busy with a script',
  NOAUTH: 'it asks for a password',
  WRONGPASS: 'it refuses the credentials',
  NOPERM: 'its user may not do that',
};

/** Those that come to an end without anybody's doing, as far as one can know. */
const passing = new Set([
  'OOM',
  'READONLY',
  'LOADING',
  'CLUSTERDOWN',
  'MASTERDOWN',
  'MISCONF',
  'NOREPLICAS',
  'BUSY',
  'TRYAGAIN',
  'MOVED',
  'ASK',
]);

const codeOf = (error: Error): string => /^[A-Z]+(?= |$)/.exec(error.message)?.[0] ?? '';
const isReply = (error: Error): boolean => error.name === 'ReplyError';

/** Whether it may be tried again with hope: the connection broke, or the store refuses for a while. */
export function isPassing(error: unknown): boolean {
  return error instanceof Error && (!isReply(error) || passing.has(codeOf(error)));
}

/** What is wrong now. Told once for each reason, and again after all was well. Bounded by the number of sessions. */
export class RedisTroubles {
  readonly #name: string;
  readonly #tell: (sentence: string) => void;
  readonly #refused = new Map<string, string>();
  readonly #corrupt = new Map<string, string>();
  readonly #told = new Set<string>();
  #away: string | undefined;
  #lastError = 'the connection broke';

  /** `name`: where Redis is. */
  constructor(name: string, tell: (sentence: string) => void = () => undefined) {
    this.#name = name;
    this.#tell = tell;
  }

  /** Why the connection failed last: commands that are given up with it do not say so themselves. */
  failed(error: Error): void {
    this.#lastError = this.explain(error);
  }

  away(): void {
    this.#away = `Redis (${this.#name}) cannot be reached: ${this.#lastError}`;
    this.#say(this.#away);
  }

  back(): void {
    this.#away = undefined;
    this.#calm();
  }

  /** Entries of a session are not taken. */
  refuses(sessionId: string, error: unknown): void {
    const reason = this.explain(error);
    this.#refused.set(sessionId, reason);
    this.#say(`Redis (${this.#name}) takes no entries: ${reason}; it is tried again`);
  }

  takes(sessionId: string): void {
    if (this.#refused.delete(sessionId)) this.#calm();
  }

  corrupt(sessionId: string, reason: string): void {
    this.#corrupt.set(sessionId, `session ${sessionId}: ${reason}`);
    this.#say(`session ${sessionId}: ${reason}`);
  }

  whole(sessionId: string): void {
    if (this.#corrupt.delete(sessionId)) this.#calm();
  }

  sentence(): string | undefined {
    if (this.#away) return this.#away;
    const [reason] = this.#refused.values();
    const of = this.#refused.size > 1 ? ` of ${this.#refused.size} sessions` : '';
    return reason && `Redis (${this.#name}) takes no entries${of}: ${reason}; it is tried again`;
  }

  /** The sessions that were found damaged. */
  damaged(): string[] {
    return [...this.#corrupt.values()];
  }

  explain(error: unknown): string {
    if (!(error instanceof Error)) return String(error);
    const hidden = /isn't writeable|[Cc]onnection is closed|isn't ready|max retries per request|None of startup nodes/.test(error.message);
    if (!isReply(error)) return hidden ? this.#lastError : error.message || error.name;
    const code = codeOf(error);
    return words[code] ? `${words[code]} (${code})` : error.message.replace(/ script: .*/s, '');
  }

  #say(sentence: string): void {
    if (this.#told.has(sentence)) return;
    this.#told.add(sentence);
    this.#tell(sentence);
  }

  #calm(): void {
    if (this.sentence() === undefined) this.#told.clear();
  }
}
