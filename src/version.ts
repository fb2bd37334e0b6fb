// Which version this is, as package.json says. Knows nothing else.
import { existsSync, readFileSync } from 'node:fs';

/** Beside `src`, or above `dist`; `unknown` where neither is. */
export function version(): string {
  const [file] = ['../package.json', '../../package.json'].map((path) => new URL(path, import.meta.url)).filter((url) => existsSync(url));
  return file ? JSON.parse(readFileSync(file, 'utf8')).version : 'unknown';
}
