// A session in a window: bytes pass as they are while both have one size; else the part that fits is drawn, from a screen that is kept here.
// Knows no client.
import type { Picture, Size } from '../client/node.js';
import { moveTo } from '../terminal/cells.js';
import type { Emulator } from '../terminal/emulator.js';
import { Fold } from '../terminal/fold.js';
import { QueryFilter } from '../terminal/queries.js';
import { names } from '../terminal/snapshot.js';
import { Viewport } from './crop.js';
import { type Display, joined, type Line } from './display.js';
import type { LocalTerminal } from './local-terminal.js';
import { noticeRows } from './notice-rows.js';
import { type Pan, stepOf } from './panning.js';

/** Drawn at most once in so many milliseconds. */
const FRAME_MS = 20;
/** Cancels a sequence that was cut, and turns off what would move what is drawn, or report a mouse in the wrong place. */
const BEGIN_DRAWING = '\x18\x1b[?6l\x1b[r\x1b[4l\x1b[?7l\x1b(B\x0f\x1b]8;;\x1b\\\x1b[0m\x1b[?9;1000;1002;1003;1004l';
/** Empties the screen from its end: terminals that keep what is erased from its beginning (tmux) have nothing to keep then. */
const WIPE = Buffer.from('\x1b[?2026h\x18\x1b[?1049l\x1b[?6l\x1b[r\x1b[0m\x1b[999;999H\x1b[1J');
const BELL = '\x07';

export interface WindowEvents {
  /** The screen is lost until the next picture. */
  lost(): void;
}

/**
 * The terminal is in one of two states: it holds what the program printed (`passes`), or what was drawn. A line for the person is always
 * drawn, one row below a part of the screen that is one row shorter: so it covers nothing, nothing is written into it, and taking it away is
 * writing a snapshot.
 */
