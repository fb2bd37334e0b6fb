// A line on stderr that says how long work is going on, where a person looks at it. Knows not what it is.
import { startOf } from './text-width.js';

const TICK_MS = 1000;
/** Work that is done sooner says nothing, in milliseconds. */
const SILENT_MS = 1000;

/** Tells `line` each second until the returned function is called, which takes it away; on no terminal it tells nothing. */
export function progress(line: (seconds: number) => string): () => void {
  const { stderr } = process;
  if (!stderr.isTTY) return () => {};
  const since = performance.now();
  let told = false;
  const tell = () => {
    const passed = performance.now() - since;
    if (passed < SILENT_MS) return;
    told = true;
    stderr.write(`\r\x1b[K${startOf(line(Math.floor(passed / 1000)), (stderr.columns ?? 80) - 1)}`);
  };
  const timer = setInterval(tell, TICK_MS);
  return () => {
    clearInterval(timer);
    if (told) stderr.write('\r\x1b[K');
  };
}
