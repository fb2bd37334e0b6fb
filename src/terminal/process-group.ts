// Signals to all that a terminal's process started in its session: its own group and the one in the foreground. Knows no PTY.
import { readFileSync } from 'node:fs';

/** Fields of /proc/PID/stat, counted after the name: process group, session, terminal, foreground group. */
const GROUP = 2;
const SESSION = 3;
const FOREGROUND = 5;

/**
 * The groups to signal when the session of `leader` is to end: its own and, where the system tells it, the foreground one.
 * A process that has only just been forked is still in our session: its foreground would be ours.
 */
export function groupsOf(leader: number): number[] {
  const foreground = foregroundOf(leader);
  return foreground !== undefined && foreground !== leader ? [leader, foreground] : [leader];
}

/** The process group that the terminal of this session belongs to; undefined where the system does not tell. */
export function foregroundOf(leader: number): number | undefined {
  const foreground = statField(leader, SESSION) === leader ? statField(leader, FOREGROUND) : undefined;
  return foreground !== undefined && foreground > 0 ? foreground : undefined;
}

/** The process group of a process; undefined where the system does not tell. */
export const groupOf = (pid: number): number | undefined => statField(pid, GROUP);

/** Sends `signal` to each group that still belongs to the session of `leader`: a number may have been given to another since. */
export function signalGroups(leader: number, groups: readonly number[], signal: NodeJS.Signals): void {
  for (const group of groups) {
    const session = statField(group, SESSION);
    if (session === undefined || session === leader) send(-group, signal);
  }
}

/** To the process alone: it may not lead its group yet, when it has only just been forked. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  send(pid, signal);
}

function send(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch {
    // Gone already, which is what was wanted.
  }
}

function statField(pid: number, field: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[field]);
  } catch {
    return undefined;
  }
}
