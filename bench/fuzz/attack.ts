// What all attacks have in common: strange inputs from a seed, and what came of them. Knows no protocol.
import fc from 'fast-check';
import type { Place } from './place.js';

export interface Attack {
  readonly name: string;
  /** How many of a hundred inputs of a run are its own. */
  readonly share: number;
  /** Sends about so many inputs; the same for the same seed. */
  run(place: Place, seed: number, inputs: number, findings: Findings): Promise<void>;
}

/** Told while it goes on, so that a run of hours need not end before somebody looks. */
export interface Witness {
  wrong(what: string): void;
  sent(count: number): void;
}

/** Wrongs that are told of one attack; more are the same over again. */
const MAX_WRONGS = 20;
/** Characters of an input that are told. */
const MAX_TOLD_CHARS = 300;

export class Findings {
  sent = 0;
  /** What should not have happened, in words that name the input. */
  readonly wrongs: string[] = [];
  readonly #witness: Witness;

  constructor(witness: Witness) {
    this.#witness = witness;
  }

  add(count: number): void {
    this.sent += count;
    this.#witness.sent(count);
  }

  wrong(what: string, input: unknown): void {
    if (this.wrongs.length >= MAX_WRONGS) return;
    const text = typeof input === 'string' ? input : (JSON.stringify(input) ?? String(input));
    const told = `${what}: ${text.slice(0, MAX_TOLD_CHARS)}`;
    this.wrongs.push(told);
    this.#witness.wrong(told);
  }
}

/** Calls `act` with one batch of inputs after the other, until so many have been made. */
export async function inBatches<T>(
  arbitrary: fc.Arbitrary<T>,
  { seed, inputs, batch }: { readonly seed: number; readonly inputs: number; readonly batch: number },
  act: (inputs: T[]) => Promise<void>,
): Promise<void> {
  for (let made = 0; made < inputs; made += batch)
    await act(fc.sample(arbitrary, { seed: seed + made, numRuns: Math.min(batch, inputs - made) }));
}

/** Any JSON, and what breaks parsers: huge numbers, lone surrogates, names of prototypes, deep nesting, a name twice. */
export const strangeJson: fc.Arbitrary<string> = fc.oneof(
  fc.json({ maxDepth: 4 }),
  fc.json({ stringUnit: 'binary' }),
  fc.constantFrom('1e999', '-0', '9007199254740993', `${'9'.repeat(400)}`, '"\\ud800"', '"\\u0000"', 'NaN', '', ' ', '\ufeff{}', '[1,]'),
  fc.constantFrom('{"__proto__":{"op":"ping"}}', '{"constructor":{"prototype":1}}', '{"op":"ping","op":"pong"}', '{"toString":null}'),
  fc.integer({ min: 1, max: 3000 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  fc.integer({ min: 1, max: 3000 }).map((depth) => '{"a":'.repeat(depth)),
);
