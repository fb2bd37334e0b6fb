// The descriptors of the embedded log, on a disk that only counts them.
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { DiskFile } from '../../src/log/embedded/disk.js';
import { Handles, IDLE_FILE_MS, MAX_OPEN_FILES } from '../../src/log/embedded/handles.js';

let open: Set<string>;
let most: number;
let handles: Handles;
const counting = {
  open: async (path: string): Promise<DiskFile> => {
    if (open.has(path)) throw new Error(`${path} is open twice`);
    open.add(path);
    most = Math.max(most, open.size);
    return { close: async () => void open.delete(path) } as unknown as DiskFile;
  },
};

beforeEach(() => {
  vi.useFakeTimers();
  open = new Set();
  most = 0;
  handles = new Handles(counting);
});
afterEach(async () => {
  await handles.close();
  expect([...open]).toEqual([]);
  vi.useRealTimers();
});

it('keeps a file open for its next use, and closes it when none comes for a while', async () => {
  await handles.use('a', 'r', async () => undefined);
  await handles.use('a', 'r', async () => undefined);
  expect([...open]).toEqual(['a']);
  await vi.advanceTimersByTimeAsync(2 * IDLE_FILE_MS);
  expect([...open]).toEqual([]);
});

it('never closes a file while it is used, however long that takes', async () => {
  let done: (() => void) | undefined;
  const use = handles.use('a', 'r', () => new Promise<void>((resolve) => (done = resolve)));
  await vi.advanceTimersByTimeAsync(10 * IDLE_FILE_MS);
  expect([...open]).toEqual(['a']);
  handles.forget('a');
  expect([...open]).toEqual(['a']);
  done?.();
  await use;
  await vi.advanceTimersByTimeAsync(0);
  expect([...open]).toEqual([]);
});

it('lets those wait who would make it too many, and serves them all', async () => {
  const uses = Array.from({ length: 3 * MAX_OPEN_FILES }, (_, n) => handles.use(`${n}`, 'r', async () => n));
  expect((await Promise.all(uses)).length).toBe(3 * MAX_OPEN_FILES);
  expect(most).toBe(MAX_OPEN_FILES);
});

it('opens anew what could not be opened', async () => {
  const refusing = new Handles({ open: vi.fn().mockRejectedValueOnce(new Error('no')).mockImplementation(counting.open) });
  await expect(refusing.use('a', 'r', async () => 1)).rejects.toThrow('no');
  expect(await refusing.use('a', 'r', async () => 2)).toBe(2);
  await refusing.close();
});
