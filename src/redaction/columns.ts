// In which column a cursor is: how wide characters are, and where control sequences put it. Knows no text and no secret.

/** The last bytes of control sequences that leave the cursor where it is: editing, modes, SGR. */
const unmoving: ReadonlySet<number> = new Set(Buffer.from('@KJXPhlmnqct'));
/** By the last byte of those that name a column, what their parameters are: CHA and HPA; with a row before it, CUP and HVP. */
const alone = /^(\d{0,5})$/;
const behindRow = /^\d{0,5}(?:;(\d{0,5}))?$/;
const naming: ReadonlyMap<number, RegExp> = new Map([
  [0x47, alone],
  [0x60, alone],
  [0x48, behindRow],
  [0x66, behindRow],
]);
/** CUU and CUD, VPA. */
const upDown: ReadonlySet<number> = new Set(Buffer.from('ABd'));
/** CUF and CUB: where one step leads. */
const steps: ReadonlyMap<number, number> = new Map([
  [0x43, 1],
  [0x44, -1],
]);
/** More than any parameters have that are understood here. */
export const MAX_PARAMETER_BYTES = 16;

/** Whether a control sequence that ends with this byte leaves the cursor where it is. */
export const isUnmoving = (last: number): boolean => unmoving.has(last);

/** The column behind a control sequence with these parameters and this last byte, counted as the one before it is; NaN if it is not known. */
export function columnBehind(parameters: string, last: number, column: number, cols: number): number {
  if (isUnmoving(last)) return column;
  const named = naming.get(last)?.exec(parameters);
  if (named) return inLine(Number(named[1] ?? '') - 1, cols);
  // Where a line is full, emulators do not agree.
  const place = column % cols;
  const count = alone.exec(parameters);
  if (!count || (column > 0 && place === 0)) return Number.NaN;
  if (upDown.has(last)) return column;
  const step = (steps.get(last) ?? Number.NaN) * Math.max(1, Number(count[1]));
  return column - place + inLine(place + step, cols);
}

const inLine = (column: number, cols: number): number => Math.min(Math.max(0, column), cols - 1);

/** Below this, all characters are one wide. */
const FIRST_UNEVEN = 0x300;
/** From here on, nearly all are two wide. */
const LAST_KNOWN = 0x20000;
const without = /^[\p{Mn}\p{Me}]$/u;
const wide =
  /^(?!\p{Regional_Indicator})[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]$/u;
/** Of each character that was met, its columns and one more. */
const known = new Uint8Array(LAST_KNOWN);

/** How many columns this takes, which is whole and in UTF-8. */
export function columnsOf(character: readonly number[]): number {
  const lead = (character[0] as number) & (0x7f >> character.length);
  const code = character.reduce((sum, byte, i) => (i === 0 ? lead : sum * 0x40 + (byte & 0x3f)), 0);
  if (code < FIRST_UNEVEN) return 1;
  if (code >= LAST_KNOWN) return 2;
  if (known[code] === 0) known[code] = measure(String.fromCodePoint(code)) + 1;
  return (known[code] as number) - 1;
}

function measure(character: string): number {
  if (without.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}
