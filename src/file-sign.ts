// By what one sees that a file is another than it was, and that it may still be being written. Knows no content.
import { open, stat } from 'node:fs/promises';

const LINE_FEED = 0x0a;

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

/** Whether each of them ends with the end of a line: one that is half written mostly does not, nor does one that is not there for a moment, or no file. */
export async function areWhole(files: readonly string[]): Promise<boolean> {
  return (await Promise.all(files.map(isWhole))).every((whole) => whole);
}

async function isWhole(file: string): Promise<boolean> {
  const handle = await open(file).catch(() => undefined);
  try {
    const { size = 0 } = (await handle?.stat()) ?? {};
    if (!handle || size === 0) return false;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    return bytesRead === 1 && buffer[0] === LINE_FEED;
  } catch {
    return false;
  } finally {
    await handle?.close();
  }
}
