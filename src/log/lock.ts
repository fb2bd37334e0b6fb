// One process per data folder: a file that names the process, and is judged by whether that one lives. Knows no log.
import { randomUUID } from 'node:crypto';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { currentBoot, sameBoot } from './boot.js';
import { errorCode } from './disk.js';

interface Holder {
  readonly pid: number;
  /** When the process began, in the kernel's words; null where the system does not say. Pids are used again. */
  readonly started: string | null;
  readonly boot: string;
  /** Tells two holders in one process apart. */
  readonly token: string;
}

export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
  readonly pid: number;
  constructor(dir: string, pid: number) {
    super(`the data folder ${dir} is in use by the running process ${pid}; stop that one, or name another folder`);
    this.pid = pid;
  }
}

/** Takes the folder. Resolves with the way to give it back; rejects with FolderInUse. */
export async function lockFolder(dir: string): Promise<() => Promise<void>> {
  const path = join(dir, 'lock');
  const own: Holder = { pid: process.pid, started: await startOf(process.pid), boot: await currentBoot(), token: randomUUID() };
  const draft = `${path}.${own.token}`;
  await writeFile(draft, JSON.stringify(own), { mode: 0o600 });
  try {
    while (!(await linked(draft, path))) await clearStale(dir, path);
  } finally {
    await rm(draft, { force: true });
  }
  return async () => {
    if ((await holder(path))?.token === own.token) await rm(path, { force: true });
  };
}

/** A link appears whole or not at all, and only one of two gets it. */
async function linked(draft: string, path: string): Promise<boolean> {
  try {
    await link(draft, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Moves a dead process's lock away; what was moved is looked at again, since another may have taken its place meanwhile. */
async function clearStale(dir: string, path: string): Promise<void> {
  const found = await holder(path);
  if (found && (await lives(found))) throw new FolderInUse(dir, found.pid);
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return;
    throw error;
  }
  const moved = await holder(aside);
  if (moved?.token !== found?.token) await linked(aside, path);
  await rm(aside, { force: true });
}

async function holder(path: string): Promise<Holder | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}

async function lives(found: Holder): Promise<boolean> {
  if (!Number.isInteger(found.pid) || !sameBoot(found.boot, await currentBoot())) return false;
  try {
    process.kill(found.pid, 0);
  } catch (error) {
    if (errorCode(error) === 'ESRCH') return false;
  }
  const started = await startOf(found.pid);
  return started === null || found.started === null || started === found.started;
}

/** Field 22 of /proc/<pid>/stat, which follows the program's name in parentheses. */
async function startOf(pid: number): Promise<string | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
  } catch {
    return null;
  }
}
