// Which descriptors a blocked process waits for, as the kernel and its memory tell. Knows no terminal.
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

/** Descriptors of one call that are looked at; of more than these nothing is known. */
const MAX_AWAITED = 1024;
/** Of `struct pollfd`, in bytes. */
const POLLFD = 8;

interface Calls {
  readonly poll: readonly number[];
  readonly select: readonly number[];
  readonly epoll: readonly number[];
}

/** Numbers of system calls: poll, ppoll; select, pselect6; epoll_wait, epoll_pwait, epoll_pwait2. */
const calls: Calls | undefined = {
  x64: { poll: [7, 271], select: [23, 270], epoll: [232, 281, 441] },
  arm64: { poll: [73], select: [72], epoll: [22, 441] },
}[process.arch as string];

/** Undefined if `call` waits for no descriptors, or if the kernel does not tell which. */
export function awaited(pid: number, call: number, args: readonly number[]): readonly number[] | undefined {
  const [first = 0, second = 0] = args;
  try {
    if (calls?.poll.includes(call)) return second <= MAX_AWAITED ? polled(memory(pid, first, second * POLLFD)) : undefined;
    if (calls?.select.includes(call)) return selected(pid, first, args.slice(1, 4));
    if (calls?.epoll.includes(call)) return watched(readFileSync(`/proc/${pid}/fdinfo/${first}`, 'latin1'));
  } catch {
    // It goes on already, or belongs to somebody else.
  }
  return undefined;
}

/** A negative one is left out by the kernel. */
function polled(list: Buffer): number[] {
  const all = Array.from({ length: list.length / POLLFD }, (_, i) => list.readInt32LE(i * POLLFD));
  return all.filter((descriptor) => descriptor >= 0);
}

/** Those in any of its sets: to read, to write, and for what is urgent. */
function selected(pid: number, count: number, sets: readonly number[]): number[] | undefined {
  if (count > MAX_AWAITED) return undefined;
  const given = sets.filter((address) => address !== 0).map((address) => memory(pid, address, Math.ceil(count / 8)));
  const has = (descriptor: number) => given.some((set) => ((set[descriptor >> 3] ?? 0) >> (descriptor & 7)) & 1);
  return Array.from({ length: count }, (_, descriptor) => descriptor).filter(has);
}

const watched = (told: string): number[] => Array.from(told.matchAll(/^tfd:\s*(\d+)/gm), ([, descriptor]) => Number(descriptor));

function memory(pid: number, address: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  if (length === 0) return bytes;
  const file = openSync(`/proc/${pid}/mem`, 'r');
  try {
    if (readSync(file, bytes, 0, length, address) !== length) throw new Error('not all of it is there');
    return bytes;
  } finally {
    closeSync(file);
  }
}
