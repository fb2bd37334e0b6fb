// How messages lie in an inbox: many in one entry, each with its number. Knows no Redis.

/** Bytes before each message: its number, the number before it, its length. */
const HEAD_BYTES = 20;

export interface Letter {
  /** 1, 2, … for one sender and one life of the receiver. */
  readonly number: number;
  /** The number of the last one before it that its sender did not give up. */
  readonly after: number;
  readonly message: Uint8Array;
}

export function writeLetters(letters: readonly Letter[]): Buffer {
  return Buffer.concat(letters.flatMap((letter) => [head(letter), letter.message]));
}

function head({ number, after, message }: Letter): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES);
  bytes.writeDoubleBE(number, 0);
  bytes.writeDoubleBE(after, 8);
  bytes.writeUInt32BE(message.byteLength, 16);
  return bytes;
}

/** Throws RangeError if the bytes are no letters. The messages are views of `bytes`. */
export function readLetters(bytes: Buffer): Letter[] {
  const letters: Letter[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + HEAD_BYTES + bytes.readUInt32BE(at + 16);
    if (end > bytes.length) throw new RangeError('a letter is cut short');
    letters.push({ number: bytes.readDoubleBE(at), after: bytes.readDoubleBE(at + 8), message: bytes.subarray(at + HEAD_BYTES, end) });
    at = end;
  }
  return letters;
}

/** Takes each letter once, in the order of its sender's numbers, however often and late copies of it come. */
export class Sorter {
  /** The last number taken of each sender, in the order of their last letters. */
  readonly #last = new Map<string, number>();
  readonly #limit: number;

  /** Remembers so many senders. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Undefined for a copy; otherwise how many letters are missing before this one. */
  take(sender: string, { number, after }: Letter): number | undefined {
    const last = this.#last.get(sender) ?? 0;
    if (number <= last) return undefined;
    this.#last.delete(sender);
    this.#last.set(sender, number);
    const [oldest] = this.#last.keys();
    if (this.#last.size > this.#limit && oldest !== undefined) this.#last.delete(oldest);
    return Math.max(0, after - last);
  }
}
