// Makes a folder and those above it, and says how much room is there. Knows nothing of what goes in.
import { mkdir, stat, statfs } from 'node:fs/promises';
import path from 'node:path';

/** Whom a new folder is for: this user alone. */
const MODE = 0o700;

/**
 * Rejects with the system's error, ENOTDIR if a file is in the way. Node's own `recursive` never comes back where the system makes
 * no folders (`/proc/x`).
 */
export async function makeFolder(folder: string): Promise<void> {
  const failure = await tried(folder);
  if (failure?.code !== 'ENOENT' || path.dirname(folder) === folder) return raise(failure);
  await makeFolder(path.dirname(folder));
  raise(await tried(folder));
}

async function tried(folder: string): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await mkdir(folder, { mode: MODE });
    return undefined;
  } catch (error) {
    const there = await stat(folder).catch(() => undefined);
    if (there?.isDirectory()) return undefined;
    return there ? Object.assign(new Error(`ENOTDIR: not a directory, mkdir '${folder}'`), { code: 'ENOTDIR' }) : (error as Error);
  }
}

function raise(failure: Error | undefined): void {
  if (failure) throw failure;
}

/** Bytes that this user may still write where the folder is. Rejects with the system's error. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
