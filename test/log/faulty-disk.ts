// A real disk that refuses when it is told to, half-way through, as disks do.
import { type Disk, type DiskFile, type OpenMode, realDisk } from '../../src/log/embedded/disk.js';

export type Deed = 'open' | 'read' | 'write' | 'truncate' | 'sync';

export interface FaultyDisk extends Disk {
  /** The error code to fail with, or undefined to do as asked. */
  refuse: (deed: Deed, path: string) => string | undefined;
}

const failure = (code: string): Error => Object.assign(new Error(`refused (${code})`), { code });

export function faultyDisk(): FaultyDisk {
  const disk: FaultyDisk = { refuse: () => undefined, open };
  const demand = (deed: Deed, path: string): void => {
    const code = disk.refuse(deed, path);
    if (code) throw failure(code);
  };

  async function open(path: string, mode: OpenMode): Promise<DiskFile> {
    demand('open', path);
    return guarded(await realDisk.open(path, mode), path);
  }

  function guarded(file: DiskFile, path: string): DiskFile {
    const before =
      <A extends unknown[], R>(deed: Deed, act: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R> => {
        demand(deed, path);
        return act(...args);
      };
    const write = async (bytes: Uint8Array, position: number): Promise<number> => {
      const code = disk.refuse('write', path);
      if (!code) return file.write(bytes, position);
      await file.write(bytes.subarray(0, Math.floor(bytes.length * Math.random())), position);
      throw failure(code);
    };
    return {
      ...file,
      write,
      read: before('read', file.read),
      truncate: before('truncate', file.truncate),
      sync: before('sync', file.sync),
    };
  }

  return disk;
}
