// Asking a store that may be away, for a bounded time. Knows no key.
import { setTimeout as sleep } from 'node:timers/promises';
import { LogError } from '../log.js';
import { isPassing, type RedisTroubles } from './troubles.js';

/** How long an answer is waited for, in milliseconds; then it is LogError `unavailable`. */
export const PATIENCE_MS = 5_000;
/** Between two attempts, in milliseconds: doubled from the first to the longest. */
export const FIRST_PAUSE_MS = 20;
export const LONGEST_PAUSE_MS = 500;

/** Says of an answer that it cannot be right yet: the store is behind what is known. */
export class Behind extends Error {
  override readonly name = 'Behind';
  constructor() {
    super('it lacks what it had taken, and is being given it again');
  }
}

/** Asks until there is an answer. `ask` may be done twice. */
export async function patiently<T>(what: string, troubles: RedisTroubles, ask: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
    const left = deadline - performance.now();
    try {
      return await within(left, ask());
    } catch (error) {
      if (error instanceof LogError) throw error;
      if (isPassing(error) && left > pause) await sleep(pause);
      else throw new LogError('unavailable', `${what}: ${troubles.explain(error)}`, { cause: error });
    }
  }
}

async function within<T>(ms: number, asked: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('it did not answer in time')), Math.max(ms, 0));
  });
  try {
    return await Promise.race([asked, late]);
  } finally {
    clearTimeout(timer);
  }
}
