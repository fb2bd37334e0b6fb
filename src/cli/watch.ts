// Shows something again and again in one place, until it is interrupted. Knows not what.
import { setTimeout as pause } from 'node:timers/promises';
import { CommandError } from './failure.js';
import { cut } from './text-width.js';

/** Between two looks, in milliseconds. */
const LOOK_MS = 2000;

/**
 * The first look must succeed; later ones that fail are told of in its place, and it is tried again. `inPlace`, on a terminal: each stands where the one
 * before stood, cut to the window, and what was above stays there; else each is behind the other, and one that is as the one before is left out.
 */
export async function watch(look: () => Promise<string>, inPlace: boolean): Promise<never> {
  let text = await look();
  let shown: string | undefined;
  let rows = 0;
  for (;;) {
    const lines = inWindow(text.split('\n').slice(0, -1));
    if (inPlace) process.stdout.write(over(rows, lines));
    else if (text !== shown) process.stdout.write(text);
    shown = text;
    rows = lines.length;
    await pause(LOOK_MS);
    text = await look().catch(told);
  }
}

/** Writes over so many lines before; what is left of them is erased. */
const over = (before: number, lines: readonly string[]): string =>
  `${before > 0 ? `\x1b[${before}A\r` : ''}${lines.map((line) => `${line}\x1b[K\n`).join('')}\x1b[J`;

/** The last row is the cursor's. */
function inWindow(lines: readonly string[]): string[] {
  const { rows = 24, columns = 80 } = process.stdout;
  const room = Math.max(1, rows - 1);
  const shown = lines.length <= room ? lines : [...lines.slice(0, room - 1), `… and ${lines.length - room + 1} more`];
  return shown.map((line) => cut(line, columns));
}

function told(error: unknown): string {
  if (error instanceof CommandError) return `${error.message}\n`;
  throw error;
}
