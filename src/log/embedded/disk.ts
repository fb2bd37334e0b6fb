// The few things that the embedded log asks of a disk, so that a test can refuse them. Knows no session.
import fs from 'node:fs';
import { promisify } from 'node:util';
import { AtOnce } from './at-once.js';

/** An open file. Rejects with the system's error (`code`: ENOSPC, EIO, …). */
export interface DiskFile {
  /** Resolves with the bytes read; fewer than asked only at the end of the file. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** Resolves with the bytes written, which may be fewer. */
  write(bytes: Uint8Array, position: number): Promise<number>;
  truncate(length: number): Promise<void>;
  /** Resolves when the contents are on the medium. */
  sync(): Promise<void>;
  size(): Promise<number>;
  close(): Promise<void>;
}

/** `r` reads, `r+` reads and writes what is there, `w+` begins anew. */
export type OpenMode = 'r' | 'r+' | 'w+';

export interface Disk {
  open(path: string, mode: OpenMode): Promise<DiskFile>;
}

const open = promisify(fs.open);
const read = promisify(fs.read);
const write = promisify(fs.write);
const truncate = promisify(fs.ftruncate);
const datasync = promisify(fs.fdatasync);
const stat = promisify(fs.fstat);
const close = promisify(fs.close);

/** Of all files: they share the event loop, and the system's journal. */
const atOnce = new AtOnce();

export const realDisk: Disk = {
  async open(path, mode) {
    const fd = await open(path, mode, 0o600);
    return {
      read: async (into, position) => (await read(fd, into, 0, into.length, position)).bytesRead,
      async write(bytes, position) {
        if (atOnce.may(bytes.length)) return atOnce.do(() => fs.writeSync(fd, bytes, 0, bytes.length, position));
        return (await write(fd, bytes, 0, bytes.length, position)).bytesWritten;
      },
      truncate: (length) => truncate(fd, length),
      sync: () => atOnce.syncing(datasync(fd)),
      size: async () => (await stat(fd)).size,
      close: () => close(fd),
    };
  },
};

/** Writes all of it, or rejects; then a part may be in the file. */
export async function writeAll(file: DiskFile, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const written = await file.write(done === 0 ? bytes : bytes.subarray(done), position + done);
    if (written === 0) throw new Error('the disk takes no more bytes');
    done += written;
  }
}

/** Opens, works, and closes whatever happens. */
export async function withFile<T>(disk: Disk, path: string, mode: OpenMode, work: (file: DiskFile) => Promise<T>): Promise<T> {
  const file = await disk.open(path, mode);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

/** Makes names in a folder (created, renamed, removed) durable. */
export const syncFolder = (disk: Disk, path: string): Promise<void> => withFile(disk, path, 'r', (folder) => folder.sync());

const words: Record<string, string> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'a file would become larger than the system allows',
  EMFILE: 'this process has too many files open',
  ENFILE: 'the system has too many files open',
  EIO: 'the disk reports an input/output error',
  EACCES: 'the system denies access',
  EPERM: 'the system denies access',
  EROFS: 'the file system is read-only',
  ENOENT: 'a file or folder is gone',
};

export const errorCode = (error: unknown): string | undefined => (error as NodeJS.ErrnoException | undefined)?.code;

/** A disk's error in words that a person understands, with its code. */
export function explain(error: unknown): string {
  const code = errorCode(error);
  if (code === undefined) return error instanceof Error ? error.message : String(error);
  return `${words[code] ?? 'the disk refuses'} (${code})`;
}
