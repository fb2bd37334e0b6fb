// Shows something again and again, until it is interrupted. Knows not what.
import { setTimeout as pause } from 'node:timers/promises';
import { CommandError } from './failure.js';

/** Between two looks, in milliseconds. */
const LOOK_MS = 2000;
const CLEAR = '\x1b[H\x1b[J';

/** The first look must succeed; later ones that fail are told of in its place, and it is tried again. On no terminal, each is behind the other. */
export async function watch(look: () => Promise<string>): Promise<never> {
  const clear = process.stdout.isTTY ? CLEAR : '';
  let text = await look();
  for (;;) {
    process.stdout.write(clear + text);
    await pause(LOOK_MS);
    text = await look().catch(told);
  }
}

function told(error: unknown): string {
  if (error instanceof CommandError) return `${error.message}\n`;
  throw error;
}
