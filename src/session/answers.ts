// Types the screen's answers to a program's queries into its terminal, no more than a program can have use for. Knows no member.

/** Answers a second, in the long run. */
const ANSWERS_PER_SECOND = 256;
/** Answers at once after a pause: more than a palette of 256 colours. */
const ANSWER_BURST = 512;
/** Answers beyond that which wait for their turn: who asks one thing after the other is only slowed down. */
const MAX_WAITING = 16;
/** Bytes of answers that may wait for a program that does not read: one that asks and never reads must not fill what a person's keys go through. */
const MAX_UNREAD_BYTES = 4 * 1024;
/** Outputs whose cursor positions are remembered, the newest of them. */
const MAX_POSITIONS = 256;

const CURSOR_POSITION = /\[\d+;\d+R$/;

export class Answers {
  readonly #write: (bytes: Uint8Array) => Promise<void>;
  readonly #now: () => number;
  #left = ANSWER_BURST;
  #filledAt: number;
  #unread = 0;
  /** In the order of the queries. */
  readonly #waiting: Uint8Array[] = [];
  #turn: NodeJS.Timeout | undefined;
  /** What was answered to CPR, by the number of the output that asked. */
  readonly #positions = new Map<number, string[]>();

  /** `write` types into the terminal; `now` is in milliseconds. */
  constructor(write: (bytes: Uint8Array) => Promise<void>, now: () => number = () => performance.now()) {
    this.#write = write;
    this.#now = now;
    this.#filledAt = now();
  }

  /** What is beyond a bound is not answered: a flood of queries cannot feed itself. */
  answer(text: string, sequence: number): void {
    const bytes = Buffer.from(text);
    if (CURSOR_POSITION.test(text)) this.#remember(sequence, text);
    this.#send();
    if (this.#unread + bytes.length > MAX_UNREAD_BYTES || this.#waiting.length >= MAX_WAITING) return;
    this.#unread += bytes.length;
    this.#waiting.push(bytes);
    this.#send();
  }

  /**
   * Whether a key that has the form of an answer to CPR is one, coming from a terminal that was shown the queries in these outputs: it is
   * if it says what was answered here, or if that is not known (not yet, not any more, or to the owner before).
   */
  isAnswer(text: string, sequences: readonly number[]): boolean {
    return sequences.some((sequence) => this.#positions.get(sequence)?.includes(text) ?? true);
  }

  #send(): void {
    while (this.#waiting.length > 0 && this.#mayAnswer()) this.#type(this.#waiting.shift() as Uint8Array);
    if (this.#waiting.length > 0) this.#turn ??= setTimeout(() => this.#takeTurn(), 1000 / ANSWERS_PER_SECOND).unref();
  }

  #takeTurn(): void {
    this.#turn = undefined;
    this.#send();
  }

  #type(bytes: Uint8Array): void {
    const done = () => {
      this.#unread -= bytes.length;
    };
    this.#write(bytes).then(done, done);
  }

  #remember(sequence: number, text: string): void {
    const known = this.#positions.get(sequence) ?? [];
    if (known.length < MAX_POSITIONS) known.push(text);
    this.#positions.set(sequence, known);
    const oldest = this.#positions.keys().next().value;
    if (this.#positions.size > MAX_POSITIONS && oldest !== undefined) this.#positions.delete(oldest);
  }

  #mayAnswer(): boolean {
    const now = this.#now();
    this.#left = Math.min(ANSWER_BURST, this.#left + ((now - this.#filledAt) * ANSWERS_PER_SECOND) / 1000);
    this.#filledAt = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
