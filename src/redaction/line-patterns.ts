// An operator's own patterns, looked for in each line of text. The engine knows no backtracking. Knows no secret and no chunk.
import { RE2JS } from 're2js';
import { isContinuation } from './matcher.js';

/** A pattern that was compiled. */
export type Pattern = RE2JS;

/** Bytes of a line that are looked at together. Of a longer line the second half is looked at again, with what follows. */
const MAX_LINE_BYTES = 1024;

/** Throws Error, in words, for what is no pattern in RE2's syntax or matches nothing at all. */
export function compilePattern(source: string): Pattern {
  const pattern = RE2JS.compile(source);
  if (pattern.matches('')) throw new Error('matches the empty text');
  return pattern;
}

export class LinePatterns {
  readonly #patterns: readonly Pattern[];
  /** Matches what one of them matches, so that most lines are looked at once. */
  readonly #any: Pattern;
  readonly #conceal: (place: number) => void;
  readonly #line = new Uint8Array(MAX_LINE_BYTES);
  readonly #places = new Float64Array(MAX_LINE_BYTES);
  #length = 0;

  /** `conceal` is told the places of what a pattern matches. */
  constructor(patterns: readonly Pattern[], conceal: (place: number) => void) {
    this.#patterns = patterns;
    this.#any = RE2JS.compile(patterns.map((pattern) => `(?:${pattern.pattern()})`).join('|'));
    this.#conceal = conceal;
  }

  /** The place of the first byte of a line that has not ended; Infinity if there is none. */
  get waitsFrom(): number {
    return this.#length > 0 ? (this.#places[0] as number) : Number.POSITIVE_INFINITY;
  }

  /** The bytes in [from, to) come next, the first of which is at `place`. */
  feedAll(bytes: Uint8Array, from: number, to: number, place: number): void {
    for (let i = from; i < to; i++) {
      if (this.#length === MAX_LINE_BYTES) this.#keepHalf();
      this.#line[this.#length] = bytes[i] as number;
      this.#places[this.#length++] = place - from + i;
    }
  }

  /** The last character will be written anew. */
  takeBack(): void {
    while (this.#length > 0) if (!isContinuation(this.#line[--this.#length] as number)) return;
  }

  endLine(): void {
    this.settle();
    this.#length = 0;
  }

  /** Looks at what there is of the line. */
  settle(): void {
    if (this.#length === 0) return;
    const line = this.#line.subarray(0, this.#length);
    if (!this.#any.test(line)) return;
    for (const pattern of this.#patterns) {
      const matcher = pattern.matcher(line);
      while (matcher.find()) for (let i = matcher.start(); i < matcher.end(); i++) this.#conceal(this.#places[i] as number);
    }
  }

  #keepHalf(): void {
    this.settle();
    const half = MAX_LINE_BYTES / 2;
    this.#line.copyWithin(0, half);
    this.#places.copyWithin(0, half);
    this.#length = half;
  }
}
