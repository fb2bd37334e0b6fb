// An archive's objects as files in a folder, on a disk of this machine or one that several share. Knows no session.
import { randomUUID } from 'node:crypto';
import { open, readdir, readFile, realpath, rename, rm, rmdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { makeFolder } from '../../folder.js';
import { errorCode } from '../embedded/disk.js';
import { LogError } from '../log.js';
import { type ArchiveStore, demandReadable } from './store.js';

/** Files whose name begins so are still being written. */
const ASIDE = '.';

/** Rejects with the system's error if the folder cannot be made. */
export async function openDirectoryStore(root: string): Promise<ArchiveStore> {
  await makeFolder(root);
  return new DirectoryStore(root);
}

class DirectoryStore implements ArchiveStore {
  readonly place: string;
  readonly #root: string;

  constructor(root: string) {
    this.place = `folder ${root}`;
    this.#root = root;
  }

  /** Written aside and renamed, so that it is there whole or not at all. */
  async put(name: string, bytes: Uint8Array): Promise<void> {
    const file = this.#file(name);
    const folder = path.dirname(file);
    const aside = path.join(folder, `${ASIDE}${randomUUID()}`);
    await this.#demandInside(folder);
    await makeFolder(folder);
    try {
      await write(aside, bytes);
      await rename(aside, file);
    } catch (error) {
      await rm(aside, { force: true }).catch(() => undefined);
      throw error;
    }
    await sync(folder);
  }

  async get(name: string): Promise<Buffer | undefined> {
    const file = this.#file(name);
    await this.#demandInside(path.dirname(file));
    const found = await stat(file).catch(undefinedIfMissing);
    if (!found?.isFile()) return undefined;
    demandReadable(name, found.size);
    return readFile(file).catch(undefinedIfMissing);
  }

  async list(folder: string): Promise<string[]> {
    await this.#demandInside(this.#file(folder));
    const found = await readdir(this.#file(folder), { recursive: true, withFileTypes: true }).catch(undefinedIfMissing);
    const files = (found ?? []).filter((entry) => entry.isFile() && !entry.name.startsWith(ASIDE));
    const names = files.map((entry) => path.relative(this.#root, path.join(entry.parentPath, entry.name)));
    return names.map((name) => name.split(path.sep).join('/')).sort();
  }

  /** A folder in which nothing is left goes, too. */
  async delete(names: readonly string[]): Promise<void> {
    const folders = new Set(names.map((name) => path.dirname(this.#file(name))));
    for (const folder of folders) await this.#demandInside(folder);
    for (const name of names) await rm(this.#file(name), { force: true });
    for (const folder of folders) await rmdir(folder).catch(() => undefined);
  }

  close(): void {
    // Nothing is held open.
  }

  /** Throws LogError `corrupt` if a link leads elsewhere on the way to a folder: what is there is not the archive's to read, write or delete. */
  async #demandInside(folder: string): Promise<void> {
    const inRoot = path.relative(this.#root, folder);
    const real = await realpath(folder).catch(undefinedIfMissing);
    if (real === undefined) return inRoot === '' ? undefined : this.#demandInside(path.dirname(folder));
    if (real !== path.join(await realpath(this.#root), inRoot))
      throw new LogError('corrupt', `${inRoot} leads out of the archive's folder ${this.#root}, by a link`);
  }

  #file(name: string): string {
    return path.join(this.#root, name);
  }
}

async function write(file: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function sync(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}

function undefinedIfMissing(error: unknown): undefined {
  if (errorCode(error) !== 'ENOENT') throw error;
}
