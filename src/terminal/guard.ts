// Keeps a stream from costing more than its bytes: between what was printed and the emulator. Knows no screen.
import { MAX_UNFINISHED } from './cut.js';
import { endOfPlain, Vt } from './vt.js';

/** Bytes of an OSC, DCS, SOS, PM or APC string; a longer one is cancelled. The same as a snapshot can repeat. */
export const MAX_STRING = MAX_UNFINISHED;

const CANCEL = Uint8Array.of(0x18);
const C1_LEAD = 0xc2;

/** Lets a stream pass as it is, except for strings beyond `MAX_STRING`, which end there without effect. Where it was cut into chunks does not matter. */
export class Guard {
  readonly #vt = new Vt();
  #length = 0;
  #dropping = false;

  /** What of these bytes the emulator may see: the same array if that is all of them. */
  pass(bytes: Uint8Array): Uint8Array {
    const kept: Uint8Array[] = [];
    let from = 0;
    for (let i = 0; i < bytes.length; i++) {
      if (this.#vt.inText) i = endOfPlain(bytes, i);
      if (i === bytes.length) break;
      const verdict = this.#step(bytes[i] as number);
      if (verdict === 'pass') continue;
      if (verdict !== 'drop') kept.push(bytes.subarray(from, i), verdict);
      from = i + 1;
    }
    if (from === 0) return bytes;
    kept.push(bytes.subarray(from));
    return Buffer.concat(kept);
  }

  /** `pass`, `drop`, or what the emulator is to see instead of this byte. */
  #step(byte: number): 'pass' | 'drop' | Uint8Array {
    const vt = this.#vt;
    vt.step(byte);
    this.#length = vt.began ? 0 : this.#length + 1;
    if (this.#dropping) return this.#dropped(byte);
    if (!vt.inString || this.#length <= MAX_STRING) return 'pass';
    this.#dropping = true;
    return CANCEL;
  }

  /** The end of a dropped string: ESC and the like begin anew and are seen, BEL and ST belong to the string. */
  #dropped(byte: number): 'drop' | Uint8Array {
    const vt = this.#vt;
    if (vt.inString && !vt.began) return 'drop';
    this.#dropping = false;
    if (vt.began && byte >= 0x80) return Uint8Array.of(C1_LEAD, byte);
    return byte === 0x07 || (byte >= 0x80 && vt.missing === 0) ? 'drop' : Uint8Array.of(byte);
  }
}

/** A control sequence's parameters, as the emulator's parser keeps them. */
export interface Params {
  readonly params: Int32Array;
}

/** What of an emulator is needed to see counts before they are acted upon. A handler that returns false lets the next one act. */
export interface Counting {
  cols(): number;
  rows(): number;
  onSequence(final: string, handler: (params: Params) => boolean): void;
}

/**
 * Clamps the counts of sequences that are carried out one step at a time (SU SD IL DL CHT CBT REP) to what can still make a difference.
 * REP keeps the column in which it would have ended: beyond a screenful only that and the scrolling are left of it.
 */
export function clampCounts(on: Counting): void {
  const clamp = (final: string, most: () => number): void =>
    on.onSequence(final, ({ params }) => {
      params[0] = Math.min(params[0] as number, most());
      return false;
    });
  for (const final of ['S', 'T', 'L', 'M']) clamp(final, on.rows);
  for (const final of ['I', 'Z']) clamp(final, on.cols);
  on.onSequence('b', ({ params }) => {
    params[0] = repeats(params[0] as number, on.cols(), on.rows());
    return false;
  });
}

/** A number of repetitions above a screenful that ends where `count` ends, for narrow and for wide characters. */
function repeats(count: number, cols: number, rows: number): number {
  const enough = cols * (rows + 1);
  if (count <= enough) return count;
  const period = cols % 2 === 0 ? cols : cols * Math.floor(cols / 2);
  return enough + ((count - enough) % period);
}
