// Lets a thread of pictures go after whoever types, where cores are few. Knows no work.
import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/** Of the thread, on the system's scale, on which 19 is the last: at 5 it gets a third of what another gets that wants the same core. */
const NICE = 5;

/** For the thread that calls: a screen may be late, an echo may not. Where a thread cannot have a priority of its own (not Linux), it keeps that of all. */
export function stepBack(): void {
  try {
    setPriority(Number(readlinkSync('/proc/thread-self').split('/').at(-1)), NICE);
  } catch {
    // It works as before.
  }
}
