// How far the memory of JavaScript may grow before it is all looked through. Knows nothing of what is in it.
import { setFlagsFromString } from 'node:v8';

/**
 * Per cent of what was alive the last time. What terminals print passes through memory and is gone at once: V8, which goes by how much it finds to free
 * among objects, would look through all the others after each 10 MB of it.
 */
const GROWTH_PERCENT = 100;

/** For this process and its threads; to be called before there is work. */
export function letHeapDouble(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
