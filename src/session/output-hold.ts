// Output that has to wait for a Keyframe: kept in order, joined into pieces of at most 64 KiB. Knows no log and no terminal.

/** Largest piece, in bytes. */
const PIECE_LIMIT = 64 * 1024;

export class OutputHold {
  #pieces: Uint8Array[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get empty(): boolean {
    return this.#bytes === 0;
  }

  push(piece: Uint8Array): void {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
  }

  /** The oldest bytes, as one piece; at least one byte, unless it is empty. */
  shift(): Uint8Array {
    let length = 0;
    let count = 0;
    for (const piece of this.#pieces) {
      if (count > 0 && length + piece.length > PIECE_LIMIT) break;
      length += piece.length;
      count++;
    }
    this.#bytes -= length;
    return Buffer.concat(this.#pieces.splice(0, count));
  }
}
