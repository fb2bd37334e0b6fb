// A pattern that is looked for in what a program prints, or in what its terminal shows. Knows no client.
import { InvalidArgumentError } from 'commander';
import { RE2JS } from 're2js';
import { Lines } from '../transcript/lines.js';

/** An RE2 pattern: no text can make it slow. */
export type Pattern = RE2JS;

export interface Found {
  readonly match: string;
  /** The whole of the line, or row, without blanks at its end. */
  readonly line: string;
  /** Of the frame with which it was there. */
  readonly sequence: number;
}

/** Throws InvalidArgumentError for what is no pattern. */
export function pattern(source: string): Pattern {
  try {
    return RE2JS.compile(source);
  } catch (error) {
    throw new InvalidArgumentError(`expected a pattern in RE2's syntax: ${(error as Error).message}`);
  }
}

/** The first of these lines in which it stands. */
export function foundIn(lines: readonly string[], wanted: Pattern, sequence: number): Found | undefined {
  for (const line of lines) {
    const matcher = wanted.matcher(line);
    if (matcher.find()) return { match: matcher.group() ?? '', line: line.trimEnd(), sequence };
  }
  return undefined;
}

/** Looks at each line as a person would copy it; at one that has not ended as well, with the blanks at its end and without: no prompt ends, and most have one. */
export class OutputSearch {
  readonly #wanted: Pattern;
  #lines = new Lines<number>();

  constructor(wanted: Pattern) {
    this.#wanted = wanted;
  }

  take(bytes: Uint8Array, sequence: number): Found | undefined {
    const lines = [...this.#lines.take(bytes, sequence), ...this.#lines.rest()].map(({ text }) => text);
    return foundIn([...lines, this.#lines.unfinished], this.#wanted, sequence);
  }

  /** What came before is not what comes next. */
  gap(): void {
    this.#lines = new Lines();
  }
}
