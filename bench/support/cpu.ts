// CPU time of another process, all its threads together, as Linux counts it. Knows no process but by its id.
import { readdirSync, readFileSync } from 'node:fs';

/** Milliseconds of CPU (user and system) that the living threads of a process have used. */
export function cpuMs(pid: number): number {
  const tasks = `/proc/${pid}/task`;
  const nanoseconds = readdirSync(tasks).map((thread) => Number(readFileSync(`${tasks}/${thread}/schedstat`, 'utf8').split(' ')[0]));
  return nanoseconds.reduce((sum, ns) => sum + ns, 0) / 1e6;
}

/** What `work` resolves with, and the milliseconds of CPU that the process used meanwhile. */
export async function withCpu<T>(pid: number, work: () => Promise<T>): Promise<{ readonly value: T; readonly cpu: number }> {
  const before = cpuMs(pid);
  const value = await work();
  return { value, cpu: cpuMs(pid) - before };
}
