// What this terminal answers when a program asks it something: from its screen, at that very place of the stream. Knows no program.
import type { Emulator, Parser } from './emulator.js';
import { colorAt } from './palette.js';
import { CELL } from './picture/measures.js';
import { codesOf, isProtected, penStyle } from './style.js';
import type { Size } from './terminal.js';

/** Capabilities answered of one XTGETTCAP, and hex digits of a name; what is beyond is passed over. */
const MAX_CAPABILITIES = 32;
const CAPABILITY = /^(?:[\dA-F]{2}){1,32}$/i;

const ESC = '\x1b';
const ST = `${ESC}\\`;
/** VT220 with ANSI colours; xterm 276, as xterm.js says; the letters PTYG. */
const ATTRIBUTES = `${ESC}[?62;22c`;
const SECONDARY_ATTRIBUTES = `${ESC}[>0;276;0c`;
const TERTIARY_ATTRIBUTES = `${ESC}P!|50545947${ST}`;
const VERSION = `${ESC}P>|pty-gateway${ST}`;
const DARK = `${ESC}[?997;1n`;
const CONFORMANCE = '62;1"p';
const CAPABILITIES: Readonly<Record<string, string>> = { TN: 'xterm-256color', Co: '256', colors: '256', RGB: '8/8/8' };

/** An empty parameter is 0, and so is none. */
type Params = (number | number[])[];
type Reply = (text: string) => void;

/** What is asked about. The narrowest emulator is wider than the narrowest session, whose `size` is what counts. */
interface Asked {
  readonly emulator: Emulator;
  size(): Size;
}

/**
 * From now on `reply` is called with each answer, in the order of the queries, while the emulator is written to. DECRQM is answered by the
 * emulator itself. An answer that is echoed asks nothing again: no query here has the form of an answer.
 */
export function answerQueries(asked: Asked, reply: Reply): void {
  const { emulator } = asked;
  const { parser } = emulator;
  onAttributes(parser, reply);
  onStatus(parser, asked, reply);
  onWindow(parser, asked, reply);
  parser.registerDcsHandler({ intermediates: '$', final: 'q' }, (what) => {
    reply(setting(emulator, what));
    return true;
  });
  parser.registerDcsHandler({ intermediates: '+', final: 'q' }, (names) => {
    for (const name of names.split(';').slice(0, MAX_CAPABILITIES)) if (CAPABILITY.test(name)) reply(capability(name));
    return true;
  });
  emulator.onColorQuery((index) => reply(color(emulator, index)));
  emulator.onAnswer(reply);
}

function onAttributes(parser: Parser, reply: Reply): void {
  const answer = (text: string) => (params: Params) => {
    if (params.length <= 1 && !params[0]) reply(text);
    return true;
  };
  parser.registerCsiHandler({ final: 'c' }, answer(ATTRIBUTES));
  parser.registerCsiHandler({ prefix: '>', final: 'c' }, answer(SECONDARY_ATTRIBUTES));
  parser.registerCsiHandler({ prefix: '=', final: 'c' }, answer(TERTIARY_ATTRIBUTES));
  parser.registerCsiHandler({ prefix: '>', final: 'q' }, answer(VERSION));
  parser.registerEscHandler({ final: 'Z' }, () => answer(ATTRIBUTES)([]));
}

function onStatus(parser: Parser, asked: Asked, reply: Reply): void {
  parser.registerCsiHandler({ final: 'n' }, ([what]) => {
    if (what === 5) reply(`${ESC}[0n`);
    else if (what === 6) reply(`${ESC}[${position(asked)}R`);
    return true;
  });
  parser.registerCsiHandler({ prefix: '?', final: 'n' }, ([what]) => {
    if (what === 6) reply(`${ESC}[?${position(asked)}R`);
    else if (what === 996) reply(DARK);
    return true;
  });
}

/** Counted from the top margin in origin mode; on the last column while a wrap is pending. */
function position({ emulator: { active, core }, size }: Asked): string {
  const top = core.coreService.decPrivateModes.origin ? active.scrollTop : 0;
  return `${active.y - top + 1};${Math.min(active.x, size().cols - 1) + 1}`;
}

/** Titles are not told (CSI 20 t, 21 t): what a program put there would be typed. */
function onWindow(parser: Parser, { size }: Asked, reply: Reply): void {
  parser.registerCsiHandler({ final: 't' }, ([what]) => {
    const { cols, rows } = size();
    if (what === 14) reply(`${ESC}[4;${rows * CELL.height};${cols * CELL.width}t`);
    else if (what === 16) reply(`${ESC}[6;${CELL.height};${CELL.width}t`);
    else if (what === 18) reply(`${ESC}[8;${rows};${cols}t`);
    else if (what === 19) reply(`${ESC}[9;${rows};${cols}t`);
    return true;
  });
}

const CURSOR_STYLES = { block: 2, underline: 4, bar: 6 };

/** DECRQSS. */
function setting(emulator: Emulator, what: string): string {
  const { active, core, pen } = emulator;
  const { cursorStyle, cursorBlink } = core.coreService.decPrivateModes;
  const values: Readonly<Record<string, () => string>> = {
    m: () => `${codesOf(penStyle(pen)).join(';')}m`,
    r: () => `${active.scrollTop + 1};${active.scrollBottom + 1}r`,
    ' q': () => `${CURSOR_STYLES[cursorStyle ?? 'block'] - (cursorBlink ? 1 : 0)} q`,
    '"q': () => `${isProtected(pen) ? 1 : 0}"q`,
    '"p': () => CONFORMANCE,
  };
  const value = Object.hasOwn(values, what) ? values[what]?.() : undefined;
  return value === undefined ? `${ESC}P0$r${ST}` : `${ESC}P1$r${value}${ST}`;
}

/** XTGETTCAP: `name` in hex, as it was asked for. */
function capability(name: string): string {
  const value = CAPABILITIES[Buffer.from(name, 'hex').toString('latin1')];
  return value === undefined ? `${ESC}P0+r${name}${ST}` : `${ESC}P1+r${name}=${Buffer.from(value).toString('hex').toUpperCase()}${ST}`;
}

function color({ colors }: Emulator, index: number): string {
  const rgb = colors?.get(index) ?? colorAt(index);
  const parts = rgb.map((value) => value.toString(16).padStart(2, '0').repeat(2));
  return `${ESC}]${index < 256 ? `4;${index}` : index - 246};rgb:${parts.join('/')}${ST}`;
}
