// A screen as bytes: written to any terminal of its size, fresh or dirty, they make it show and do the same (pty-ext §7.5). Knows no log and no client.
import { cellsOf, DETAILS, linkTo, moveTo, type Paper } from './cells.js';
import { type Attributes, type Buffer, designator, type Emulator, type Line } from './emulator.js';
import { penStyle, plain, restyle, type Style, sameStyle, sequenceOf, styleOf } from './style.js';

const ST = '\x1b\\';
const CLEAR = '\x1b[H\x1b[J';
const SAVE = '\x1b7';
const RESTORE = '\x1b8';
const TO_ALTERNATE = '\x1b[?1049h';
const TO_NORMAL = '\x1b[?1049l';
const ZERO_WIDTH = '\u200b';
/** Columns that a cursor is told to be out of the screen, at most. */
const MAX_BEYOND = 32;
const PLAIN_PEN = '\x1b(B\x0f\x1b[m\x1b[0"q';

/** UTF-16 units that the cells of a snapshot may take (one to three bytes each); beyond it they are told in less detail. */
export const MAX_CELLS_UNITS = 2 * 1024 * 1024;

/**
 * The bytes, without the unfinished tail of the stream. No hard reset, and nothing that touches a scrollback. The order is the proof:
 * every step assumes what the ones before it made sure of, and none undoes one before.
 */
export function snapshotOf(emulator: Emulator): string {
  let told = '';
  for (const detail of DETAILS) {
    const paper: Paper = { detail, left: MAX_CELLS_UNITS };
    told = toldOn(paper, emulator);
    if (paper.left >= 0) break;
  }
  return told;
}

function toldOn(paper: Paper, emulator: Emulator): string {
  const { normal, alternate, active } = emulator;
  const onAlternate = active === alternate;
  return [
    RESET,
    names(emulator),
    colors(emulator),
    // A terminal keeps a saved cursor for the screen that it does not show, too.
    onAlternate ? '' : TO_ALTERNATE + save(emulator, alternate) + TO_NORMAL + PLAIN_PEN,
    onAlternate ? '' : save(emulator, normal),
    PLAIN_PEN,
    screen(emulator, normal, paper),
    onAlternate
      ? region(normal) + saved(normal) + TO_ALTERNATE + save(emulator, alternate) + PLAIN_PEN + screen(emulator, alternate, paper)
      : '',
    region(active),
    modes(emulator),
    end(emulator),
  ].join('');
}

/**
 * Ends whatever sequence a terminal is in the middle of, leaves the alternate screen and resets all modes. DECSTR does most of it in
 * most terminals; the rest is told one by one. Nothing is drawn until the end (synchronized output), so nobody sees the work.
 */
const RESET = [
  '\x18',
  TO_NORMAL,
  '\x1b[!p',
  '\x1b(B\x1b)B\x1b*B\x1b+B\x0f',
  '\x1b[?1;6;9;12;45;66;1000;1002;1003;1004;1005;1006;1015;1016;2004l',
  '\x1b[4;20l',
  '\x1b[?7;25h',
  '\x1b>',
  '\x1b[0 q',
  '\x1b]8;;\x1b\\',
  '\x1b[?2026h',
].join('');

/** Titles are told only if the program ever set one: else they are the terminal's own. */
export function names({ title, iconName }: Emulator): string {
  const told = (code: number, name: string | undefined): string => (name === undefined ? '' : `\x1b]${code};${name}${ST}`);
  return told(1, iconName) + told(2, title);
}

/** As titles: reset and set only if the program ever changed one. */
function colors({ colors }: Emulator): string {
  if (colors === undefined) return '';
  const hex = (value: number): string => value.toString(16).padStart(2, '0');
  const told = [...colors].map(([index, rgb]) => `\x1b]${index < 256 ? `4;${index}` : index - 246};rgb:${rgb.map(hex).join('/')}${ST}`);
  return [104, 110, 111, 112].map((code) => `\x1b]${code}${ST}`).join('') + told.join('');
}

/** Puts the cursor, the pen and the character set where DECSC is to find them. */
function saved(buffer: Buffer): string {
  const set = `\x1b(${designator(buffer.savedCharset)}\x0f`;
  return moveTo(buffer.savedY, buffer.savedX) + set + sequenceOf(styleOf(unlinked(buffer.savedCurAttrData)));
}

