// A session's record.json: what is said about the session beside its entries, replaced as a whole. Knows no entry.
import { readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type FORMAT, whyUnread } from '../format.js';
import { LogError, type Retention, type SessionRecord } from '../log.js';
import { type Disk, errorCode, explain, withFile, writeAll } from './disk.js';

export interface Contents {
  readonly format: typeof FORMAT;
  readonly retention: Retention;
  /** The boot of the machine in which it is being written; null when it was let go in order. */
  readonly writing: string | null;
  /** A number that was given, or jumped over: the last one when it was claimed or let go. */
  readonly current: number;
  readonly record: SessionRecord;
}

const recordPath = (folder: string): string => join(folder, 'record.json');

/** Undefined if there is no such session; LogError `corrupt` if its record cannot be read. */
export async function readContents(folder: string): Promise<Contents | undefined> {
  try {
    return checked(JSON.parse(await readFile(recordPath(folder), 'utf8')));
  } catch (error) {
    const code = errorCode(error) ?? '';
    if (['ENOENT', 'ENOTDIR'].includes(code) && !(await isFolder(folder))) return undefined;
    if (['EMFILE', 'ENFILE'].includes(code)) throw new LogError('unavailable', explain(error), { cause: error });
    throw new LogError('corrupt', `${recordPath(folder)} cannot be read: ${explain(error)}`, { cause: error });
  }
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

function checked(value: unknown): Contents {
  const contents = value as Contents;
  const why = whyUnread(contents?.format);
  if (why) throw new Error(why);
  const whole =
    Number.isFinite(contents.retention?.frames) &&
    Number.isFinite(contents.retention?.seconds) &&
    (contents.writing === null || typeof contents.writing === 'string') &&
    Number.isSafeInteger(contents.current) &&
    typeof contents.record === 'object' &&
    contents.record !== null;
  if (!whole) throw new Error('it is not what this version of the log writes');
  return contents;
}

/** Temporary file, fsync, rename: the old one or the new one is there, whole. */
export async function writeContents(disk: Disk, folder: string, contents: Contents): Promise<void> {
  const draft = `${recordPath(folder)}.new`;
  await withFile(disk, draft, 'w+', async (file) => {
    await writeAll(file, Buffer.from(JSON.stringify(contents)), 0);
    await file.sync();
  });
  await rename(draft, recordPath(folder));
}
