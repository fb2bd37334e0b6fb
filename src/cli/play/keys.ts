// The keys of a playback in a terminal. Knows no player.

export interface PlayKeys {
  toggle(): void;
  /** By so many milliseconds. */
  leap(by: number): void;
  step(by: 1 | -1): void;
  start(): void;
  end(): void;
  faster(by: 1 | -1): void;
  quit(): void;
}

/** Milliseconds that an arrow key leaps over. */
const LEAP_MS = 5000;
const ESC = '\x1b';
/** A sequence that a key sends, or a character. */
const KEY = new RegExp(`${ESC}\\[[0-9;]*[A-Za-z~]|${ESC}O[A-Z]|[\\s\\S]`, 'gu');

/** Does what the keys in a piece of input say; others do nothing. */
export function obey(input: string, keys: PlayKeys): void {
  for (const [key] of input.matchAll(KEY)) actOf(key, keys)?.();
}

/** Names of keys by what terminals send for them, after ESC [ or ESC O. */
const NAMES: Readonly<Record<string, string>> = {
  C: 'right',
  D: 'left',
  H: 'home',
  '1~': 'home',
  '7~': 'home',
  F: 'end',
  '4~': 'end',
  '8~': 'end',
};

function actOf(key: string, keys: PlayKeys): (() => void) | undefined {
  const name = key.startsWith(ESC) ? NAMES[key.slice(2)] : key;
  switch (name) {
    case ' ':
      return keys.toggle;
    case 'q':
    case '\x03':
      return keys.quit;
    case ',':
      return () => keys.step(-1);
    case '.':
      return () => keys.step(1);
    case '-':
      return () => keys.faster(-1);
    case '+':
      return () => keys.faster(1);
    case 'right':
      return () => keys.leap(LEAP_MS);
    case 'left':
      return () => keys.leap(-LEAP_MS);
    case 'home':
      return keys.start;
    case 'end':
      return keys.end;
    default:
      return undefined;
  }
}
