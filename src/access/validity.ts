// Whether what somebody was let in with is still good: not past its end, and not revoked. Knows no token's signature, no socket and no store.
import type { Principal } from './principal.js';

/** Milliseconds between two looks at all that is watched, and for which an answer about a revocation is remembered. */
const LOOK_MS = 1000;
/** Answers that are remembered, the newest of them. */
const REMEMBERED = 10_000;

/**
 * Where it is kept what was revoked, as words: `sub:<whose>`, `jti:<id of a token>`, `cert:<SHA-256 of a certificate>` or `serial:<its number>`,
 * these two in lower-case hex.
 */
export interface Revocations {
  /** Those of the words that are revoked. Rejects while it cannot be known. */
  among(words: readonly string[]): Promise<ReadonlySet<string>>;
}

export interface ValidityOptions {
  readonly sources: readonly Revocations[];
  /** Milliseconds for which what is open stays open behind the end of its token. */
  readonly graceMs: number;
  /** How the last look went: what it threw, or undefined. What cannot be known is taken for good. */
  readonly onLook?: (error: unknown) => void;
  readonly now?: () => number;
}

interface Watched {
  readonly principal: Principal;
  readonly end: (why: string) => void;
}

/** One look for all, about once a second. */
export class Validity {
  readonly #options: ValidityOptions;
  readonly #sources: Revocations[];
  readonly #watched = new Set<Watched>();
  readonly #answers = new Map<string, { readonly isRevoked: boolean; readonly at: number }>();
  readonly #timer: NodeJS.Timeout;
  #isLooking = false;

  constructor(options: ValidityOptions) {
    this.#options = options;
    this.#sources = [...options.sources];
    this.#timer = setInterval(() => void this.look(), LOOK_MS).unref();
  }

  /** From now on this source is asked as well. */
  heed(source: Revocations): void {
    this.#sources.push(source);
  }

  /** `end` is called once, with the reason, when the principal's token is no longer good. Returns the way to stop. */
  watch(principal: Principal, end: (why: string) => void): () => void {
    const watched = { principal, end };
    this.#watched.add(watched);
    return () => void this.#watched.delete(watched);
  }

  /** As it was known a second ago at most. */
  async isRevoked(principal: Principal): Promise<boolean> {
    const words = wordsOf(principal);
    await this.#ask(words.filter((word) => !this.#isFresh(word)));
    return words.some((word) => this.#answers.get(word)?.isRevoked);
  }

  /** Ends all that is no longer good. */
  async look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    const now = this.#now();
    this.#endThose(({ expiresAt }) => expiresAt !== undefined && now >= expiresAt + this.#options.graceMs, 'has expired');
    const words = [...new Set([...this.#watched].flatMap(({ principal }) => wordsOf(principal)))];
    await this.#ask(words);
    this.#endThose((principal) => wordsOf(principal).some((word) => this.#answers.get(word)?.isRevoked), 'was revoked');
    this.#isLooking = false;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#watched.clear();
  }

  #endThose(isOver: (principal: Principal) => boolean, why: string): void {
    for (const watched of [...this.#watched]) {
      if (!isOver(watched.principal)) continue;
      this.#watched.delete(watched);
      watched.end(`the ${credentialOf(watched.principal)} ${why}`);
    }
  }

  async #ask(words: readonly string[]): Promise<void> {
    const { onLook } = this.#options;
    if (words.length === 0 || this.#sources.length === 0) return;
    try {
      const revoked = await Promise.all(this.#sources.map((source) => source.among(words)));
      const at = this.#now();
      for (const word of words) this.#remember(word, { isRevoked: revoked.some((set) => set.has(word)), at });
      onLook?.(undefined);
    } catch (error) {
      onLook?.(error);
    }
  }

  #remember(word: string, answer: { readonly isRevoked: boolean; readonly at: number }): void {
    this.#answers.delete(word);
    this.#answers.set(word, answer);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > REMEMBERED && oldest !== undefined) this.#answers.delete(oldest);
  }

  #isFresh(word: string): boolean {
    return this.#now() - (this.#answers.get(word)?.at ?? Number.NEGATIVE_INFINITY) < LOOK_MS;
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now();
  }
}

/** What the principal is known by, in a word. */
export const credentialOf = ({ certificate }: Principal): string => (certificate ? 'certificate' : 'token');

/** A link is good no longer than who made it. */
function wordsOf({ name, tokenId, sharedBy, certificate }: Principal): string[] {
  const subs = [name, sharedBy].filter((sub) => sub !== undefined).map((sub) => `sub:${sub}`);
  const tokens = tokenId === undefined ? [] : [`jti:${tokenId}`];
  const certificates = certificate ? [`cert:${certificate.fingerprint}`, `serial:${certificate.serial}`] : [];
  return [...subs, ...tokens, ...certificates];
}
