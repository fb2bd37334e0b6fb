// What the kernel tells of the program in a terminal's foreground: whether it waits for somebody to type. Knows no screen and no task.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { awaited } from './awaited.js';
import { foregroundOf, groupOf } from './process-group.js';
import type { Activity } from './terminal.js';

/** Processes, and threads of each, that are looked at; of more than these nothing is known. */
const MAX_PROCESSES = 64;
const MAX_THREADS = 64;

/** What a thread does: `parked` waits for another thread, whose doing then counts. */
type Doing = Activity | 'parked';

interface Calls {
  readonly read: number;
  readonly select: readonly number[];
  readonly sleep: readonly number[];
  readonly wait: readonly number[];
  readonly futex: number;
}

/** Numbers of system calls: read; select, pselect6; nanosleep, clock_nanosleep; wait4, waitid, rt_sigsuspend, rt_sigtimedwait; futex. */
const calls: Calls | undefined = {
  x64: { read: 0, select: [23, 270], sleep: [35, 230], wait: [61, 247, 130, 128], futex: 202 },
  arm64: { read: 63, select: [72], sleep: [101, 115], wait: [260, 95, 133, 137], futex: 98 },
}[process.arch as string];

/**
 * `tty` is the path of the PTY that the session of `leader` runs on. Costs a few reads of /proc. `unknown` where there is no Linux, where the
 * kernel does not tell (a program of another user), and of what waits for its terminal and for other things at once (poll, epoll).
 */
export function activityOf(leader: number, tty: string): Activity {
  const foreground = process.platform === 'linux' ? foregroundOf(leader) : undefined;
  if (foreground === undefined) return 'unknown';
  const doings = membersOf(leader, foreground).map((pid) => doingOf(pid, tty));
  if (doings.includes('reading')) return 'reading';
  if (doings.length === 0 || doings.includes('unknown')) return 'unknown';
  return doings.includes('working') ? 'working' : 'elsewhere';
}

/** The processes below `leader`, and itself, that are in this process group. */
function membersOf(leader: number, group: number): number[] {
  const found = [leader];
  for (let i = 0; i < found.length && found.length < MAX_PROCESSES; i++) {
    const pid = found[i] as number;
    for (const tid of threadsOf(pid)) found.push(...numbersIn(`/proc/${pid}/task/${tid}/children`));
  }
  return found.slice(0, MAX_PROCESSES).filter((pid) => groupOf(pid) === group);
}

/** What its main thread does, or those that it waits for, unless another one reads the terminal. */
function doingOf(pid: number, tty: string): Activity {
  const [main = 'unknown', ...others] = threadsOf(pid).map((tid) => threadDoing(pid, tid, tty));
  if (main === 'reading' || others.includes('reading')) return 'reading';
  if (main !== 'parked') return main;
  return others.includes('working') ? 'working' : 'unknown';
}

function threadDoing(pid: number, tid: number, tty: string): Doing {
  const told = textOf(`/proc/${pid}/task/${tid}/syscall`);
  if (calls === undefined || told === '') return 'unknown';
  if (told.startsWith('running')) return 'working';
  const [call, ...args] = told.split(' ').map(Number) as [number, ...number[]];
  if (calls.sleep.includes(call)) return 'working';
  if (calls.wait.includes(call)) return 'elsewhere';
  if (call === calls.futex) return 'parked';
  if (call === calls.read) return isTerminal(pid, args[0] as number, tty) ? 'reading' : 'elsewhere';
  // Of one descriptor alone, and without a time limit: so does readline.
  const waitsForInput = calls.select.includes(call) && args[0] === 1 && args[4] === 0;
  if (waitsForInput && isTerminal(pid, 0, tty)) return 'reading';
  const several = awaited(pid, call, args.slice(0, 4));
  return several && !several.some((descriptor) => isTerminal(pid, descriptor, tty)) ? 'elsewhere' : 'unknown';
}

function isTerminal(pid: number, descriptor: number, tty: string): boolean {
  try {
    const path = readlinkSync(`/proc/${pid}/fd/${descriptor}`);
    return path === tty || path === '/dev/tty';
  } catch {
    return false;
  }
}

/** The main thread first. */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).slice(0, MAX_THREADS).map(Number);
  } catch {
    return [];
  }
}

const numbersIn = (path: string): number[] => textOf(path).trim().split(' ').filter(Boolean).map(Number);

function textOf(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
