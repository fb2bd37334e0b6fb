// By what one sees that a file is another than it was, without reading it. Knows no content.
import { stat } from 'node:fs/promises';

/** The same as long as no file of them is written or replaced. One that is not there, or may not be looked at, has a sign of its own. */
export async function signOf(files: readonly string[]): Promise<string> {
  return (await Promise.all(files.map(signOfOne))).join(', ');
}

async function signOfOne(file: string): Promise<string> {
  return stat(file).then(
    ({ mtimeMs, size, ino }) => `${mtimeMs} ${size} ${ino}`,
    ({ code }) => `${code}`,
  );
}
