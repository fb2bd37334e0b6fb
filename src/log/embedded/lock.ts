// One process per data folder: a file that names the process, and is judged by whether that one lives. Knows no log.
import { randomUUID } from 'node:crypto';
import { link, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { currentBoot, sameBoot } from './boot.js';
import { errorCode } from './disk.js';

interface Holder {
  readonly pid: number;
  /** When the process began, in the kernel's words; null where the system does not say. Pids are used again. */
  readonly started: string | null;
  readonly boot: string;
}

export class FolderInUse extends Error {
  override readonly name = 'FolderInUse';
  readonly pid: number;
  constructor(dir: string, pid: number) {
    super(`the data folder ${dir} is in use by the running process ${pid}; stop that one, or name another folder`);
    this.pid = pid;
  }
}

const NAME = /^lock-(\d+)$/;
const lockPath = (dir: string, turn: number): string => join(dir, `lock-${turn}`);

/**
 * Takes the folder. Resolves with the way to give it back; rejects with FolderInUse.
 * The lock with the highest number counts. It is never removed but by the holder of a higher one, so that of two who saw
 * the same dead process only one gets the next number, and one who comes late sees that there is a higher.
 */
export async function lockFolder(dir: string): Promise<() => Promise<void>> {
  const own: Holder = { pid: process.pid, started: await startOf(process.pid), boot: await currentBoot() };
  const draft = join(dir, `lock.${randomUUID()}`);
  await writeFile(draft, JSON.stringify(own), { mode: 0o600 });
  try {
    for (;;) {
      const turn = await take(dir, draft);
      if (turn !== undefined) return () => giveBack(dir, turn);
    }
  } finally {
    await rm(draft, { force: true });
  }
}

/** One try; undefined if another was faster. */
async function take(dir: string, draft: string): Promise<number | undefined> {
  const highest = (await turns(dir)).at(-1) ?? 0;
  const found = await holder(lockPath(dir, highest));
  if (found && (await lives(found))) throw new FolderInUse(dir, found.pid);
  const turn = highest + 1;
  if (!(await linked(draft, lockPath(dir, turn)))) return undefined;
  const all = await turns(dir);
  const late = all.at(-1) !== turn;
  for (const other of late ? [turn] : all.slice(0, -1)) await rm(lockPath(dir, other), { force: true });
  return late ? undefined : turn;
}

/** The number stays, with nobody behind it. */
async function giveBack(dir: string, turn: number): Promise<void> {
  const nobody = join(dir, `lock.${randomUUID()}`);
  await writeFile(nobody, '{}', { mode: 0o600 });
  await rename(nobody, lockPath(dir, turn));
}

async function turns(dir: string): Promise<number[]> {
  const names = await readdir(dir);
  return names
    .flatMap((name) => NAME.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);
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
