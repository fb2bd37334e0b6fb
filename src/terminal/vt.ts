// Where a terminal's parser stands after each byte: in text, in a character, in a sequence. Knows nothing of what sequences mean.

/** The states of a VT500 parser over UTF-8, as xterm.js has them; all in which a string is being read come last. */
export const State = {
  ground: 0,
  escape: 1,
  escapeIntermediate: 2,
  csiEntry: 3,
  csiParam: 4,
  csiIntermediate: 5,
  csiIgnore: 6,
  osc: 7,
  dcsEntry: 8,
  dcsParam: 9,
  dcsIntermediate: 10,
  dcsIgnore: 11,
  dcsPassthrough: 12,
  sosPmApc: 13,
} as const;
export type State = (typeof State)[keyof typeof State];

const ESC = 0x1b;
const C1_LEAD = 0xc2;
/** A byte order mark, wherever it stands: emulators pass over it as if it were not there. */
const BOM = 0xef_bb_bf;

/** Where a C1 control leads, from any state; all others lead to the ground. */
const c1: Readonly<Record<number, State>> = {
  144: State.dcsEntry,
  152: State.sosPmApc,
  155: State.csiEntry,
  157: State.osc,
  158: State.sosPmApc,
  159: State.sosPmApc,
};

/** Reads bytes one by one. Everything that it holds is a few numbers. */
export class Vt {
  state: State = State.ground;
  /** Bytes of a character that are still to come; 0 between characters. */
  missing = 0;
  /** True after a byte that began a sequence (ESC, or a C1 control, which is two bytes long). */
  began = false;
  /** The bytes of the character being read, so far. */
  #bytes = 0;

  get inText(): boolean {
    return this.state === State.ground && this.missing === 0;
  }

  /** In an OSC, DCS, SOS, PM or APC string, or before its first byte. */
  get inString(): boolean {
    return this.state >= State.osc;
  }

  /** A control that is run where it stands, and does not end the escape or control sequence around it. */
  get runsControls(): boolean {
    return this.state >= State.escape && this.state <= State.csiIgnore;
  }

  step(byte: number): void {
    this.began = false;
    if (this.missing > 0) {
      if ((byte & 0xc0) === 0x80) {
        this.#continued(byte);
        return;
      }
      this.missing = 0;
      this.#printable();
    }
    if (byte < 0x80) this.#ascii(byte);
    else this.#lead8(byte);
  }

  #lead8(byte: number): void {
    this.#bytes = byte;
    if (byte >= 0xf0 && byte < 0xf8) this.missing = 3;
    else if (byte >= 0xe0 && byte < 0xf0) this.missing = 2;
    else if (byte >= 0xc0 && byte < 0xe0) this.missing = 1;
    else this.#printable();
  }

  #continued(byte: number): void {
    this.missing -= 1;
    this.#bytes = this.#bytes * 0x100 + byte;
    if (this.missing > 0 || this.#bytes === BOM) return;
    if (this.#bytes >> 8 === C1_LEAD && byte < 0xa0) {
      this.state = c1[byte] ?? State.ground;
      this.began = this.state !== State.ground;
    } else this.#printable();
  }

  /** A character beyond ASCII: belongs to strings, ends what cannot hold it. */
  #printable(): void {
    const holds =
      this.state === State.osc || this.state === State.csiIgnore || this.state === State.dcsIgnore || this.state === State.dcsPassthrough;
    if (!holds) this.state = State.ground;
  }

  #ascii(byte: number): void {
    if (byte === ESC) {
      this.state = State.escape;
      this.began = true;
    } else if (byte === 0x18 || byte === 0x1a) this.state = State.ground;
    else if (byte < 0x20) this.#control(byte);
    else if (byte !== 0x7f) this.state = next(this.state, byte);
  }

  #control(byte: number): void {
    if (byte === 0x07 && this.state === State.osc) this.state = State.ground;
  }
}

/** Where text of 7 bits ends that begins at `from`, or is empty: at an ESC, at a byte of 8 bits, or with the bytes. Nothing in it leads out of the text. */
export function endOfPlain(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && (bytes[at] as number) < 0x80 && bytes[at] !== ESC) at++;
  return at;
}

const isIntermediate = (byte: number): boolean => byte < 0x30;
const isParameter = (byte: number): boolean => byte >= 0x30 && byte < 0x3c;
const isFinal = (byte: number): boolean => byte >= 0x40;

/** The state after a printable ASCII byte. */
function next(state: State, byte: number): State {
  switch (state) {
    case State.escape:
      return isIntermediate(byte) ? State.escapeIntermediate : afterEscape(byte);
    case State.escapeIntermediate:
      return isIntermediate(byte) ? state : State.ground;
    case State.csiEntry:
    case State.csiParam:
    case State.csiIntermediate:
    case State.csiIgnore:
      return isFinal(byte) ? State.ground : inParameters(state - State.csiEntry, byte, State.csiEntry);
    case State.dcsEntry:
    case State.dcsParam:
    case State.dcsIntermediate:
      return isFinal(byte) ? State.dcsPassthrough : inParameters(state - State.dcsEntry, byte, State.dcsEntry);
    default:
      return state;
  }
}

function afterEscape(byte: number): State {
  switch (byte) {
    case 0x50:
      return State.dcsEntry;
    case 0x58:
    case 0x5e:
    case 0x5f:
      return State.sosPmApc;
    case 0x5b:
      return State.csiEntry;
    case 0x5d:
      return State.osc;
    default:
      return State.ground;
  }
}

/** CSI and DCS have the same four states (entry, parameters, intermediates, ignore), counted here from `base`. */
function inParameters(phase: number, byte: number, base: State): State {
  const [param, intermediate, ignore] = [1, 2, 3];
  let to = ignore;
  if (phase === ignore) to = ignore;
  else if (isIntermediate(byte)) to = intermediate;
  else if (phase !== intermediate && (isParameter(byte) || phase === 0)) to = param;
  return (base + to) as State;
}
