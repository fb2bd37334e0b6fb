// Random output of programs, for properties: text, wide and combining characters, controls, and sequences, sane and broken.
import fc from 'fast-check';

const text = fc.oneof(
  { weight: 4, arbitrary: fc.stringMatching(/^[a-z0-9 ]{1,12}$/) },
  fc.constantFrom('漢字', 'é', 'e\u0301', '\u0301', '🙂', '─│', 'x'.repeat(30), '𠀀', 'a\u200b', '\ufeff', '\u00a0'),
);
const control = fc.constantFrom('\r', '\n', '\r\n', '\b', '\t', '\x0e', '\x0f', '\x07', '\x0b', '\x7f', '\x00', '\x18');
const count = fc.oneof({ weight: 5, arbitrary: fc.integer({ min: 0, max: 12 }) }, fc.constantFrom(20, 99));
const moving = fc
  .tuple(fc.array(count, { maxLength: 3 }), fc.constantFrom(...'@ABCDEFGHIJKLMPSTXZ`abdefgr'))
  .map(([n, final]) => `\x1b[${n.join(';')}${final}`);
const selective = fc
  .tuple(fc.constantFrom('?J', '?K', '"q', "'}", "'~", ' @', ' A'), count)
  .map(([kind, n]) => (kind.startsWith('?') ? `\x1b[?${n % 3}${kind[1]}` : `\x1b[${kind === '"q' ? n % 3 : n}${kind}`));
const MODES = [1, 6, 7, 9, 12, 25, 45, 47, 66, 1000, 1002, 1003, 1004, 1006, 1016, 1047, 1048, 1049, 2004, 2026];
const mode = fc.tuple(fc.constantFrom(...MODES), fc.constantFrom('h', 'l')).map(([n, set]) => `\x1b[?${n}${set}`);
const ansiMode = fc.constantFrom('\x1b[4h', '\x1b[4l', '\x1b[20h', '\x1b[20l', '\x1b[3 q', '\x1b[6 q', '\x1b[0 q', '\x1b=', '\x1b>');
const COLORS = ['38;5;9', '48;5;200', '38;2;1;2;3', '48;2;9;8;7', '58:5:3', '58:2::4:5:6', '4:3', '4:0', '4:2', '59'];
const style = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 9 }).map(String),
      fc.constantFrom('21', '22', '24', '27', '31', '44', '53', '95', '107', '39', '49', ...COLORS),
    ),
    { maxLength: 4 },
  )
  .map((codes) => `\x1b[${codes.join(';')}m`);
const escapes = fc.constantFrom(
  '\x1b7',
  '\x1b8',
  '\x1bD',
  '\x1bE',
  '\x1bH',
  '\x1bM',
  '\x1b(0',
  '\x1b(B',
  '\x1b)0',
  '\x1b(A',
  '\x1bn',
  '\x1bo',
  '\x1b#8',
  '\x1b[!p',
  '\x1bc',
);
const string = fc.constantFrom(
  '\x1b]0;title\x07',
  '\x1b]2;t\u00e9\x1b\\',
  '\x1b]8;;http://x\x1b\\',
  '\x1b]8;id=1;http://y\x07',
  '\x1b]8;;\x1b\\',
  '\x1b]4;1;rgb:11/22/33\x07',
  '\x1bP$qm\x1b\\',
  '\x1bP1;2qabc\x1b\\',
  '\x1b_apc\x1b\\',
  '\x1b^pm\u00e9',
  '\x1bXsos\x9c',
  '\u009b3;4H',
  '\u0085',
  '\u009d2;c1\u009c',
);
const broken = fc.constantFrom(
  '\x1b[1\r\n;3',
  '\x1b[?',
  '\x1b[1;2;3<m',
  '\x1b[1 \x1b',
  '\x1b]9',
  '\x1bP',
  '\x1b[38;5',
  '\x1b(',
  '\x1b[4:3',
  '\x1b[1\u00e9',
);

/** One thing that a program prints. */
const piece = fc.oneof(
  { weight: 8, arbitrary: text },
  { weight: 4, arbitrary: control },
  { weight: 6, arbitrary: moving },
  { weight: 3, arbitrary: style },
  { weight: 2, arbitrary: mode },
  { weight: 1, arbitrary: ansiMode },
  { weight: 2, arbitrary: escapes },
  { weight: 1, arbitrary: selective },
  { weight: 1, arbitrary: string },
  { weight: 1, arbitrary: broken },
);

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

/** The bytes of a program's output. */
export const program: fc.Arbitrary<Uint8Array> = fc.array(piece, { maxLength: 40 }).map((pieces) => bytesOf(pieces.join('')));

/** Bytes of no program at all, biased to those that mean something. */
export const noise: fc.Arbitrary<Uint8Array> = fc
  .array(
    fc.oneof(
      fc.integer({ min: 0, max: 255 }),
      fc.constantFrom(0x1b, 0x5b, 0x5d, 0x50, 0x5f, 0xc2, 0x9b, 0x9d, 0x90, 0xe2, 0x82, 0xf0, 0x3b, 0x31, 0x6d, 0x48),
    ),
    { maxLength: 60 },
  )
  .map((bytes) => Uint8Array.from(bytes));

/** Cut into chunks at the given shares (0…1) of its length. */
export function chunked(bytes: Uint8Array, shares: readonly number[]): Uint8Array[] {
  const places = [0, ...shares.map((share) => Math.floor(share * bytes.length)).sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((to, i) => bytes.subarray(places[i], to));
}

export const shares: fc.Arbitrary<number[]> = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 });
export const share: fc.Arbitrary<number> = fc.double({ min: 0, max: 1, noNaN: true });
