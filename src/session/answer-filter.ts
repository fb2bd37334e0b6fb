// Tells what a terminal answers by itself from what is typed on it: the gateway has answered. Knows no connection and no timer.
import type { Frame } from '../protocol/frames.js';
import { answerOf, mayBeKey, type QueryKind } from '../terminal/queries.js';
import { type Sequence, SequenceReader } from '../terminal/sequences.js';
import { type Remembered, ShownQueries } from './shown-queries.js';

/** Milliseconds for which an answer is expected, from when its query was sent. */
export const ANSWER_EXPECTED_MS = 10_000;
/** Outputs of which the queries of one kind are told apart, the newest of them; of older ones it is known how many answers are still to come. */
const MAX_EXPECTED = 256;
/** Bytes of an unfinished sequence that may be an answer. */
const MAX_HELD = 1024;

const ESCAPE = 0x1b;

/** Queries of one kind in one output (or Keyframe). */
interface Expected {
  readonly sequence: number;
  left: number;
  until: number;
}

export interface Typed {
  readonly bytes: Uint8Array;
  /** These bytes are a key, or a cursor's position as an answer to a query in one of these outputs: only the owner can tell which. */
  readonly answerTo?: readonly number[];
}

/** Whether these bytes are whole answers of a terminal, one or more, and nothing else. */
export function isAnswer(bytes: Uint8Array): boolean {
  let upTo = 0;
  new SequenceReader().read(bytes, (sequence) => {
    if (sequence.from === upTo && answerOf(sequence)) upTo = sequence.to;
  });
  return bytes.length > 0 && upTo === bytes.length;
}

/** The two oldest become one. Whoever is asked about it knows no output as old as that, so its number stands for both. */
function joinOldest(those: Expected[]): void {
  const [oldest, next] = those.splice(0, 2) as [Expected, Expected];
  those.unshift({ sequence: oldest.sequence, left: oldest.left + next.left, until: next.until });
}

/** One for each connection. What it holds is bounded; what has not the form of an expected answer is never dropped. */
export class AnswerFilter {
  readonly #now: () => number;
  readonly #expected = new Map<QueryKind, Expected[]>();
  readonly #shown = new ShownQueries();
  #input = new SequenceReader();
  #held: Uint8Array = new Uint8Array(0);

  /** `now` is in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Whether the last bytes may be the beginning of an answer. If nothing follows soon, `release` them. */
  get holds(): boolean {
    return this.#held.length > 0;
  }

  /** A frame that the connection is sent. Its terminal answers what is asked in the past, and in a Keyframe, as well. */
  sent(frame: Frame, remembered?: Remembered): void {
    if (frame.kind !== 'Output' && frame.kind !== 'Keyframe') return;
    this.#shown.read(frame, ({ kind, answers }) => this.#expect(kind, answers, frame.sequence), remembered);
  }

  /** What of these bytes was typed, in order. */
  take(bytes: Uint8Array): Typed[] {
    if (!this.#expectsAnything()) return this.#all(bytes);
    const all = Buffer.concat([this.#held, bytes]);
    const start = this.#input.at - this.#held.length;
    const typed: Typed[] = [];
    let from = 0;
    this.#input.read(bytes, (sequence) => {
      const [first, end] = [sequence.from - start, sequence.to - start];
      const answerTo = first < from ? undefined : this.#answered(sequence);
      if (!answerTo) return;
      typed.push({ bytes: all.subarray(from, first) });
      if (answerTo.length > 0) typed.push({ bytes: all.subarray(first, end), answerTo });
      from = end;
    });
    const held = this.#hold(all, Math.max(from, this.#input.begun - start));
    typed.push({ bytes: all.subarray(from, held) });
    return typed.filter((piece) => piece.bytes.length > 0);
  }

  /** What was held was typed after all. */
  release(): Typed[] {
    return this.#all(new Uint8Array(0));
  }

  #expect(kind: QueryKind, answers: number, sequence: number): void {
    const those = this.#expected.get(kind) ?? [];
    this.#expected.set(kind, those);
    const until = this.#now() + ANSWER_EXPECTED_MS;
    const last = those.at(-1);
    if (last?.sequence === sequence) Object.assign(last, { left: last.left + answers, until });
    else those.push({ sequence, left: answers, until });
    if (those.length > MAX_EXPECTED) joinOldest(those);
  }

  #expectsAnything(): boolean {
    const now = this.#now();
    for (const [kind, those] of this.#expected) {
      while (those[0] && those[0].until <= now) those.shift();
      if (those.length === 0) this.#expected.delete(kind);
    }
    return this.#expected.size > 0;
  }

  /** Undefined if a sequence is none that is expected; else the outputs that only the owner can compare it with, if that is needed. */
  #answered(sequence: Sequence): readonly number[] | undefined {
    const kind = answerOf(sequence);
    if (!kind) return undefined;
    const those = this.#expected.get(kind);
    if (!those?.[0]) return undefined;
    if (mayBeKey(sequence)) return those.map((each) => each.sequence);
    those[0].left -= 1;
    if (those[0].left === 0) those.shift();
    if (those.length === 0) this.#expected.delete(kind);
    return [];
  }

  /** Holds what begins at `begun` if it may become an answer; returns where what goes on ends. */
  #hold(all: Uint8Array, begun: number): number {
    const tail = all.subarray(begun);
    const mayBeAnswer = this.#expected.size > 0 && tail.length <= MAX_HELD && !tail.some((byte) => byte < 0x20 && byte !== ESCAPE);
    this.#held = mayBeAnswer ? tail.slice() : new Uint8Array(0);
    return mayBeAnswer ? begun : all.length;
  }

  #all(bytes: Uint8Array): Typed[] {
    const all = this.#held.length > 0 ? Buffer.concat([this.#held, bytes]) : bytes;
    this.#held = new Uint8Array(0);
    this.#input = new SequenceReader();
    return all.length > 0 ? [{ bytes: all }] : [];
  }
}
