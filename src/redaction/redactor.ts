// Cuts secrets out of a terminal's stream of bytes, and holds back what may be the beginning of one. Knows no clock and no session.
import { State, Vt } from '../terminal/vt.js';
import type { Automaton } from './automaton.js';
import { columnBehind, columnsOf, MAX_PARAMETER_BYTES } from './columns.js';
import { isZeroWidth } from './forms.js';
import { endOfHarmlessLines } from './harmless-lines.js';
import { LinePatterns, type Pattern } from './line-patterns.js';
import { conceal } from './mark.js';
import { Matcher } from './matcher.js';
import type { Sought } from './sought.js';

/** Bytes that may be held; if sequences make them more, what is held goes out as it does when its time is over. */
export const MAX_HELD_BYTES = 64 * 1024;
/** How often, in bytes that are no plain text, it is looked whether too much is held. A power of two. */
const LOOK_BYTES = 4096;
/** Bytes of one piece that leaves. */
const MAX_PIECE_BYTES = 64 * 1024;
const BACKSPACE = 0x08;
const TAB = 0x09;
const LINE_FEED = 0x0a;
const FORM_FEED = 0x0c;
const CARRIAGE_RETURN = 0x0d;
const C1_LEAD = 0xc2;
/** ESC and this end a string, and move nothing. */
const STRING_END = 0x5c;
const NEVER = Number.POSITIVE_INFINITY;

/** A piece of the stream: as it may be shown, and as it was; of the same length. */
export type Emit = (redacted: Uint8Array, raw: Uint8Array) => void;

/**
 * Bytes leave in order, and each is replaced by at most one: what is a secret depends on the stream alone, not on its chunks, unless `settle` is
 * called. The text of the screen and the text inside of strings (titles, links) are two texts.
 */
export class Redactor {
  readonly #emit: Emit;
  readonly #vt = new Vt();
  readonly #text: Matcher;
  readonly #string: Matcher;
  readonly #patterns: LinePatterns | undefined;
  /** Nothing else is sought than what no line can hide that is harmless. */
  readonly #mayPassOver: boolean;
  #cols: number;
  /** A line begins here by itself, in the first column, and it was not looked yet whether it is harmless. */
  #isFreshLine = true;
  /** What is held and what has come, from #start of the stream on; #redacted is a copy once it differs. */
  #raw: Uint8Array = new Uint8Array();
  #redacted: Uint8Array = this.#raw;
  #start = 0;
  /** Bytes up to here wait no longer. */
  #settled = 0;
  /** The length of the text where the line begins; NaN if it is not known in which column the text is. */
  #lineStart = 0;
  /** What stands between the beginning of a control sequence and its last byte, as far as it is looked at. */
  #parameters = '';
  /** The length of the text where a full line was ended by a CR, to which an LF may belong. */
  #fullLine = -1;
  /** The first byte after a full line: programs that edit lines write it to get there, then CR, and write it anew. */
  #wrapped: { readonly byte: number; readonly place: number; readonly waits: boolean } | undefined;
  /** A character of which bytes are missing, and its place. */
  #character: number[] = [];
  #characterPlace = NEVER;

  /** `cols`: where a line is full. */
  constructor(sought: Automaton<Sought>, patterns: readonly Pattern[], cols: number, emit: Emit) {
    this.#emit = emit;
    this.#cols = cols;
    const secret = (place: number) => this.#conceal(place);
    this.#text = new Matcher(sought, secret);
    this.#string = new Matcher(sought, secret);
    this.#patterns = patterns.length > 0 ? new LinePatterns(patterns, secret) : undefined;
    this.#mayPassOver = !sought.isWaitedFor && patterns.length === 0;
  }

  /** Bytes that have left, and bytes that are held. */
  get left(): number {
    return this.#start;
  }
  get held(): number {
    return this.#raw.length;
  }

  push(bytes: Uint8Array): void {
    const held = this.#raw.length;
    const isSame = this.#redacted === this.#raw;
    this.#raw = held === 0 ? bytes : Buffer.concat([this.#raw, bytes]);
    this.#redacted = held === 0 || isSame ? this.#raw : Buffer.concat([this.#redacted, bytes]);
    this.#read(bytes, this.#start + held);
    this.#release(Math.min(this.#waitsFrom, this.#start + this.#raw.length));
  }

