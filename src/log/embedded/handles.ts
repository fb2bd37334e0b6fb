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
  /** Files that are no longer in `open` and not yet closed. */
  private readonly closing = new Set<Promise<void>>();
  /** Woken whenever one is used no more, or closed. */
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
    if (handle?.users === 0) this.closeFile(handle);
  }

  /** Forgets all files of a folder. */
  forgetUnder(folder: string): void {
    for (const path of [...this.open.keys()]) if (path.startsWith(`${folder}/`)) this.forget(path);
  }

  /** Closes all; what is still used, as soon as that ends. */
  async close(): Promise<void> {
    clearInterval(this.sweeper);
    for (const path of [...this.open.keys()]) this.forget(path);
    await Promise.all(this.closing);
  }

  private async take(path: string, mode: OpenMode): Promise<Handle> {
    while (!this.open.has(path) && this.open.size + this.closing.size >= MAX_OPEN_FILES) {
      this.closeLongestUnused();
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
    if (handle.users === 0 && this.open.get(path) !== handle) this.closeFile(handle);
    this.waiting.shift()?.();
  }

  private closeFile(handle: Handle): void {
    const closing = handle.file
      .then((file) => file.close())
      // It never opened, or its last write was reported where it was asked for.
      .catch(() => undefined)
      .then(() => {
        this.closing.delete(closing);
        this.waiting.shift()?.();
      });
    this.closing.add(closing);
  }

  private closeLongestUnused(): void {
    const unused = [...this.open].find(([, handle]) => handle.users === 0);
    if (unused) this.forget(unused[0]);
  }

  private closeUnused(since = Number.POSITIVE_INFINITY): void {
    for (const [path, handle] of this.open) if (handle.users === 0 && handle.usedAt <= since) this.forget(path);
  }
}
