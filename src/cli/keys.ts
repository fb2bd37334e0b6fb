// Keys by their names, ours and those of tmux, and the bytes that a terminal sends for them. Knows no session.
import { InvalidArgumentError } from 'commander';

/** What a program has said of the keyboard (DECCKM): then arrow keys, Home and End send `ESC O` in place of `ESC [`. */
export interface Keyboard {
  readonly isApplication: boolean;
}

/** By names in small letters: ours, and tmux's where it has another. */
const plain: Readonly<Record<string, string>> = {
  enter: '\r',
  tab: '\t',
  escape: '\x1b',
  space: ' ',
  backspace: '\x7f',
  bspace: '\x7f',
  insert: '\x1b[2~',
  ic: '\x1b[2~',
  delete: '\x1b[3~',
  dc: '\x1b[3~',
  pageup: '\x1b[5~',
  ppage: '\x1b[5~',
  pgup: '\x1b[5~',
  pagedown: '\x1b[6~',
  npage: '\x1b[6~',
  pgdn: '\x1b[6~',
  'shift-tab': '\x1b[Z',
  btab: '\x1b[Z',
  f1: '\x1bOP',
  f2: '\x1bOQ',
  f3: '\x1bOR',
  f4: '\x1bOS',
  f5: '\x1b[15~',
  f6: '\x1b[17~',
  f7: '\x1b[18~',
  f8: '\x1b[19~',
  f9: '\x1b[20~',
  f10: '\x1b[21~',
  f11: '\x1b[23~',
  f12: '\x1b[24~',
};
/** Final bytes. */
const moving: Readonly<Record<string, string>> = { up: 'A', down: 'B', right: 'C', left: 'D', home: 'H', end: 'F' };
/** What a key sends with modifiers, as xterm has it: `CSI 1 ; m F`, or `CSI n ; m ~`. */
const SHIFT = 1;
const ALT = 2;
const CTRL = 4;
const modifiers: Readonly<Record<string, number>> = { c: CTRL, ctrl: CTRL, m: ALT, alt: ALT, s: SHIFT, shift: SHIFT };

/** For a person who has named another. */
const EXPECTED =
  'expected Enter, Tab, Escape, Space, Backspace, Up, Down, Left, Right, Home, End, PageUp, PageDown, Insert, Delete, F1 to F12, or a ' +
  'character; before it ctrl-, alt-, shift-, or as tmux has them: C-c, M-x, C-M-x, S-Up, BSpace, BTab, PPage, NPage, IC, DC';

/** Throws InvalidArgumentError for what is no key. */
export function checkKey(name: string): string {
  if (bytesOf(name, { isApplication: false }) !== undefined) return name;
  throw new InvalidArgumentError(EXPECTED);
}

/** Names are in letters of either case, but for a character; undefined for what is no key. */
export function bytesOf(name: string, keyboard: Keyboard): string | undefined {
  const { held, key } = modified(name);
  const lower = key.toLowerCase();
  const named = moving[lower] === undefined ? plain[lower] : arrow(moving[lower], keyboard);
  if (held === 0) return named ?? alone(key);
  const whole = plain[`shift-${lower}`];
  if (held === SHIFT && whole !== undefined) return whole;
  return withParameter(lower, held) ?? (held & SHIFT ? undefined : prefixed(named ?? alone(key), held));
}

/** The modifiers that stand before a key, and the key. */
function modified(name: string): { held: number; key: string } {
  let held = 0;
  let key = name.replace(/^\^(?=.)/u, 'C-');
  for (;;) {
    const [whole, word = ''] = /^(?:(c|m|s|ctrl|alt|shift)-)(?=.)/isu.exec(key) ?? [];
    if (whole === undefined) return { held, key };
    held |= modifiers[word.toLowerCase()] ?? 0;
    key = key.slice(whole.length);
  }
}

/** What xterm sends for a key of its own with modifiers; undefined for one that is a character, or is not told apart. */
function withParameter(key: string, held: number): string | undefined {
  const bytes = plain[key] ?? '';
  const final = moving[key] ?? (bytes.startsWith('\x1bO') ? bytes.slice(2) : undefined);
  if (final !== undefined) return `\x1b[1;${held + 1}${final}`;
  return bytes.endsWith('~') ? `${bytes.slice(0, -1)};${held + 1}~` : undefined;
}

/** Ctrl makes a control character, alt puts an escape before it. */
function prefixed(bytes: string | undefined, held: number): string | undefined {
  const key = held & CTRL ? control(bytes) : bytes;
  return key === undefined || !(held & ALT) ? key : `\x1b${key}`;
}

function control(character = ''): string | undefined {
  const upper = character.toUpperCase();
  if (upper === ' ') return '\0';
  if (upper === '?') return '\x7f';
  return /^[A-Z@[\\\]^_]$/.test(upper) ? String.fromCharCode(upper.charCodeAt(0) & 0x1f) : undefined;
}

const arrow = (final: string, { isApplication }: Keyboard): string => `\x1b${isApplication ? 'O' : '['}${final}`;
const alone = (key: string): string | undefined => ([...key].length === 1 ? key : undefined);
