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
const leastOf = (some: readonly Shape[]): number => Math.min(...some.map((shape) => leadOf(shape).length + shape.least));
const LEAST_WORD = leastOf(shapes);
/** Fours of bytes, one behind the other, that are full in every word with which anything begins but a block, wherever the fours begin. */
const FULL_FOURS = Math.floor((leastOf(shapes.filter(({ isBlock }) => !isBlock)) - 6) / 4);
/** Of a block's five dashes three lie in one of the fours, and so these two of it. */
const [DASHES, MIDDLE] = [0x002d2d00, 0x00ffff00];
/** The highest bit of each of four bytes; what is added to, or taken from, all four. */
const [HIGH, ONES, BLANKS, BEHIND_BLANKS] = [0x80808080, 0x01010101, 0x20202020, 0x21212121];
const leads = new Automaton(shapes.map((shape) => ({ bytes: Buffer.from(leadOf(shape)), tag: shape.id })));

/**
 * The end of the last of the whole lines from `from` on, where the cursor is in the first column, in which nothing can begin that is sought; `from` if the
 * first is none of these. Such a line is ASCII, moves the cursor by text and TAB alone, is not full, and ends with CR LF, or CR CR LF where a program
 * prints CR LF, so that the text before and after it is not the same text. What is said of a line depends on the line alone.
 */
export function endOfHarmlessLines(bytes: Uint8Array, from: number, cols: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let line = from;
  for (let next = endOfHarmlessLine(bytes, view, line, cols); next > line; next = endOfHarmlessLine(bytes, view, line, cols)) line = next;
  return line;
}

/** The same of one line; 0 if it is none. */
function endOfHarmlessLine(bytes: Uint8Array, view: DataView, line: number, cols: number): number {
  /** Bytes of a word that goes on behind a sequence, and bytes of all sequences. */
  let word = 0;
  let hidden = 0;
  let hasTab = false;
  for (let at = line; at < bytes.length; ) {
    const from = at;
    at = endOfShortWords(bytes, view, from);
    const byte = bytes[at];
    if (byte === CARRIAGE_RETURN) {
      const isHarmless = hasTab || !isFull(at - line - hidden, cols);
      while (bytes[at] === CARRIAGE_RETURN) at++;
      return isHarmless && bytes[at] === LINE_FEED ? at + 1 : 0;
    }
    if (byte === TAB) {
      word = 0;
      hasTab = true;
      at++;
    } else if (byte === ESC) {
      const begin = beginOfWord(bytes, from, at);
      word = at - begin + (begin === from ? word : 0);
      const behind = behindUnmoving(bytes, at);
      if (behind === 0) return 0;
      hidden += behind - at;
      at = behind;
      if (word > 0) for (; isInWord(bytes[at]); at++) if (++word >= LEAST_WORD) return 0;
    } else {
      if (!isInWord(byte) || mayBeginIn(bytes, at + 1 - LEAST_WORD)) return 0;
      while (isInWord(bytes[at])) at++;
      word = LEAST_WORD;
    }
  }
  return 0;
}

/** The first byte from `from` on that is no text, or with which a word has LEAST_WORD bytes and may begin something; the length if there is none. */
function endOfShortWords(bytes: Uint8Array, view: DataView, from: number): number {
  for (let at = from; at < bytes.length; ) {
    at = beginOfWord(bytes, at, endOfFours(view, at));
    for (let word = 0; at < bytes.length; at++) {
      const kind = kindOf[bytes[at] as number] as number;
      if (kind === NO_TEXT) return at;
      if (kind === APART) {
        at++;
        break;
      }
      if (++word === LEAST_WORD) return at;
    }
  }
  return bytes.length;
}

/** Past text, four bytes at a time: to where one of them is no text, or something may begin in or before them. */
function endOfFours(view: DataView, from: number): number {
  const end = view.byteLength - 3;
  let at = from;
  for (let full = 0; at < end; at += 4) {
    const four = view.getInt32(at, true);
    const high = four | HIGH;
    if (((four | (four + ONES) | ~(high - BLANKS)) & HIGH) !== 0 || (four & MIDDLE) === DASHES) break;
    full = (~(high - BEHIND_BLANKS) & HIGH) === 0 ? full + 1 : 0;
    if (full === FULL_FOURS) break;
  }
  return at;
}

/** Where the word begins that ends at `to`, but not before `from`. */
function beginOfWord(bytes: Uint8Array, from: number, to: number): number {
  let at = to;
  while (at > from && isInWord(bytes[at - 1])) at--;
  return at;
}

/** So many characters fill the line, or it is one more than that, which may yet be written anew. */
const isFull = (column: number, cols: number): boolean => column >= cols && column % cols <= 1;

/** Whether anything begins in the word that begins there. */
function mayBeginIn(bytes: Uint8Array, from: number): boolean {
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
