// The lines of text that a program printed, as a person would copy them: without colours, with overwrites done. Knows no frame and no screen.
import { StringDecoder } from 'node:string_decoder';

/** Longest line, in characters; a longer one is cut in pieces. */
const MAX_LINE_CHARS = 10_000;
/** Longest control sequence that is waited for, in characters; what is longer is none. Strings (OSC, DCS, …) may be as long as they like. */
const MAX_SEQUENCE_CHARS = 256;

export interface Line<Mark> {
  readonly text: string;
  /** Of what began it, as it was told to `take`. */
  readonly mark: Mark;
  /** Of what was printed last in it: with that the whole of it is there. */
  readonly last: Mark;
}

const ESC = '\x1b';
const CSI = `(?:${ESC}\\[|\x9b)`;
const STRING = new RegExp(`${ESC}[PX\\]^_]|[\x90\x98\x9d-\x9f]`, 'y');
/** A control sequence with its parameters and final byte, or any other escape sequence. */
const SEQUENCE = new RegExp(`${CSI}([0-?]*)[ -/]*([@-~])|${ESC}[ -/]*[0-OQ-WYZ\\\\\`-~]`, 'y');
const UNFINISHED = new RegExp(`${CSI}[0-?]*[ -/]*|${ESC}[ -/]*`, 'y');
/** What ends a string: BEL, ST, CAN, SUB; ESC as well, which begins what follows. */
const STRING_END = new RegExp(`[\x07\x18\x1a${ESC}\x9c]`, 'g');

/**
 * One line under a cursor that moves only within it: CR, BS, TAB, erasing and moving left and right are done, all other sequences are left out, and so is
 * all that is shown on the alternate screen, which is a picture and no text. Any chunking of the same bytes gives the same lines.
 */
export class Lines<Mark> {
  readonly #utf8 = new StringDecoder('utf8');
  #held = '';
  #inString = false;
  #isAlternate = false;
  #cells: string[] = [];
  #column = 0;
  #mark: Mark | undefined;
  #last: Mark | undefined;

  /** The lines that end in these bytes. */
  take(bytes: Uint8Array, mark: Mark): Line<Mark>[] {
    const lines: Line<Mark>[] = [];
    const text = this.#held + this.#utf8.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    this.#held = '';
    for (let at = 0; at < text.length; ) at = this.#inString ? this.#skip(text, at) : this.#step(text, at, mark, lines);
    return lines;
  }

  /** What stands in the last line, which nothing has ended. */
  rest(): Line<Mark>[] {
    const text = this.#text();
    return text === '' || this.#mark === undefined ? [] : [{ text, mark: this.#mark, last: this.#last ?? this.#mark }];
  }

  /** The same, with the blanks at its end: a prompt has one. Empty if there is no such line. */
  get unfinished(): string {
    return this.#mark === undefined ? '' : this.#cells.join('');
  }

  #skip(text: string, at: number): number {
    const end = find(STRING_END, text, at);
    if (!end) return text.length;
    this.#inString = false;
    return text[end.index] === ESC ? end.index : end.index + 1;
  }

  #step(text: string, at: number, mark: Mark, lines: Line<Mark>[]): number {
    const char = String.fromCodePoint(text.codePointAt(at) as number);
    if (char === ESC || (char >= '\x80' && char < '\xa0')) return this.#sequence(text, at);
    if (char >= ' ' && char !== '\x7f') this.#put(char, mark, lines);
    else this.#control(char, mark, lines);
    return at + char.length;
  }

  #sequence(text: string, at: number): number {
    const found = find(SEQUENCE, text, at);
    if (found) {
      if (found[2] !== undefined) this.#csi(found[1] ?? '', found[2]);
      return at + found[0].length;
    }
    const string = find(STRING, text, at);
    if (string) {
      this.#inString = true;
      return at + string[0].length;
    }
    const unfinished = find(UNFINISHED, text, at)?.[0].length ?? 0;
    const end = at + Math.max(unfinished, 1);
    if (unfinished > 0 && unfinished <= MAX_SEQUENCE_CHARS && end === text.length) this.#held = text.slice(at);
    return end;
  }

  #csi(parameters: string, final: string): void {
    const count = Math.min(Number.parseInt(parameters, 10) || 1, MAX_LINE_CHARS);
    if (parameters.startsWith('?')) this.#mode(parameters.slice(1).split(';'), final);
    else if (final === 'K') this.#erase(parameters);
    else if (final === 'C') this.#column = Math.min(this.#column + count, MAX_LINE_CHARS);
    else if (final === 'D') this.#column = Math.max(this.#column - count, 0);
    else if (final === 'G') this.#column = count - 1;
    else if (final === 'P') this.#cells.splice(this.#column, count);
  }

  #mode(modes: readonly string[], final: string): void {
    const isScreen = modes.some((mode) => mode === '1049' || mode === '1047' || mode === '47');
    if (isScreen && (final === 'h' || final === 'l')) this.#isAlternate = final === 'h';
  }

  #erase(parameters: string): void {
    if (parameters === '' || parameters === '0') this.#cells.length = Math.min(this.#cells.length, this.#column);
    else if (parameters === '2') this.#cells.length = 0;
    else for (let i = 0; i <= this.#column && i < this.#cells.length; i++) this.#cells[i] = ' ';
  }

  #control(char: string, mark: Mark, lines: Line<Mark>[]): void {
    if (char === '\r') this.#column = 0;
    else if (char === '\b') this.#column = Math.max(this.#column - 1, 0);
    else if (char === '\t') this.#column = Math.min(this.#column + 8 - (this.#column % 8), MAX_LINE_CHARS);
    else if (char === '\n' && !this.#isAlternate) this.#end(mark, lines);
  }

  #put(char: string, mark: Mark, lines: Line<Mark>[]): void {
    if (this.#isAlternate) return;
    if (this.#column >= MAX_LINE_CHARS) this.#end(mark, lines);
    this.#mark ??= mark;
    this.#last = mark;
    while (this.#cells.length < this.#column) this.#cells.push(' ');
    this.#cells[this.#column++] = char;
  }

  #end(mark: Mark, lines: Line<Mark>[]): void {
    lines.push({ text: this.#text(), mark: this.#mark ?? mark, last: this.#last ?? mark });
    this.#mark = undefined;
    this.#last = undefined;
    this.#cells = [];
    this.#column = 0;
  }

  #text(): string {
    return this.#cells.join('').trimEnd();
  }
}

function find(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}
