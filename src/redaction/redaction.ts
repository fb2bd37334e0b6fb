// What a session looks for in all that leaves it: made once, from its secrets and its operator's patterns. Knows no session.
import type { Automaton } from './automaton.js';
import { LEAST_FORM, visibleText } from './forms.js';
import type { Pattern } from './line-patterns.js';
import { RedactedStream } from './redacted-stream.js';
import { type Emit, Redactor } from './redactor.js';
import { type Sought, seek } from './sought.js';

export class Redaction {
  readonly #sought: Automaton<Sought>;
  readonly #patterns: readonly Pattern[];

  /** Secrets are held as what they are looked for by, and are not to be had from it again. */
  constructor(secrets: readonly string[], patterns: readonly Pattern[]) {
    this.#sought = seek(secrets);
    this.#patterns = patterns;
  }

  /** A terminal's stream. `failed` is called once, and then nothing is emitted any more. */
  stream(cols: number, emit: Emit, failed: (error: unknown) => void): RedactedStream {
    return new RedactedStream(new Redactor(this.#sought, this.#patterns, cols, emit), failed);
  }

  /** A text that is whole. */
  text(text: string): string {
    const pieces: Uint8Array[] = [];
    const redactor = new Redactor(this.#sought, this.#patterns, Number.MAX_SAFE_INTEGER, (redacted) => pieces.push(redacted));
    redactor.push(Buffer.from(text));
    redactor.settle();
    return Buffer.concat(pieces).toString();
  }

  /** A value of JSON, with all texts in it. */
  json<T>(value: T): T {
    return JSON.parse(JSON.stringify(value), (_name, member) => (typeof member === 'string' ? this.text(member) : member)) as T;
  }
}

/** What cannot be found, in words; undefined if all can be. */
export function unfindable(secrets: readonly string[]): string | undefined {
  const index = secrets.findIndex((secret) => visibleText(secret).length < LEAST_FORM);
  return index < 0 ? undefined : `secrets.${index}: expected at least ${LEAST_FORM} characters that a terminal shows`;
}
