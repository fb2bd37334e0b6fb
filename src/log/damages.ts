// Which sessions were found damaged, in words. Knows no file; a damaged session keeps no other from anything.

/** Told once of each damage, in a sentence that names the session. */
export type TellDamage = (sentence: string, sessionId: string) => void;

/** Bounded by the number of sessions. */
export class Damages {
  readonly #found = new Map<string, { readonly sentence: string; readonly unopened: boolean }>();
  readonly #tell: TellDamage;
  readonly #verdict: string;

  /** `verdict`: what is said of a session before it is said why. */
  constructor(tell: TellDamage = () => undefined, verdict = 'is damaged') {
    this.#tell = tell;
    this.#verdict = verdict;
  }

  /** What was stored of a session cannot be read. Told once; `unopened` if nothing of it can be. */
  note(sessionId: string, why: string, unopened = false): void {
    const sentence = `session ${sessionId} ${this.#verdict}: ${why}`;
    if (this.#found.get(sessionId)?.sentence === sentence) return;
    this.#found.set(sessionId, { sentence, unopened });
    this.#tell(sentence, sessionId);
  }

  /** Somebody mended what could not be opened. What was found damaged while reading on stays named: opening does not read it all. */
  opened(sessionId: string): void {
    if (this.#found.get(sessionId)?.unopened) this.#found.delete(sessionId);
  }

  forget(sessionId: string): void {
    this.#found.delete(sessionId);
  }

  sentences(): string[] {
    return [...this.#found.values()].map(({ sentence }) => sentence);
  }
}
