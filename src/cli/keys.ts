// Keys by their names, and the bytes that a terminal sends for them. Knows no session.
import { InvalidArgumentError } from 'commander';

/** What a program has said of the keyboard (DECCKM): then arrow keys, Home and End send `ESC O` in place of `ESC [`. */
export interface Keyboard {
  readonly isApplication: boolean;
}

const plain: Readonly<Record<string, string>> = {
  enter: '\r',
  tab: '\t',
  escape: '\x1b',
  space: ' ',
  backspace: '\x7f',
  insert: '\x1b[2~',
  delete: '\x1b[3~',
  pageup: '\x1b[5~',
  pagedown: '\x1b[6~',
  'shift-tab': '\x1b[Z',
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

/** For help and completion. */
export const keyNames: readonly string[] = [
  ...[
    'Enter',
    'Tab',
    'Escape',
    'Space',
    'Backspace',
    'Up',
    'Down',
    'Left',
    'Right',
    'Home',
    'End',
    'PageUp',
    'PageDown',
    'Insert',
    'Delete',
  ],
  ...['Shift-Tab', ...Array.from({ length: 12 }, (_, at) => `F${at + 1}`)],
];

/** Throws InvalidArgumentError for what is no key. */
export function checkKey(name: string): string {
  if (bytesOf(name, { isApplication: false }) !== undefined) return name;
  throw new InvalidArgumentError(
    `expected one of ${keyNames.slice(0, 15).join(', ')}, Shift-Tab, F1 to F12, ctrl-<letter>, alt-<character>, or a character`,
  );
}

/** In letters of either case; undefined for what is no key. */
export function bytesOf(name: string, { isApplication }: Keyboard): string | undefined {
  const lower = name.toLowerCase();
  const final = moving[lower];
  if (final !== undefined) return `\x1b${isApplication ? 'O' : '['}${final}`;
  const [, letter] = /^ctrl-([a-z@[\\\]^_])$/.exec(lower) ?? [];
  if (letter !== undefined) return String.fromCharCode(letter.toUpperCase().charCodeAt(0) & 0x1f);
  const [, alone] = /^alt-(.)$/su.exec(name) ?? [];
  if (alone !== undefined) return `\x1b${alone}`;
  return plain[lower] ?? ([...name].length === 1 ? name : undefined);
}
