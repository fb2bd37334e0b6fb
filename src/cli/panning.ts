// Which way the view of a session goes that is larger than its window, by the keys of a person who only watches. Knows no screen.

/** One row, eight columns, a window's height, or to the first or last column. */
export type Pan = 'up' | 'down' | 'left' | 'right' | 'page up' | 'page down' | 'home' | 'end';

const ESC = '\x1b';
/** Home and End have other bytes in tmux (1, 4) and rxvt (7, 8). */
const byFinal: Readonly<Record<string, Pan>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
  '1~': 'home',
  '4~': 'end',
  '5~': 'page up',
  '6~': 'page down',
  '7~': 'home',
  '8~': 'end',
};
/** The keys of one reading; a held key sends many at once. */
const KEY = new RegExp(`${ESC}[[O]([ABCDHF]|[145678]~)`, 'y');

/** Undefined for what is anything but such keys. */
export function pansIn(bytes: Uint8Array): Pan[] | undefined {
  const text = Buffer.from(bytes).toString('latin1');
  const pans: Pan[] = [];
  KEY.lastIndex = 0;
  while (KEY.lastIndex < text.length) {
    const pan = byFinal[KEY.exec(text)?.[1] ?? ''];
    if (!pan) return undefined;
    pans.push(pan);
  }
  return pans.length > 0 ? pans : undefined;
}

const COLUMNS = 8;

/** In rows and columns, for a window of so many rows. */
export function stepOf(pan: Pan, rows: number): { readonly dx: number; readonly dy: number } {
  const far = Number.MAX_SAFE_INTEGER;
  const steps: Readonly<Record<Pan, readonly [dx: number, dy: number]>> = {
    up: [0, -1],
    down: [0, 1],
    left: [-COLUMNS, 0],
    right: [COLUMNS, 0],
    'page up': [0, -rows],
    'page down': [0, rows],
    home: [-far, 0],
    end: [far, 0],
  };
  const [dx, dy] = steps[pan];
  return { dx, dy };
}
