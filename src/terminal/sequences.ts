// Finds the escape sequences and strings of a stream, wherever it was cut into chunks. Knows nothing of what they mean.
import { endOfPlain, State, Vt } from './vt.js';

/** Bytes of a sequence that are looked at; of a longer one only the beginning is told. */
const MAX_TEXT = 4096;

const ESC = 0x1b;
const BACKSLASH = 0x5c;
const DELETE = 0x7f;
const CANCEL = [0x18, 0x1a];

export interface Sequence {
  /** In its 7-bit form, without controls inside and without its terminator: `ESC [ ? 6 n`, `ESC ] 11;?`. Only ASCII is whole in it. */
  readonly text: string;
  /** Places in the stream, counted from 0: of its first byte, and behind its last (its terminator included). */
  readonly from: number;
  readonly to: number;
}

/** Reads bytes of one stream, in order. What it holds is bounded by MAX_TEXT. */
export class SequenceReader {
  readonly #vt = new Vt();
  #at = 0;
  #from = 0;
  #text = '';
  /** Set while an ESC may still turn out to be the first byte of the terminator of a string. */
  #string: Sequence | undefined;

  /** Bytes read so far. */
  get at(): number {
    return this.#at;
  }

  /** Where an unfinished sequence or character began; `at` if there is none. */
  get begun(): number {
    return this.#string?.from ?? (this.#vt.inText ? this.#at : this.#from);
  }

  /** `found` is called with each sequence that ends in these bytes; one that was cancelled (CAN, SUB) is none. */
  read(bytes: Uint8Array, found: (sequence: Sequence) => void): void {
    const vt = this.#vt;
    const start = this.#at;
    for (let i = 0; i < bytes.length; i++) {
      // Plain text, nearly always.
      if (vt.inText) i = endOfPlain(bytes, i);
      this.#at = start + i;
      if (i < bytes.length) this.#step(bytes[i] as number, found);
    }
    this.#at = start + bytes.length;
  }

  #step(byte: number, found: (sequence: Sequence) => void): void {
    const vt = this.#vt;
    const { state, missing } = vt;
    if (state === State.ground && missing === 0) this.#from = this.#at;
    vt.step(byte);
    if (vt.missing > 0) return;
    if (this.#string && this.#endString(byte, found)) return;
    if (vt.began) this.#begin(byte, state);
    else if (vt.state !== State.ground) this.#hold(byte);
    else if (state !== State.ground && !CANCEL.includes(byte)) this.#end(byte, state, found);
  }

  /** After the ESC that ended a string: true if this byte belongs to it, too. */
  #endString(byte: number, found: (sequence: Sequence) => void): boolean {
    const string = this.#string as Sequence;
    this.#string = undefined;
    const isWhole = byte === BACKSLASH;
    found(isWhole ? { ...string, to: this.#at + 1 } : string);
    return isWhole;
  }

  /** `state` is the one before: a string that was being read has ended. */
  #begin(byte: number, state: State): void {
    const isC1 = byte !== ESC;
    const at = isC1 ? this.#at - 1 : this.#at;
    if (state >= State.osc) this.#string = { text: this.#text, from: this.#from, to: at };
    this.#from = at;
    this.#text = isC1 ? `\x1b${String.fromCharCode(byte - 0x40)}` : '\x1b';
  }

  #hold(byte: number): void {
    const isControl = byte < 0x20 || (byte === DELETE && this.#vt.runsControls);
    if (!isControl && this.#text.length < MAX_TEXT) this.#text += String.fromCharCode(byte);
  }

  #end(byte: number, state: State, found: (sequence: Sequence) => void): void {
    if (state < State.osc) this.#hold(byte);
    found({ text: this.#text, from: this.#from, to: this.#at + 1 });
  }
}