export class WindowDisplay implements Display {
  readonly #terminal: LocalTerminal;
  readonly #events: WindowEvents;
  readonly #viewport = new Viewport();
  /** The gateway answers what programs ask; this terminal would answer as well, and that would be typed. */
  #queries = new QueryFilter();
  #fold: Fold;
  #session: Size;
  /** Until there is a picture, the past is printed as it comes. */
  #pictured = false;
  #line: Line | undefined;
  #drawn: readonly string[] = [];
  #drawnEnd = '';
  #drawnNames = '';
  #rung = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(terminal: LocalTerminal, events: WindowEvents) {
    this.#terminal = terminal;
    this.#events = events;
    this.#session = this.#window;
    this.#fold = this.#newFold();
  }

  output(bytes: Uint8Array): void {
    this.#terminal.open();
    const shown = this.#queries.take(bytes);
    this.#step(() => this.#fold.piece(shown));
    if (this.#passes) this.#terminal.write(shown);
    else this.#drawSoon();
  }

  picture({ snapshot, cols, rows }: Picture): void {
    this.#terminal.open();
    this.#session = { cols, rows };
    this.#pictured = true;
    this.#queries = new QueryFilter();
    const shown = this.#queries.take(snapshot);
    this.#step(() => {
      this.#fold.resize(0, this.#session);
      this.#fold.piece(shown);
    });
    this.repaint();
  }

  sessionResized(size: Size): void {
    this.#session = size;
    this.#step(() => this.#fold.resize(0, size));
    this.repaint();
  }

  windowResized(): void {
    this.repaint();
  }

  pan(pan: Pan | undefined): void {
    if (this.#passes) return;
    if (pan === undefined) this.#viewport.follow();
    else this.#viewport.pan(stepOf(pan, this.#window.rows));
    this.#draw();
  }

  line(line: Line | undefined): void {
    if (line && !this.#terminal.isOpen) this.#terminal.say(joined(line));
    const passed = this.#passes;
    this.#line = line;
    if (passed || this.#passes) this.repaint();
    else this.#draw();
  }

  repaint(): void {
    if (!this.#pictured) return;
    this.#drawn = [];
    this.#drawnEnd = '';
    this.#drawnNames = '';
    if (this.#passes) this.#viewport.follow();
    if (this.#passes) this.#terminal.write(Buffer.concat([WIPE, this.#fold.snapshot().bytes]));
    else this.#draw();
  }

  close(): void {
    if (this.#line) this.line(undefined);
    this.#draw();
    this.suspend();
  }

  suspend(): void {
    this.#terminal.close(this.#lastRow);
  }

  /** The last row of the window in which something stands, or the cursor; undefined while that is not known. */
  get #lastRow(): number | undefined {
    if (!this.#passes || !this.#pictured) return undefined;
    const { lines, cursor } = this.#fold.view();
    return Math.max(
      cursor.row,
      lines.findLastIndex((line) => line !== ''),
    );
  }

  get #window(): Size {
    return this.#terminal.size ?? { cols: 80, rows: 24 };
  }

  get #passes(): boolean {
    if (!this.#pictured) return true;
    return this.#line === undefined && this.#session.cols === this.#window.cols && this.#session.rows === this.#window.rows;
  }

  /** A fold that has failed is of no use any more; it begins anew, and waits for a picture. */
  #step(step: () => void): void {
    try {
      step();
    } catch {
      this.#fold = this.#newFold();
      this.#events.lost();
    }
  }

  /** What passes rings by itself. */
  #newFold(): Fold {
    const fold = new Fold(this.#session);
    fold.emulator.onBell(() => {
      this.#rung = !this.#passes;
    });
    return fold;
  }

  #drawSoon(): void {
    this.#timer ??= setTimeout(() => this.#draw(), FRAME_MS);
  }

  #draw(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#passes) return;
    const begin = this.#begin();
    const { rows, cursor } = this.#composed();
    const changed = rows.map((row, y) => (row === this.#drawn[y] ? '' : moveTo(y, 0) + row)).join('');
    const end = keysOf(this.#fold.emulator) + (cursor ? `${cursor}\x1b[?25h` : '');
    const told = this.#namesAndBell();
    if (!begin && !changed && !told && end === this.#drawnEnd) return;
    this.#drawn = rows;
    this.#drawnEnd = end;
    this.#terminal.write(Buffer.from(`\x1b[?2026h\x1b[?25l${begin}${changed}${end}\x1b[?2026l${told}`));
  }

  /** What the program tells beside its screen, once each time. */
  #namesAndBell(): string {
    const told = names(this.#fold.emulator);
    const changed = told === this.#drawnNames ? '' : told;
    const bell = this.#rung ? BELL : '';
    this.#drawnNames = told;
    this.#rung = false;
    return changed + bell;
  }

  /** The program's other screen is drawn on this terminal's other screen, so that what was before is there again after it. */
  #begin(): string {
    const { active, alternate } = this.#fold.emulator;
    const other = active === alternate;
    if (this.#drawn.length > 0 && other === this.#terminal.isInAlternate) return '';
    this.#drawn = [];
    const change = other === this.#terminal.isInAlternate ? '' : `\x1b[?1049${other ? 'h' : 'l'}`;
    return change + BEGIN_DRAWING;
  }

  #composed(): { rows: readonly string[]; cursor: string } {
    const { cols, rows } = this.#window;
    if (!this.#line) return this.#viewport.crop(this.#fold.emulator, { cols, rows });
    const below = noticeRows(this.#line, cols, Math.max(1, Math.floor(rows / 2)));
    const above = this.#viewport.crop(this.#fold.emulator, { cols, rows: Math.max(1, rows - below.length) });
    return { rows: [...above.rows.slice(0, rows - below.length), ...below], cursor: above.cursor };
  }
}

/** How keys are typed is the program's to say, also where it is drawn. */
function keysOf({ core }: Emulator): string {
  const { applicationCursorKeys, applicationKeypad, bracketedPasteMode } = core.coreService.decPrivateModes;
  return `\x1b[?1${applicationCursorKeys ? 'h' : 'l'}\x1b${applicationKeypad ? '=' : '>'}\x1b[?2004${bracketedPasteMode ? 'h' : 'l'}`;
}
