// What of a flood of lines need not be drawn, since the lines behind it push it off the screen. Knows bytes alone.

const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const ESC = 0x1b;
const DELETE = 0x7f;
const C1_LEAD = 0xc2;
const [BRACKET, FINAL_M] = [0x5b, 0x6d];
const [ZERO, SEMICOLON] = [0x30, 0x3b];

export interface ScrolledAway {
  /** So many bytes can be left out, if `pen` (sequences SGR, which colour what follows) is written in their place at the beginning of the last row. */
  readonly end: number;
  readonly pen: Uint8Array;
  /** Up to here there is nothing more that could be left out. */
  readonly searched: number;
}

/**
 * Of output that begins in text, on a screen of so many rows that scrolls as a whole. Looks at text, SGR, TAB, CR and LF, up to the first byte that
 * may do anything else: none of them moves the cursor up. What is left out has as many LFs as there are rows, so that it ends in the last row, and
 * ends with CR LF, in the first column; what follows has as many again, so that no line from before it is left.
 */
export function scrolledAway(bytes: Uint8Array, rows: number): ScrolledAway {
  const { ends, searched } = linesOf(bytes);
  const last = ends[ends.length - rows - 1] ?? 0;
  const end = ends.length > 2 * rows && bytes[last - 2] === CR ? last : 0;
  return { end, pen: penOf(bytes.subarray(0, end)), searched };
}

/** Where each line ends, behind its LF, and where the first byte is that is not looked at. */
function linesOf(bytes: Uint8Array): { readonly ends: readonly number[]; readonly searched: number } {
  const ends: number[] = [];
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at] as number;
    if (byte >= 0x20 && byte !== DELETE && byte !== C1_LEAD) at++;
    else if (byte === LF) ends.push(++at);
    else if (byte === CR || byte === TAB) at++;
    else if (byte === ESC) {
      const behind = behindSgr(bytes, at);
      if (behind === 0) break;
      at = behind;
    } else break;
  }
  return { ends, searched: Math.min(bytes.length, at + 1) };
}

/** Where a sequence SGR that begins there ends; 0 if it is none, or not whole. */
function behindSgr(bytes: Uint8Array, from: number): number {
  if (bytes[from + 1] !== BRACKET) return 0;
  let at = from + 2;
  while (at < bytes.length && (bytes[at] as number) >= ZERO && (bytes[at] as number) <= SEMICOLON) at++;
  return bytes[at] === FINAL_M ? at + 1 : 0;
}

/** All sequences SGR since the last that undoes those before it. */
function penOf(bytes: Uint8Array): Uint8Array {
  const pen: Uint8Array[] = [];
  for (let at = bytes.indexOf(ESC); at >= 0; at = bytes.indexOf(ESC, at)) {
    const behind = behindSgr(bytes, at);
    if (isReset(bytes, at, behind)) pen.length = 0;
    pen.push(bytes.subarray(at, behind));
    at = behind;
  }
  return Buffer.concat(pen);
}

/** `ESC [ m` or `ESC [ 0 m`. */
const isReset = (bytes: Uint8Array, from: number, behind: number): boolean =>
  behind - from === 3 || (behind - from === 4 && bytes[from + 2] === ZERO);
