// What of a flood of lines need not be drawn, since the lines behind it push it off the screen. Knows bytes alone.

const LF = 0x0a;
const CR = 0x0d;
const ESC = 0x1b;
const [BRACKET, FINAL_M] = [0x5b, 0x6d];
const [ZERO, SEMICOLON] = [0x30, 0x3b];
/** Bytes that may do anything but print, or end a line: they move back, choose characters, erase, or begin a control of two bytes. ESC is looked at itself. */
const STOPS = [0x08, 0x0e, 0x0f, 0x7f, 0xc2];

export interface ScrolledAway {
  /** So many bytes can be left out, if `pen` (sequences SGR, which colour what follows) is written in their place at the beginning of the last row. */
  readonly end: number;
  readonly pen: Uint8Array;
  /** Up to here there is nothing more that could be left out. */
  readonly searched: number;
}

/**
 * Of output that begins in text, on a screen of so many rows that scrolls as a whole. Looks at text, SGR and controls, up to the first byte that
 * may do anything else: none of them moves the cursor up. What is left out has as many LFs as there are rows, so that it ends in the last row, and
 * ends with CR LF, in the first column; what follows has as many again, so that no line from before it is left.
 * Bytes are sought, not looked at one by one: whoever floods is read at the speed of memory.
 */
export function scrolledAway(bytes: Uint8Array, rows: number): ScrolledAway {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const stop = firstStop(text);
  const last = behindLineFeed(text, stop, rows + 1);
  const end = text[last - 2] === CR && behindLineFeed(text, last - 1, rows) > 0 ? last : 0;
  return { end, pen: penOf(text, end), searched: Math.min(bytes.length, stop + 1) };
}

/** Where the first byte is that may do anything else; the length if there is none. */
function firstStop(text: Buffer): number {
  let stop = text.length;
  for (const byte of STOPS) {
    const at = text.subarray(0, stop).indexOf(byte);
    if (at >= 0) stop = at;
  }
  for (let at = text.indexOf(ESC); at >= 0 && at < stop; at = text.indexOf(ESC, at)) {
    const behind = behindSgr(text, at);
    if (behind === 0) return at;
    at = behind;
  }
  return stop;
}

/** The place behind the LF that is the `count`th before `from`; 0 if there are not so many. */
function behindLineFeed(text: Buffer, from: number, count: number): number {
  let at = from;
  for (let left = count; left > 0 && at >= 0; left--) at = at === 0 ? -1 : text.lastIndexOf(LF, at - 1);
  return at + 1;
}

/** Where a sequence SGR that begins there ends; 0 if it is none, or not whole. */
function behindSgr(bytes: Uint8Array, from: number): number {
  if (bytes[from + 1] !== BRACKET) return 0;
  let at = from + 2;
  while (at < bytes.length && (bytes[at] as number) >= ZERO && (bytes[at] as number) <= SEMICOLON) at++;
  return bytes[at] === FINAL_M ? at + 1 : 0;
}

/** All sequences SGR before `end` since the last that undoes those before it. */
function penOf(text: Buffer, end: number): Uint8Array {
  const pen: Uint8Array[] = [];
  for (let at = before(text, end); at >= 0; at = before(text, at)) {
    const sequence = text.subarray(at, behindSgr(text, at));
    pen.push(sequence);
    if (isReset(sequence)) break;
  }
  return Buffer.concat(pen.reverse());
}

/** Where the last ESC before a place is; −1 if there is none. */
const before = (text: Buffer, place: number): number => (place === 0 ? -1 : text.lastIndexOf(ESC, place - 1));

/** `ESC [ m` or `ESC [ 0 m`. */
const isReset = ({ length, 2: first }: Uint8Array): boolean => length === 3 || (length === 4 && first === ZERO);
