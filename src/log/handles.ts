// The descriptors that the embedded log holds: as few as are in use, so that a thousand sessions fit. Knows paths, not sessions.
import { type Disk, type DiskFile, errorCode, type OpenMode } from './disk.js';

/** Most segment files open at once. */
export const MAX_OPEN_FILES = 256;
/** A file unused for so long is closed, in milliseconds. */
export const IDLE_FILE_MS = 5_000;

interface Handle {
  readonly file: Promise<DiskFile>;
  users: number;
  usedAt: number;
}

export class Handles {
  private readonly disk: Disk;
  /** By path, the longest unused first. */
  private readonly open = new Map<string, Handle>();
  private readonly waiting: Array<() => void> = [];
  private readonly sweeper: NodeJS.Timeout;

  constructor(disk: Disk) {
    this.disk = disk;
    this.sweeper = setInterval(() => this.closeUnused(performance.now() - IDLE_FILE_MS), IDLE_FILE_MS / 2).unref();
  }

  /** Lends the file for the time of `work`. `mode` counts when it is not open yet. */
  async use<T>(path: string, mode: OpenMode, work: (file: DiskFile) => Promise<T>): Promise<T> {
    const handle = await this.take(path, mode);
    try {
      return await work(await handle.file);
    } catch (error) {
      if (errorCode(error) === 'EMFILE') this.closeUnused();
      throw error;
    } finally {
      this.putBack(path, handle);
    }
  }

  /** Closes the file as soon as nobody uses it; who asks for the path from now on opens it anew. */
  forget(path: string): void {
    const handle = this.open.get(path);
    this.open.delete(path);
    if (handle?.users === 0) void closeQuietly(handle);
  }

  /** Forgets all files of a folder. */
  forgetUnder(folder: string): void {
    for (const path of [...this.open.keys()]) if (path.startsWith(`${folder}/`)) this.forget(path);
  }

  /** Closes all that nobody uses. */
  async close(): Promise<void> {
    clearInterval(this.sweeper);
    const all = [...this.open.values()];
    this.open.clear();
    await Promise.all(all.map(closeQuietly));
  }

  private async take(path: string, mode: OpenMode): Promise<Handle> {
    while (!this.open.has(path) && this.open.size >= MAX_OPEN_FILES && !this.closeLongestUnused()) {
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
    const handle = this.open.get(path) ?? { file: this.disk.open(path, mode), users: 0, usedAt: 0 };
    handle.users++;
    this.open.delete(path);
    this.open.set(path, handle);
    handle.file.catch(() => this.open.get(path) === handle && this.open.delete(path));
    return handle;
  }

  private putBack(path: string, handle: Handle): void {
    handle.users--;
    handle.usedAt = performance.now();
    if (handle.users === 0 && this.open.get(path) !== handle) void closeQuietly(handle);
    this.waiting.shift()?.();
  }

  private closeLongestUnused(): boolean {
    for (const [path, handle] of this.open) {
      if (handle.users > 0) continue;
      this.forget(path);
      return true;
    }
    return false;
  }

  private closeUnused(since = Number.POSITIVE_INFINITY): void {
    for (const [path, handle] of this.open) if (handle.users === 0 && handle.usedAt <= since) this.forget(path);
  }
}

async function closeQuietly(handle: Handle): Promise<void> {
  try {
    await (await handle.file).close();
  } catch {
    // It never opened, or its last write was reported where it was asked for.
  }
}
