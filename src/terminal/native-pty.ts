// The native half of node-pty 1.1, which makes PTYs, and no more. Its other half is left out on purpose: it closes the PTY 200 ms after
// the exit, whatever is still to be read, and writes in a loop that takes a whole core while a program does not read.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { keepDescriptors } from './descriptors.js';

/** `code` is 0 when `signal`, a number, is not. */
type OnExit = (code: number, signal: number) => void;

interface NativePty {
  fork(
    file: string,
    args: readonly string[],
    env: readonly string[],
    cwd: string,
    cols: number,
    rows: number,
    uid: number,
    gid: number,
    utf8: boolean,
    helper: string,
    onExit: OnExit,
  ): { readonly fd: number; readonly pid: number; readonly pty: string };
  resize(fd: number, cols: number, rows: number): void;
}

const require = createRequire(import.meta.url);
const utilities = 'node-pty/lib/utils.js';
const { loadNativeModule } = require(utilities) as { loadNativeModule(name: string): { dir: string; module: NativePty } };
const native = loadNativeModule('pty');
/** Starts the program on macOS; unused elsewhere. */
const helper = resolve(require.resolve(utilities), '..', native.dir, 'spawn-helper');
const KEEP_ID = -1;

/** A process on a new PTY. */
export interface Forked {
  readonly pid: number;
  /** The master: ours to read, write and close; does not block. */
  readonly master: number;
  /** Path of the slave. */
  readonly slaveName: string;
}

/** The process leads its own session, has the PTY for its terminal and no other descriptor, and all signals as by default. Throws when there is no PTY or process to be had. */
export function forkPty(
  argv: readonly [string, ...string[]],
  env: readonly string[],
  cwd: string,
  size: { readonly cols: number; readonly rows: number },
  onExit: OnExit,
): Forked {
  const [file, ...args] = argv;
  keepDescriptors();
  const { fd, pid, pty } = native.module.fork(file, args, env, cwd, size.cols, size.rows, KEEP_ID, KEEP_ID, true, helper, onExit);
  return { pid, master: fd, slaveName: pty };
}

/** TIOCSWINSZ; throws when the kernel refuses. */
export function resizePty(master: number, cols: number, rows: number): void {
  native.module.resize(master, cols, rows);
}
