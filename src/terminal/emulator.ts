// The one place that knows the inside of @xterm/headless: a terminal that is fed in one step, neither throws nor hangs, and shows all of its state. Knows no bytes.
import headless from '@xterm/headless';
import { clampCounts, type Params } from './guard.js';
import type { Rgb } from './palette.js';
import type { Size } from './terminal.js';

/** UTF-16 units of combining marks that one cell may gather; more are dropped. */
export const MAX_MARKS = 32;
/** Hyperlinks whose addresses are remembered at a time; when all are on the screen, further ones are plain text. */
export const MAX_LINKS = 1024;
/** UTF-16 units of a hyperlink's address; longer ones are plain text. */
export const MAX_URI = 2048;
/** UTF-16 units of a title or an icon name; the rest is cut off. */
export const MAX_TITLE = 1024;
/** Lines above the screen while it is resized, so that rewrapping has room; given up right after. */
const RESIZE_ROOM = 1024;
/** The emulator has no narrower screen. */
const MIN_COLS = 2;

/** CSI 14, 16, 18 and 19 t reach who listens for them. */
const SIZES_ASKED = { getWinSizePixels: true, getCellSizePixels: true, getWinSizeChars: true, getScreenSizeChars: true };

/** Colours, flags and link of a pen, a cell or a saved cursor, in the emulator's bits. */
export interface Attributes {
  readonly fg: number;
  readonly bg: number;
  readonly extended: { readonly _ext: number; readonly urlId: number };
}

export interface Cell extends Attributes {
  getChars(): string;
  getWidth(): number;
}

export interface Line {
  readonly length: number;
  isWrapped: boolean;
  loadCell(x: number, into: Cell): Cell;
  getWidth(x: number): number;
  getString(x: number): string;
  hasContent(x: number): number;
  translateToString(trimRight: boolean, from: number, to: number): string;
  resize(cols: number, fill: Cell): boolean;
  setCellFromCodepoint(x: number, code: number, width: number, attributes: Attributes): void;
  addCodepointToCell(x: number, code: number, width: number): void;
}

interface Lines {
  readonly length: number;
  maxLength: number;
  get(y: number): Line | undefined;
  push(line: Line): void;
  trimStart(count: number): void;
}

/** One of the two screens. All positions are zero-based; `x` is the number of columns while a wrap is pending. */
export interface Buffer {
  readonly lines: Lines;
  readonly x: number;
  readonly y: number;
  ybase: number;
  ydisp: number;
  readonly scrollTop: number;
  readonly scrollBottom: number;
  readonly tabs: Record<number, boolean | undefined>;
  readonly savedX: number;
  savedY: number;
  readonly savedCurAttrData: Attributes;
  readonly savedCharset: object | undefined;
  getBlankLine(attributes: Attributes): Line;
}

interface Pen extends Attributes {
  extended: { _ext: number; urlId: number; clone(): Pen['extended'] };
  updateExtended(): void;
}

interface Core {
  readonly _bufferService: {
    readonly buffers: { readonly normal: Buffer; readonly alt: Buffer; readonly active: Buffer };
    scroll(erase: Attributes, isWrapped?: boolean): void;
  };
  readonly _charsetService: { readonly charset: object | undefined; readonly glevel: number; readonly _charsets: (object | undefined)[] };
  readonly coreService: {
    readonly isCursorHidden: boolean;
    readonly modes: { readonly insertMode: boolean };
    readonly decPrivateModes: {
      readonly applicationCursorKeys: boolean;
      readonly applicationKeypad: boolean;
      readonly bracketedPasteMode: boolean;
      readonly cursorBlink: boolean | undefined;
      readonly cursorStyle: 'block' | 'underline' | 'bar' | undefined;
      readonly origin: boolean;
      readonly reverseWraparound: boolean;
      readonly sendFocus: boolean;
      readonly synchronizedOutput: boolean;
      readonly wraparound: boolean;
    };
  };
  readonly coreMouseService: { readonly activeProtocol: string; readonly activeEncoding: string };
  readonly unicodeService: { wcwidth(code: number): number };
  readonly optionsService: { readonly rawOptions: { scrollback: number; readonly convertEol: boolean; readonly cursorBlink: boolean } };
  readonly _inputHandler: {
    parse(text: string): void;
    _curAttrData: Pen;
    readonly _parser: {
      readonly currentState: number;
      readonly precedingJoinState: number;
      registerCsiHandler(id: { final: string }, handler: (params: Params) => boolean): void;
      registerEscHandler(id: { final: string }, handler: () => boolean): void;
    };
    onColor(listener: (event: ColorEvent) => void): void;
  };
}

/** Of the palette (0…255), the foreground (256), the background (257) and the cursor (258); no index means all of the palette. */
type ColorEvent = ReadonlyArray<{ readonly type: 0 | 1 | 2; readonly index?: number; readonly color?: Rgb }>;
const COLOR_ASKED = 0;
const COLOR_SET = 1;
const COLOR_RESTORE = 2;

/** Handlers of sequences; the one that was registered last is asked first, and true ends it. */
export type Parser = InstanceType<typeof headless.Terminal>['parser'];

