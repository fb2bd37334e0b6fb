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

/** By byte: no text at all, text that no token has, or what may be part of one. */
const [NO_TEXT, APART, IN_WORD] = [0, 1, 2];
const kindOf = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte < 0x20 || byte > 0x7e) return NO_TEXT;
  const text = String.fromCharCode(byte);
  return byte > 0x20 && shapes.some((shape) => isPartOf(text, shape)) ? IN_WORD : APART;
});
const isInWord = (byte: number | undefined): boolean => byte !== undefined && kindOf[byte] === IN_WORD;
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
  /** Bytes of the word before this place, those of sequences left out; the end of the last sequence, and the bytes of all of them. */
  let word = 0;
  let sequence = line;
  let hidden = 0;
  let hasTab = false;
  for (let at = line; at < bytes.length; ) {
    const from = at;
    at = endOfShortWords(bytes, from, word);
    const byte = bytes[at];
    if (byte === CARRIAGE_RETURN) {
      const isHarmless = bytes[at + 1] === LINE_FEED && (hasTab || !isFull(at - line - hidden, cols));
      return isHarmless ? at + 2 : 0;
    }
    if (byte === TAB) {
      word = 0;
      hasTab = true;
      at++;
    } else if (byte === ESC) {
      word = wordBefore(bytes, at, from, word);
      sequence = behindUnmoving(bytes, at);
      if (sequence === 0 || (word >= LEAST_WORD && isInWord(bytes[sequence]))) return 0;
      hidden += sequence - at;
      at = sequence;
    } else {
      if (!isInWord(byte) || mayBeginIn(bytes, at + 1 - LEAST_WORD, sequence)) return 0;
      while (isInWord(bytes[at])) at++;
      word = LEAST_WORD;
    }
  }
  return 0;
}

/** The first byte that is no text, or with which a word has LEAST_WORD bytes, `word` of them before `from`; the length if there is none. */
function endOfShortWords(bytes: Uint8Array, from: number, before: number): number {
  let word = before;
  let at = from;
  for (; at < bytes.length; at++) {
    const kind = kindOf[bytes[at] as number] as number;
    // Without a branch: where words end cannot be foretold.
    word = (word + 1) & -(kind >> 1);
    if (kind === NO_TEXT || word === LEAST_WORD) break;
  }
  return at;
}

/** Bytes of the word that ends at `to`: those since `from`, and the `before` that are known if it is all one word. */
function wordBefore(bytes: Uint8Array, to: number, from: number, before: number): number {
  let at = to;
  while (at > from && isInWord(bytes[at - 1])) at--;
  return at > from ? to - at : to - from + before;
}

/** So many characters fill the line, or it is one more than that, which may yet be written anew. */
const isFull = (column: number, cols: number): boolean => column >= cols && column % cols <= 1;

/** Whether anything begins in the word that begins there, or a sequence that ends at `sequence` makes it unclear. */
function mayBeginIn(bytes: Uint8Array, from: number, sequence: number): boolean {
  if (from < sequence) return true;
  const { next, classOf } = leads;
  let state = 0;
  for (let i = from; isInWord(bytes[i]); i++) {
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