/** Of a screen that is still to be painted: a wrap that was pending is saved, too. */
const save = ({ cols }: Emulator, buffer: Buffer): string => saved(buffer) + (buffer.savedX < cols ? '' : ' ') + SAVE;

/** A saved cursor has no link and no line style of its own. */
const unlinked = ({ fg, bg }: Attributes): Attributes => ({ fg, bg, extended: { _ext: 0, urlId: 0 } });

function screen(emulator: Emulator, buffer: Buffer, paper: Paper): string {
  return CLEAR + cellsOf(emulator, buffer, paper) + tabs(emulator, buffer);
}

function tabs({ cols }: Emulator, buffer: Buffer): string {
  const stops = Array.from({ length: cols }, (_, x) => x).filter((x) => buffer.tabs[x]);
  return `\x1b[3g${stops.map((x) => `\x1b[${x + 1}G\x1bH`).join('')}`;
}

const region = ({ scrollTop, scrollBottom }: Buffer): string =>
  scrollTop < scrollBottom ? `\x1b[${scrollTop + 1};${scrollBottom + 1}r` : '';

const MOUSE: Readonly<Record<string, string>> = { X10: '\x1b[?9h', VT200: '\x1b[?1000h', DRAG: '\x1b[?1002h', ANY: '\x1b[?1003h' };
const MOUSE_ENCODING: Readonly<Record<string, string>> = { SGR: '\x1b[?1006h', SGR_PIXELS: '\x1b[?1016h' };
const CURSOR = { block: 2, underline: 4, bar: 6 };

/** All modes that do not change how the rest is written. Origin mode takes the cursor home, so the cursor comes later. */
function modes({ core }: Emulator): string {
  const { decPrivateModes: on } = core.coreService;
  const { rawOptions } = core.optionsService;
  const when = (condition: boolean, sequence: string): string => (condition ? sequence : '');
  return [
    when(on.origin, '\x1b[?6h'),
    when(on.applicationCursorKeys, '\x1b[?1h'),
    when(on.applicationKeypad, '\x1b='),
    when(on.bracketedPasteMode, '\x1b[?2004h'),
    when(on.reverseWraparound, '\x1b[?45h'),
    when(on.sendFocus, '\x1b[?1004h'),
    when(rawOptions.cursorBlink, '\x1b[?12h'),
    when(rawOptions.convertEol, '\x1b[20h'),
    MOUSE[core.coreMouseService.activeProtocol] ?? '',
    MOUSE_ENCODING[core.coreMouseService.activeEncoding] ?? '',
    on.cursorStyle ? `\x1b[${CURSOR[on.cursorStyle] - (on.cursorBlink ? 1 : 0)} q` : '',
    when(core.coreService.isCursorHidden, '\x1b[?25l'),
  ].join('');
}

/**
 * Cursor, pen, character sets, and the modes that change how text is written. Two things besides the position make a cursor: a wrap that
 * is pending, which only writing into the last column brings about, and the character before it, which a combining mark or REP refers
 * to until the next sequence. So for the second the last thing written is that character, once more; for the first it is enough to write
 * it before the pen is set. (One thing is lost: a mark or REP right after a control that took the cursor away from the character.)
 */
function end(emulator: Emulator): string {
  const last = lastCell(emulator);
  const late = lateModes(emulator);
  if (last && joins(emulator, last) && isUnchanged(emulator, last.text)) {
    const room = emulator.core.coreService.modes.insertMode ? `${place(emulator, last.x)}\x1b[${last.width}P` : '';
    return charsets(emulator) + room + pen(emulator, plain) + late + place(emulator, last.x) + last.text;
  }
  const { before, sets } = detached(emulator);
  const written = before && last && !isUnchanged(emulator, last.text) ? undefined : last;
  return before + cursor(emulator, written) + sets + pen(emulator, plain) + late;
}

interface Last {
  readonly x: number;
  readonly width: number;
  readonly text: string;
  readonly style: Style;
}

/** The character left of the cursor, if it can be written again. */
function lastCell(emulator: Emulator): Last | undefined {
  const { active, core, cols } = emulator;
  const line = emulator.line(active, active.y);
  const end = Math.min(active.x, cols);
  const isWide = end > 1 && line.getWidth(end - 2) === 2;
  // The right half of a character was written over: doing that once more would erase the left one.
  if (end < 1 || (isWide && line.getWidth(end - 1) !== 0)) return undefined;
  const x = end - (isWide ? 2 : 1);
  const cell = line.loadCell(x, emulator.cell());
  const [text, width] = [cell.getChars(), cell.getWidth()];
  // A mark alone is none.
  if (!text || x + width !== end || core.unicodeService.wcwidth(text.codePointAt(0) as number) === 0) return undefined;
  return { x, width, text, style: styleOf(cell) };
}

/** Whether the character set in use does not turn it into something else. */
function isUnchanged({ core }: Emulator, text: string): boolean {
  const set = core._charsetService.charset as Record<string, string> | undefined;
  return (text.codePointAt(0) as number) >= 127 || !set?.[text[0] as string];
}

/** Whether the next mark or REP refers to this character, and the pen is still the one that wrote it. */
function joins(emulator: Emulator, last: Last): boolean {
  const state = emulator.core._inputHandler._parser.precedingJoinState;
  return state !== 0 && ((state >> 1) & 3) === last.width && sameStyle(last.style, styleOf(emulator.pen));
}

/** Moves the cursor within its row; rows count from the top margin in origin mode. */
function place({ core, active }: Emulator, x: number): string {
  const top = core.coreService.decPrivateModes.origin ? active.scrollTop : 0;
  return moveTo(Math.max(0, active.y - top), x);
}

function cursor(emulator: Emulator, last: Last | undefined): string {
  const { active, cols } = emulator;
  if (active.x < cols) return place(emulator, active.x);
  const pending = last ? pendingAfter(emulator, last) : pendingAfterNothing(emulator);
  return pending === undefined ? place(emulator, cols - 1) : pending + beyond(emulator);
}

function pendingAfter(emulator: Emulator, { style, x, text }: Last): string {
  return linkTo(emulator, style.link) + sequenceOf(style) + place(emulator, x) + text + linkTo(emulator, 0);
}

/** Marks after a sequence behind a full line have taken the cursor out of the screen, one column each; its next line feed tells. */
function beyond({ active, cols }: Emulator): string {
  return active.x === cols ? '' : ST + ZERO_WIDTH.repeat(Math.min(active.x - cols, MAX_BEYOND));
}

/**
 * A pending wrap although the last column is empty: its row was erased under the cursor, or the cursor came from the other screen with it.
 * Undefined where that cannot be brought about.
 */
function pendingAfterNothing(emulator: Emulator): string | undefined {
  const { active, alternate, cols } = emulator;
  const write = `${place(emulator, cols - 1)} `;
  const line = emulator.line(active, active.y);
  if (isErased(emulator, line)) return `${sequenceOf(styleOf(line.loadCell(0, emulator.cell())))}${write}\x1b[1K`;
  if (active === alternate) return undefined;
  return `\x1b[?47h${moveTo(active.y, cols - 1)} \x1b[?47l`;
}

function isErased(emulator: Emulator, line: Line): boolean {
  const cell = emulator.cell();
  const style = styleOf(line.loadCell(0, cell));
  for (let x = 0; x < emulator.cols; x++) if (line.loadCell(x, cell).getChars() || !sameStyle(styleOf(cell), style)) return false;
  return true;
}

/** DECRC may have brought back a character set that is none of G0…G3: then it is brought back once more, before the cursor is placed. */
function detached(emulator: Emulator): { before: string; sets: string } {
  const { charset, glevel, _charsets } = emulator.core._charsetService;
  const sets = charsets(emulator);
  return charset === _charsets[glevel] ? { before: '', sets } : { before: sets, sets: '' };
}

const SHIFT = ['\x0f', '\x0e', '\x1bn', '\x1bo'];

function charsets({ core, active }: Emulator): string {
  const { charset, glevel, _charsets } = core._charsetService;
  const sets = ['(', ')', '*', '+'].map((g, i) => `\x1b${g}${designator(_charsets[i])}`).join('');
  const restored = charset !== _charsets[glevel] && charset === active.savedCharset ? RESTORE : '';
  return sets + SHIFT[glevel] + restored;
}

function pen(emulator: Emulator, from: Style): string {
  const style = penStyle(emulator.pen);
  return (style.link ? linkTo(emulator, style.link) : '') + restyle(from, style);
}

function lateModes({ core }: Emulator): string {
  const { modes, decPrivateModes } = core.coreService;
  const synchronized = decPrivateModes.synchronizedOutput ? '' : '\x1b[?2026l';
  return (decPrivateModes.wraparound ? '' : '\x1b[?7l') + (modes.insertMode ? '\x1b[4h' : '') + synchronized;
}
