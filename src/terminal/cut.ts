// What a stream has begun and not finished: the tail of bytes that a snapshot must end with. Knows no screen.
import { endOfPlain, State, Vt } from './vt.js';

/** Bytes. A longer unfinished string is replaced by the beginning of one that has no effect and ends in the same way. */
export const MAX_UNFINISHED = 65_536;

const encode = (text: string): number[] => [...Buffer.from(text, 'latin1')];
/** Strings that no terminal acts upon: an unknown OSC, an unknown DCS, and an APC. */
const harmless = { osc: encode('\x1b]9999;'), dcs: encode('\x1bP0z'), other: encode('\x1b_') };

/**
 * Follows a stream, and holds its unfinished sequence or character, at most `MAX_UNFINISHED` bytes.
 * Controls inside of an escape or control sequence have been run already, so they are not part of it.
 */
export class Cut {
  readonly #vt = new Vt();
  #sequence: number[] = [];
  #character: number[] = [];
  #overlong = false;

  push(bytes: Uint8Array): void {
    const vt = this.#vt;
    for (let i = 0; i < bytes.length; i++) {
      // Plain text, nearly always: nothing begins, nothing is held.
      if (vt.inText) i = endOfPlain(bytes, i);
      if (i < bytes.length) this.#step(bytes[i] as number);
    }
  }

  /** Nothing is unfinished. */
  get isWhole(): boolean {
    return this.#vt.inText;
  }

  /** The bytes to repeat, so that what comes next is read as if nothing had been between. */
  get unfinished(): Uint8Array {
    return Uint8Array.from([...this.#sequence, ...this.#character]);
  }

  #step(byte: number): void {
    const vt = this.#vt;
    vt.step(byte);
    if (vt.missing > 0) {
      this.#partial(byte);
      return;
    }
    const character = this.#character;
    this.#character = [];
    if (vt.began) this.#begin(byte === 0x1b ? [byte] : [...character, byte]);
    else if (vt.state === State.ground) this.#sequence = [];
    else if (byte >= 0x20 || !vt.runsControls) this.#hold([...character, byte]);
  }

  #partial(byte: number): void {
    // A new lead ends the character before it, which a string has taken as it was.
    if (byte >= 0xc0 && this.#character.length > 0) {
      if (this.#vt.state !== State.ground) this.#hold(this.#character);
      this.#character = [];
    }
    this.#character.push(byte);
    if (this.#vt.state === State.ground) this.#sequence = [];
  }

  #begin(bytes: number[]): void {
    this.#sequence = bytes;
    this.#overlong = false;
  }

  #hold(bytes: number[]): void {
    if (this.#overlong) return;
    if (this.#sequence.length + bytes.length <= MAX_UNFINISHED) this.#sequence.push(...bytes);
    else this.#overflow();
  }

  /** Of a sequence that is no string, what it holds beyond this length has no meaning any more. */
  #overflow(): void {
    const { state, inString } = this.#vt;
    this.#overlong = true;
    if (!inString) return;
    this.#sequence = state === State.osc ? [...harmless.osc] : state === State.sosPmApc ? [...harmless.other] : [...harmless.dcs];
  }
}
