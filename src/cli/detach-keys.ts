// Finds the keys that detach, and those that stop the job, among the bytes that are typed. Knows no terminal and no session.
import { InvalidArgumentError } from 'commander';

/** Keys in a row. */
const MAX_KEYS = 4;
/** How long the first of them waits for the next before it is typed after all, in milliseconds. */
const WAIT_MS = 1000;
/** In place of the last of several detach keys, it stops the job. */
const STOP_KEY = 'ctrl-z';

export interface DetachKeys {
  /** As a person reads it: `ctrl-] d`. */
  readonly name: string;
  /** Each key, in all the ways in which terminals send it. */
  readonly keys: ReadonlyArray<readonly string[]>;
}

/** Parses `ctrl-],d`: single characters, or `ctrl-` and a letter or one of `@[\]^_`. */
export function parseDetachKeys(text: string): DetachKeys {
  const names = text.split(',').map((name) => name.trim());
  if (names.length > MAX_KEYS) throw new InvalidArgumentError(`expected at most ${MAX_KEYS} keys`);
  return { name: names.join(' '), keys: names.map(waysToSend) };
}

function waysToSend(name: string): string[] {
  const [, key = ''] = /^ctrl-([a-z@[\\\]^_])$/i.exec(name) ?? [];
  const code = (key || name).toLowerCase().charCodeAt(0);
  // The long forms are of terminals in which a program has turned on an extended keyboard.
  if (key) return [String.fromCharCode(key.toUpperCase().charCodeAt(0) & 0x1f), `\x1b[${code};5u`, `\x1b[27;5;${code}~`];
  if (/^[\x20-\x7e]$/.test(name)) return [name, `\x1b[${code}u`];
  throw new InvalidArgumentError('expected keys with commas between, each a character or ctrl-<letter>, as ctrl-],d');
}

export interface TypedEvents {
  typed(bytes: Uint8Array): void;
  detach(): void;
  /** Asked for as the detach keys are, but with ctrl-z for the last of them: where one key alone detaches, it cannot be. */
  suspend(): void;
}

/** What may be the beginning of such keys is held back, until the next key or for a second. */
export class DetachFilter {
  readonly #meanings: ReadonlyMap<string, 'detach' | 'suspend'>;
  /** What was typed when a whole number of the keys was: only there it is worth waiting for more. */
  readonly #pauses: ReadonlySet<string>;
  readonly #events: TypedEvents;
  #held = '';
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ keys }: DetachKeys, events: TypedEvents) {
    const begun = keys.slice(0, -1);
    const stops = begun.length > 0 ? sequences([...begun, waysToSend(STOP_KEY)]) : [];
    this.#meanings = new Map([
      ...stops.map((each) => [each, 'suspend'] as const),
      ...sequences(keys).map((each) => [each, 'detach'] as const),
    ]);
    this.#pauses = new Set(begun.flatMap((_, at) => sequences(begun.slice(0, at + 1))));
    this.#events = events;
  }

  take(bytes: Uint8Array): void {
    clearTimeout(this.#timer);
    this.#type(this.#passed(Buffer.from(bytes).toString('latin1')));
    const meaning = this.#meanings.get(this.#held);
    if (meaning) this.#found(meaning);
    else if (this.#pauses.has(this.#held)) this.#timer = setTimeout(() => this.#release(), WAIT_MS);
    else this.#release();
  }

  /** Nothing more comes. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  /** What is surely not of these keys; what is held then is the beginning of them, or all. */
  #passed(typed: string): string {
    let passed = '';
    for (const char of typed) {
      this.#held += char;
      if (this.#meanings.has(this.#held)) break;
      while (!this.#mayBecome()) {
        passed += this.#held[0];
        this.#held = this.#held.slice(1);
      }
    }
    return passed;
  }

  #found(meaning: 'detach' | 'suspend'): void {
    this.#held = '';
    this.#events[meaning]();
  }

  #release(): void {
    const held = this.#held;
    this.#held = '';
    this.#type(held);
  }

  #type(text: string): void {
    if (text) this.#events.typed(Buffer.from(text, 'latin1'));
  }

  #mayBecome(): boolean {
    return [...this.#meanings.keys()].some((sequence) => sequence.startsWith(this.#held));
  }
}

/** Every way to type these keys. */
function sequences(keys: ReadonlyArray<readonly string[]>): string[] {
  return keys.reduce<string[]>((before, ways) => before.flatMap((head) => ways.map((way) => head + way)), ['']);
}
