// Audit files that were put aside because they were full, and the one that continues them. Knows no line's meaning.
import { type FileHandle, open, readdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '../folder.js';
import { AuditFileError, type ChainEnd, chainEnd } from './chain.js';

interface OpenEnd {
  readonly file: FileHandle;
  readonly end: ChainEnd;
}

/** Whether nothing stands in the file yet that continues a chain. */
export const continued = ({ n, size }: ChainEnd) => n > 0 && size === 0;

/** Opens a file where its chain is; a line that a crash left unfinished is cut off. An empty one continues the newest that was put aside. */
export async function openEnd(name: string): Promise<OpenEnd> {
  const file = await openOrMake(name);
  try {
    const end = await chainEnd(file, name);
    if ((await file.stat()).size > end.size) await file.truncate(end.size);
    return { file, end: end.size > 0 ? end : { ...end, ...(await newestAside(name)), size: 0 } };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Renames a full file, unless it was before, and begins the next one, which continues its chain. */
export async function putAside(name: string, { n, hash }: ChainEnd): Promise<OpenEnd> {
  await rename(name, asideName(name, n)).catch((error) => {
    if (error.code !== 'ENOENT') throw error;
  });
  return { file: await openOrMake(name), end: { n, hash, size: 0 } };
}

/** `audit.jsonl` up to its line 1,234 is put aside as `audit.0000000000001234.jsonl`, so that names sort as the lines do. */
function asideName(name: string, n: number): string {
  const { dir, name: base, ext } = path.parse(name);
  return path.join(dir, `${base}.${String(n).padStart(16, '0')}${ext}`);
}

/** All files of a chain, the oldest first, as far as they are still there. */
export async function chainFiles(name: string): Promise<string[]> {
  const { dir, name: base, ext } = path.parse(name);
  const isAside = (other: string) =>
    other.startsWith(`${base}.`) && other.endsWith(ext) && /^\d{16}$/.test(other.slice(base.length + 1, other.length - ext.length));
  const aside = (await readdir(dir || '.')).filter(isAside).sort();
  return [...aside.map((other) => path.join(dir, other)), name];
}

async function newestAside(name: string): Promise<Partial<ChainEnd>> {
  const newest = (await chainFiles(name)).at(-2);
  if (newest === undefined) return {};
  const file = await open(newest, 'r');
  try {
    return await chainEnd(file, newest);
  } finally {
    await file.close();
  }
}

async function openOrMake(name: string): Promise<FileHandle> {
  try {
    await makeFolder(path.dirname(name));
    return await open(name, 'a+', 0o600);
  } catch (error) {
    throw new AuditFileError(`${name} cannot be opened: ${(error as Error).message}`, { cause: error });
  }
}
