// What the kernel tells of the program in a terminal's foreground: whether it waits for somebody to type. Knows no screen and no task.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { foregroundOf, groupOf } from './process-group.js';
import type { Activity } from './terminal.js';

/** Processes, and threads of each, that are looked at; of more than these nothing is known. */
const MAX_PROCESSES = 64;
const MAX_THREADS = 64;

/** What a thread does: `dependent` waits for another process, whose doing then counts. */
type Doing = Activity | 'dependent';

interface Calls {
  readonly read: number;
  readonly select: readonly number[];
  readonly sleep: readonly number[];
  readonly wait: readonly number[];
}

/** Numbers of system calls: read; select, pselect6; nanosleep, clock_nanosleep; wait4, waitid. */
const calls: Calls | undefined = {
  x64: { read: 0, select: [23, 270], sleep: [35, 230], wait: [61, 247] },
  arm64: { read: 63, select: [72], sleep: [101, 115], wait: [260, 95] },
}[process.arch as string];

/**
 * `tty` is the path of the PTY that the session of `leader` runs on. Costs a few reads of /proc. `unknown` where there is no Linux, where the
 * kernel does not tell (a program of another user), and of all that waits for several things at once (poll, epoll).
 */
export function activityOf(leader: number, tty: string): Activity {
  const foreground = process.platform === 'linux' ? foregroundOf(leader) : undefined;
  if (foreground === undefined) return 'unknown';
  const doings = membersOf(leader, foreground).map((pid) => doingOf(pid, tty));
  if (doings.includes('reading')) return 'reading';
  if (doings.includes('unknown')) return 'unknown';
  return doings.includes('working') ? 'working' : 'unknown';
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

/** What its main thread does, unless another one reads the terminal. */
function doingOf(pid: number, tty: string): Doing {
  const doings = threadsOf(pid).map((tid) => threadDoing(pid, tid, tty));
  return doings.includes('reading') ? 'reading' : (doings[0] ?? 'unknown');
}

function threadDoing(pid: number, tid: number, tty: string): Doing {
  const told = textOf(`/proc/${pid}/task/${tid}/syscall`);
  if (calls === undefined || told === '') return 'unknown';
  if (told.startsWith('running')) return 'working';
  const [call, first, , , , fifth] = told.split(' ').map(Number) as [number, ...number[]];
  if (calls.sleep.includes(call)) return 'working';
  if (calls.wait.includes(call)) return 'dependent';
  if (call === calls.read) return isTerminal(pid, first as number, tty) ? 'reading' : 'dependent';
  // Of one descriptor alone, and without a time limit: so does readline.
  const waitsForInput = calls.select.includes(call) && first === 1 && fifth === 0;
  return waitsForInput && isTerminal(pid, 0, tty) ? 'reading' : 'unknown';
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
