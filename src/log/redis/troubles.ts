// What keeps a shared store from taking entries, in words. Knows no client.

import { refusalCode, refusalOf } from '../../redis/refusal.js';

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

const isReply = (error: Error): boolean => error.name === 'ReplyError';

/** Whether it may be tried again with hope: the connection broke, or the store refuses for a while. */
export function isPassing(error: unknown): boolean {
  return error instanceof Error && (!isReply(error) || passing.has(refusalCode(error)));
}

/** What is wrong now. Told once for each reason, and again after all was well. Bounded by the number of sessions. */
export class RedisTroubles {
  readonly #name: string;
  readonly #tell: (sentence: string, sessionId?: string) => void;
  readonly #recovered: () => void;
  #isTold = false;
  readonly #refused = new Map<string, string>();
  readonly #corrupt = new Map<string, string>();
  readonly #told = new Set<string>();
  #away: string | undefined;
  #lastError = 'the connection broke';

  /** `name`: where Redis is. */
  constructor(
    name: string,
    tell: (sentence: string, sessionId?: string) => void = () => undefined,
    recovered: () => void = () => undefined,
  ) {
    this.#name = name;
    this.#tell = tell;
    this.#recovered = recovered;
  }

  /** Why the connection failed last: commands that are given up with it do not say so themselves. */
  failed(error: Error): void {
    this.#lastError = this.explain(error);
  }

  away(): void {
    this.#away = `Redis (${this.#name}) cannot be reached: ${this.#lastError}`;
    this.#isTold = true;
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
    this.#isTold = true;
    this.#say(`Redis (${this.#name}) takes no entries: ${reason}; it is tried again`);
  }

  takes(sessionId: string): void {
    if (this.#refused.delete(sessionId)) this.#calm();
  }

  corrupt(sessionId: string, reason: string): void {
    this.#corrupt.set(sessionId, `session ${sessionId}: ${reason}`);
    this.#say(`session ${sessionId}: ${reason}`, sessionId);
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
    return refusalOf(error) ?? (hidden ? this.#lastError : error.message || error.name);
  }

  #say(sentence: string, sessionId?: string): void {
    if (this.#told.has(sentence)) return;
    this.#told.add(sentence);
    this.#tell(sentence, sessionId);
  }

  #calm(): void {
    if (this.sentence() !== undefined) return;
    this.#told.clear();
    if (this.#isTold) this.#recovered();
    this.#isTold = false;
  }
}
