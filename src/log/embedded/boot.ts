// Which run of the machine this is: what a process wrote may be lost when the machine falls, not when the process does. Knows no log.
import { readFile } from 'node:fs/promises';
import { uptime } from 'node:os';

/** Two readings of the boot time that differ by less are one boot: clocks are set. */
const CLOCK_SLACK_SECONDS = 120;

/** The kernel's boot id, or where there is none the time of the boot as `@<seconds since the epoch>`. */
export async function currentBoot(): Promise<string> {
  try {
    return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
  } catch {
    return `@${Math.round(Date.now() / 1000 - uptime())}`;
  }
}

export function sameBoot(one: string, other: string): boolean {
  if (!one.startsWith('@') || !other.startsWith('@')) return one === other;
  return Math.abs(Number(one.slice(1)) - Number(other.slice(1))) < CLOCK_SLACK_SECONDS;
}