export interface Link {
  /** The `id=` that joins several pieces to one link; empty if none was given. */
  readonly id: string;
  readonly uri: string;
}

/** Who wants to know of what the normal screen loses. */
export interface Witness {
  /** The top line is about to leave by scrolling; `isWrapped`: the line that comes at the bottom continues the one before it. */
  scrolls(isWrapped: boolean): void;
  /** All of it is about to be erased. */
  erases(): void;
  /** It is about to be resized; what is returned is called when it is, while the lines that leave are still above it. */
  resizes(): () => void;
}

/** A screen, its modes and everything else that later output depends on. Fed with text that has passed the guard. */
export class Emulator {
  readonly core: Core;
  /** The last title and icon name; undefined if the stream never set one. */
  title: string | undefined;
  iconName: string | undefined;
  /** Colours that the stream has changed; undefined if it never did. */
  colors: Map<number, Rgb> | undefined;
  witness: Witness | undefined;
  readonly #terminal: InstanceType<typeof headless.Terminal>;
  readonly #links = new Map<number, Link>();
  #nextLink = 1;

  constructor(size: Size) {
    // No scrollback: a screen is all that a snapshot shows, and the emulator's own handling of one line past the screen throws.
    const { cols, rows } = size;
    this.#terminal = new headless.Terminal({
      cols,
      rows,
      scrollback: 0,
      allowProposedApi: true,
      logLevel: 'off',
      windowOptions: SIZES_ASKED,
    });
    this.core = (this.#terminal as unknown as { _core: Core })._core;
    const parser = this.core._inputHandler._parser;
    clampCounts({
      cols: () => this.cols,
      rows: () => this.rows,
      onSequence: (final, handler) => parser.registerCsiHandler({ final }, handler),
    });
    this.#watch();
    this.#watchLosses();
    limitMarks(this.line(this.normal, 0));
  }

  /** Columns that there are, which is one more than asked for on the narrowest screen. */
  get cols(): number {
    return this.#terminal.cols;
  }

  get rows(): number {
    return this.#terminal.rows;
  }

  get normal(): Buffer {
    return this.core._bufferService.buffers.normal;
  }

  get alternate(): Buffer {
    return this.core._bufferService.buffers.alt;
  }

  get active(): Buffer {
    return this.core._bufferService.buffers.active;
  }

  get pen(): Attributes {
    return this.core._inputHandler._curAttrData;
  }

  /** A line of a screen, 0…rows−1. */
  line(buffer: Buffer, y: number): Line {
    return buffer.lines.get(buffer.ybase + y) as Line;
  }

  /** To be filled by `Line.loadCell`. */
  cell(): Cell {
    return this.#terminal.buffer.active.getNullCell() as unknown as Cell;
  }

  get parser(): Parser {
    return this.#terminal.parser;
  }

  /** Calls back when the bell rings. */
  onBell(listener: () => void): void {
    this.#terminal.onBell(listener);
  }

  /** Calls back with what the emulator itself answers to a query. */
  onAnswer(listener: (text: string) => void): void {
    this.#terminal.onData(listener);
  }

  /** Calls back for each colour that is asked for, by its index as in `colors`. */
  onColorQuery(listener: (index: number) => void): void {
    this.core._inputHandler.onColor((event) => {
      for (const { type, index } of event) if (type === COLOR_ASKED && index !== undefined) listener(index);
    });
  }

  link(id: number): Link | undefined {
    return this.#links.get(id);
  }

  /** Acts upon text at once; throws what the emulator throws. */
  write(text: string): void {
    this.core._inputHandler.parse(text);
  }

  /**
   * The emulator rewraps lines correctly only while there is room above the screen. So it gets some, as a terminal with a scrollback
   * has it, and afterwards each screen is made whole again: exactly its rows, each exactly its columns.
   */
  resize(size: Size): void {
    const options = this.core.optionsService.rawOptions;
    const resized = this.witness?.resizes();
    this.#forgetHiddenTabs();
    options.scrollback = RESIZE_ROOM;
    this.#terminal.resize(Math.max(size.cols, MIN_COLS), size.rows);
    options.scrollback = 0;
    resized?.();
    for (const buffer of [this.normal, this.alternate]) this.#makeWhole(buffer);
  }

  dispose(): void {
    this.#terminal.dispose();
  }

  #makeWhole(buffer: Buffer): void {
    const { lines } = buffer;
    // The alternate screen has no lines while it is not shown.
    if (lines.length === 0) {
      lines.maxLength = this.rows;
      return;
    }
    const above = buffer.ybase;
    lines.trimStart(above);
    buffer.ybase = 0;
    buffer.ydisp = 0;
    buffer.savedY = Math.max(0, buffer.savedY - above);
    while (lines.length < this.rows) lines.push(buffer.getBlankLine(this.cell()));
    lines.maxLength = this.rows;
    for (let y = 0; y < this.rows; y++) this.#makeLineWhole(this.line(buffer, y));
  }

  #makeLineWhole(line: Line): void {
    const blank = this.cell();
    line.resize(this.cols, blank);
    if (line.getWidth(this.cols - 1) === 2) line.setCellFromCodepoint(this.cols - 1, 0, 1, blank);
  }

  #forgetHiddenTabs(): void {
    for (const { tabs } of [this.normal, this.alternate]) {
      for (const x of Object.keys(tabs)) if (Number(x) >= this.cols) delete tabs[Number(x)];
    }
  }

  #watch(): void {
    const { parser } = this.#terminal;
    const naming = (title: boolean, icon: boolean) => (name: string) => {
      if (title) this.title = name.slice(0, MAX_TITLE);
      if (icon) this.iconName = name.slice(0, MAX_TITLE);
      return true;
    };
    parser.registerOscHandler(0, naming(true, true));
    parser.registerOscHandler(1, naming(false, true));
    parser.registerOscHandler(2, naming(true, false));
    parser.registerOscHandler(8, (data) => this.#openLink(data));
    this.core._inputHandler.onColor((event) => this.#recolor(event));
  }

  #watchLosses(): void {
    const { _bufferService: buffers, _inputHandler: handler } = this.core;
    const scroll = buffers.scroll.bind(buffers);
    buffers.scroll = (erase, isWrapped = false) => {
      if (this.witness && this.active === this.normal && this.active.scrollTop === 0) this.witness.scrolls(isWrapped);
      scroll(erase, isWrapped);
    };
    handler._parser.registerEscHandler({ final: 'c' }, () => {
      this.witness?.erases();
      return false;
    });
    handler._parser.registerCsiHandler({ final: 'J' }, ({ params: [what] }) => {
      const { active } = this;
      const isAll = what === 2 || (what === 0 && active.x === 0 && active.y === 0);
      if (isAll && active === this.normal) this.witness?.erases();
      return false;
    });
  }

  #recolor(event: ColorEvent): void {
    for (const { type, index, color } of event) {
      if (type !== COLOR_SET && type !== COLOR_RESTORE) continue;
      this.colors ??= new Map();
      if (color !== undefined && index !== undefined) this.colors.set(index, color);
      else if (index !== undefined) this.colors.delete(index);
      else for (const key of this.colors.keys()) if (key < 256) this.colors.delete(key);
    }
  }

  /** The emulator's own links leave a marker behind for each one opened, without a bound; ours are a table, and cells hold its keys. */
  #openLink(data: string): boolean {
    const at = data.indexOf(';');
    const params = data.slice(0, at).trim();
    const uri = data.slice(at + 1);
    if (at === -1 || uri.length > MAX_URI || (uri === '' && params !== '')) return true;
    const id =
      params
        .split(':')
        .find((param) => param.startsWith('id='))
        ?.slice(3) ?? '';
    const pen = this.core._inputHandler._curAttrData;
    pen.extended = pen.extended.clone();
    pen.extended.urlId = uri === '' ? 0 : this.#remember({ id, uri });
    pen.updateExtended();
    return true;
  }

  /** The key of a link; 0, which is no link, if there is no room. */
  #remember(link: Link): number {
    for (const [key, known] of this.#links) if (link.id !== '' && known.id === link.id && known.uri === link.uri) return key;
    if (this.#links.size >= MAX_LINKS) this.#forgetUnseenLinks();
    if (this.#links.size >= MAX_LINKS) return 0;
    this.#links.set(this.#nextLink, link);
    return this.#nextLink++;
  }

  #forgetUnseenLinks(): void {
    const seen = new Set([this.pen.extended.urlId]);
    const cell = this.cell();
    for (const buffer of [this.normal, this.alternate]) {
      for (let y = 0; y < buffer.lines.length; y++) {
        const line = buffer.lines.get(y) as Line;
        for (let x = 0; x < line.length; x++) seen.add(line.loadCell(x, cell).extended.urlId);
      }
    }
    for (const key of this.#links.keys()) if (!seen.has(key)) this.#links.delete(key);
  }
}

const limited = new WeakSet<object>();

/** Puts `MAX_MARKS` into the emulator's class of lines, once: it has no limit of its own, and a million marks fit in one cell. */
function limitMarks(line: Line): void {
  const lines = Object.getPrototypeOf(line) as Line;
  if (limited.has(lines)) return;
  limited.add(lines);
  const add = lines.addCodepointToCell;
  lines.addCodepointToCell = function (x, code, width) {
    if (this.getString(x).length <= MAX_MARKS) add.call(this, x, code, width);
  };
}

/** The final characters of ESC ( that the emulator knows. */
const CHARSETS = '0ABC4RQKYEZH7=56';

/** The final character that designates a character set, `B` (ASCII) for none. Found by trying, since the emulator does not name its tables. */
export const designator: (charset: object | undefined) => string = (() => {
  const names = new Map<object | undefined, string>();
  const probe = new Emulator({ cols: MIN_COLS, rows: 1 });
  for (const final of CHARSETS) {
    probe.write(`\x1b(${final}`);
    const table = probe.core._charsetService._charsets[0];
    if (!names.has(table)) names.set(table, final);
  }
  probe.dispose();
  names.set(undefined, 'B');
  return (charset) => names.get(charset) ?? 'B';
})();