  /** What is held goes out, concealed where so much of a secret has come that it is one. What follows is still seen as its continuation. */
  settle(): void {
    this.#settle(this.#start + this.#raw.length);
    this.#release(this.#settled);
  }

  /** The same, but for what is so much of a leased secret that it is worth to wait for its next letter. */
  settleBriefly(): void {
    const patientFrom = Math.min(this.#text.patientFrom, this.#string.patientFrom);
    if (patientFrom >= this.#start + this.#raw.length) {
      this.settle();
      return;
    }
    this.#text.settleShapes();
    this.#string.settleShapes();
    this.#patterns?.settle();
    this.#letGo(Math.max(this.#settled, patientFrom));
    this.#release(this.#settled);
  }

  /** Columns: where a line is full. */
  resize(cols: number): void {
    // A line that is full at neither width is not broken anew.
    if (!(this.#column < Math.min(this.#cols, cols))) this.#lineStart = Number.NaN;
    this.#cols = cols;
    this.#isFreshLine = false;
  }

  get #waitsFrom(): number {
    const character = this.#character.length > 0 ? this.#characterPlace : NEVER;
    const patterns = this.#patterns?.waitsFrom ?? NEVER;
    const wrapped = this.#wrapped?.waits ? this.#wrapped.place : NEVER;
    const from = Math.min(this.#text.waitsFrom, this.#string.waitsFrom, wrapped, character, patterns);
    return Math.max(this.#settled, from);
  }

  #release(upTo: number): void {
    while (this.#start < upTo) {
      const count = Math.min(upTo - this.#start, MAX_PIECE_BYTES);
      const [redacted, raw] = [this.#redacted, this.#raw];
      this.#raw = raw.subarray(count);
      this.#redacted = redacted === raw ? this.#raw : redacted.subarray(count);
      this.#start += count;
      this.#emit(redacted.subarray(0, count), raw.subarray(0, count));
    }
  }

  #settle(upTo: number): void {
    this.#text.settle();
    this.#string.settle();
    this.#patterns?.settle();
    this.#letGo(upTo);
  }

  #letGo(upTo: number): void {
    this.#settled = upTo;
    this.#text.letGo(upTo);
    this.#string.letGo(upTo);
  }

  #conceal(place: number): void {
    if (place < this.#start || place < this.#settled) return;
    if (this.#redacted === this.#raw) this.#redacted = Uint8Array.from(this.#raw);
    conceal(this.#redacted, place - this.#start);
  }

  #read(bytes: Uint8Array, place: number): void {
    for (let i = 0; i < bytes.length; ) {
      if (this.#isFreshLine) i = this.#passOver(bytes, i);
      if (i === bytes.length) return;
      const from = i;
      if (this.#vt.inText) i = this.#text.feedPlain(bytes, from, Math.min(bytes.length, from + this.#room), place + from);
      if (i === from) this.#step(bytes[i++] as number, place + from);
      else this.#patterns?.feedAll(bytes, from, i, place + from);
    }
  }

  /** Past the lines in which nothing can begin; each line is looked at once. */
  #passOver(bytes: Uint8Array, from: number): number {
    this.#isFreshLine = false;
    const text = this.#text;
    if (!this.#mayPassOver || !this.#vt.inText || !text.isFree || text.length !== this.#lineStart) return from;
    const end = endOfHarmlessLines(bytes, from, this.#cols);
    if (end > from) {
      text.passOver(end - from);
      this.#lineStart = text.length;
    }
    return end;
  }

  /** Columns from the beginning of the line, which may be longer than the terminal is wide; NaN if it is not known. */
  get #column(): number {
    return this.#text.length - this.#lineStart;
  }

  /** Characters until the line is full; 0 if it is, or was, and the next is to be looked at by itself. */
  get #room(): number {
    if (this.#wrapped) return 0;
    const column = this.#column;
    return column > 0 ? (this.#cols - (column % this.#cols)) % this.#cols : this.#cols;
  }

  /** A character of the text. */
  #put(character: readonly number[], place: number): void {
    for (const [i, byte] of character.entries()) this.#text.feed(byte, place + i);
    this.#patterns?.feedAll(Uint8Array.from(character), 0, character.length, place);
  }

  #step(byte: number, place: number): void {
    if (place % LOOK_BYTES === 0 && place - this.#waitsFrom > MAX_HELD_BYTES) this.#settle(place);
    const vt = this.#vt;
    const { state, inString } = vt;
    vt.step(byte);
    if (inString && (vt.began || !vt.inString)) this.#string.endText();
    if (byte >= 0x80) this.#beyondAscii(byte, place);
    else {
      this.#character = [];
      if (byte < 0x20 || byte === 0x7f) {
        if (!inString) this.#control(byte);
      } else if (inString && vt.inString) this.#string.feed(byte, place);
      else if (state === State.ground) this.#printed(byte, place);
      else this.#sequence(state, byte);
    }
  }

  /** A byte of a sequence that is no string; the last one may move the cursor. */
  #sequence(state: State, byte: number): void {
    const isControl = state >= State.csiEntry && state <= State.csiIgnore;
    if (state === State.escape || state === State.csiEntry) this.#parameters = '';
    if (!this.#vt.inText) {
      if (isControl && this.#parameters.length < MAX_PARAMETER_BYTES) this.#parameters += String.fromCharCode(byte);
    } else if (isControl) this.#lineStart = this.#text.length - columnBehind(this.#parameters, byte, this.#column, this.#cols);
    else if (state === State.escape && byte !== STRING_END) this.#lineStart = Number.NaN;
  }

  #beyondAscii(byte: number, place: number): void {
    const vt = this.#vt;
    if (this.#character.length === 0 || byte >= 0xc0) {
      this.#character = [];
      this.#characterPlace = place;
    }
    this.#character.push(byte);
    if (vt.missing > 0) return;
    const character = this.#character;
    this.#character = [];
    const isWhole = (character[0] as number) >= 0xc0;
    if (!isWhole || (character[0] === C1_LEAD && byte < 0xa0) || isZeroWidth(character)) return;
    if (vt.inString) for (const [i, part] of character.entries()) this.#string.feed(part, this.#characterPlace + i);
    else if (vt.inText) {
      this.#unwrap();
      this.#put(character, this.#characterPlace);
      this.#spread(character);
    }
  }

  /** A column was counted for each byte of it. What is two wide and does not fit begins the next line, and one column stays empty. */
  #spread(character: readonly number[]): void {
    const columns = columnsOf(character);
    this.#lineStart += character.length - columns;
    if (columns === 2 && this.#cols > 1 && this.#column % this.#cols === 1) this.#lineStart -= 1;
  }

  /** A plain character where the line is full, or the one after that. */
  #printed(byte: number, place: number): void {
    if (this.#wrapped) {
      this.#unwrap();
      this.#put([byte], place);
    } else this.#wrapped = { byte, place, waits: this.#patterns !== undefined || this.#text.mayConceal(byte) };
  }

  /** What was written after a full line stays. */
  #unwrap(): void {
    const wrapped = this.#wrapped;
    this.#wrapped = undefined;
    if (wrapped) this.#put([wrapped.byte], wrapped.place);
  }

  #control(byte: number): void {
    if (byte === CARRIAGE_RETURN) this.#return();
    else if (byte >= LINE_FEED && byte <= FORM_FEED) this.#feedLine();
    else if (byte === BACKSPACE || byte === TAB) {
      this.#unwrap();
      if (byte === TAB) this.#tab();
      else this.#takeBack();
    }
  }

  #return(): void {
    const column = this.#column;
    const isFull = this.#wrapped !== undefined || (column > 0 && column % this.#cols === 0);
    if (this.#wrapped && this.#text.mayConceal(this.#wrapped.byte)) this.#text.ghost(this.#wrapped.place);
    this.#wrapped = undefined;
    if (!isFull) this.#endLine();
    this.#lineStart = this.#text.length;
    this.#fullLine = isFull ? this.#text.length : -1;
  }

  #feedLine(): void {
    this.#unwrap();
    if (this.#fullLine !== this.#text.length) {
      this.#endLine();
      this.#isFreshLine = true;
    }
    this.#fullLine = -1;
  }

  #tab(): void {
    this.#endLine();
    this.#lineStart = Number.NaN;
  }

  #takeBack(): void {
    const { length } = this.#text;
    this.#text.takeBack();
    // It is one column back, whatever is taken from the text.
    this.#lineStart -= Math.max(0, length - this.#text.length - 1);
    this.#patterns?.takeBack();
  }

  #endLine(): void {
    this.#text.endLine();
    this.#patterns?.endLine();
  }
}
