// Memory of another process, as Linux counts it. Knows no process but by its id.
import { readFileSync } from 'node:fs';
import { setTimeout as later } from 'node:timers/promises';

/** Milliseconds between two looks, and how many of them the least is taken of. */
const LOOK_MS = 500;
const LOOKS = 8;

/** KiB of its own that it holds in RAM now: neither files that are mapped nor what it shares. */
export function ownKib(pid: number): number {
  return Number(/^RssAnon:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

/** The same once it is at rest: the least of the next four seconds. It includes what the collector has not yet found to be garbage. */
export async function ownKibAtRest(pid: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < LOOKS; look++) {
    await later(LOOK_MS);
    least = Math.min(least, ownKib(pid));
  }
  return least;
}
