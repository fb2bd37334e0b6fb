// Lines in which no token and no private key can begin, passed over many at a time: nearly all that is printed. Knows no stream and no leased secret.
import { Automaton } from './automaton.js';
import { isUnmoving } from './columns.js';
import { type Shape, shapes } from './shapes.js';

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const ESC = 0x1b;
const BRACKET = 0x5b;
/** A private key's beginning has blanks in it: it is known by what stands before the first. */
const leadOf = ({ prefix }: Shape): string => prefix.split(' ', 1)[0] as string;
const isPartOf = (text: string, shape: Shape): boolean => leadOf(shape).includes(text) || (!shape.isBlock && shape.body.test(text));

/** By byte: −1 for what may be part of a token, 0 for all else. */
const inWord = Int8Array.from({ length: 256 }, (_, byte) => {
  const text = String.fromCharCode(byte);
  return byte > 0x20 && byte < 0x7f && shapes.some((shape) => isPartOf(text, shape)) ? -1 : 0;
});
/** Bytes of the shortest word with which anything can begin that is sought. */
const LEAST_WORD = Math.min(...shapes.map((shape) => leadOf(shape).length + shape.least));
const leads = new Automaton(shapes.map((shape) => ({ bytes: Buffer.from(leadOf(shape)), tag: shape.id })));

/**
 * The end of the last of the whole lines from `from` on, where the cursor is in the first column, in which nothing can begin that is sought; `from` if the
 * first is none of these. Such a line is ASCII, moves the cursor by text and TAB alone, is not full, and ends with CR LF, so that the text before and
 * after it is not the same text. What is said of a line depends on the line alone.
 */
export function endOfHarmlessLines(bytes: Uint8Array, from: number, cols: number): number {
  let line = from;
  for (let next = endOfHarmlessLine(bytes, line, cols); next > line; next = endOfHarmlessLine(bytes, line, cols)) line = next;
  return line;
}

/** The same of one line; 0 if it is none. */
function endOfHarmlessLine(bytes: Uint8Array, line: number, cols: number): number {
  /** Bytes of the word that is being read, those of sequences in it left out, and the end of the last sequence. */
  let word = 0;
  let sequence = line;
  let hidden = 0;
  let hasTab = false;
  for (let at = line; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte >= 0x20 && byte < 0x7f) {
      // Without a branch: where words end cannot be foretold.
      word = (word + 1) & (inWord[byte] as number);
      if (word === LEAST_WORD && mayBeginIn(bytes, at + 1 - word, sequence)) return 0;
    } else if (byte === CARRIAGE_RETURN) {
      const isHarmless = bytes[at + 1] === LINE_FEED && (hasTab || !isFull(at - line - hidden, cols));
      return isHarmless ? at + 2 : 0;
    } else if (byte === TAB) {
      word = 0;
      hasTab = true;
    } else {
      sequence = byte === ESC ? behindUnmoving(bytes, at) : 0;
      if (sequence === 0 || (word >= LEAST_WORD && inWord[bytes[sequence] as number] !== 0)) return 0;
      hidden += sequence - at;
      at = sequence - 1;
    }
  }
  return 0;
}

/** So many characters fill the line, or it is one more than that, which may yet be written anew. */
const isFull = (column: number, cols: number): boolean => column >= cols && column % cols <= 1;

/** Whether anything begins in the word that begins there, or a sequence that ends at `sequence` makes it unclear. */
function mayBeginIn(bytes: Uint8Array, from: number, sequence: number): boolean {
  if (from < sequence) return true;
  const { next, classOf } = leads;
  let state = 0;
  for (let i = from; i < bytes.length && inWord[bytes[i] as number] !== 0; i++) {
    state = next[state + (classOf[bytes[i] as number] as number)] as number;
    if (state < 0) return true;
  }
  return false;
}

/** Where the control sequence that begins there ends; 0 if it is none, may move the cursor, or is not whole. */
function behindUnmoving(bytes: Uint8Array, from: number): number {
  if (bytes[from + 1] !== BRACKET) return 0;
  let at = from + 2;
  while (at < bytes.length && (bytes[at] as number) >= 0x30 && (bytes[at] as number) < 0x40) at++;
  return isUnmoving(bytes[at] as number) ? at + 1 : 0;
}
