// The record of a session that has ended, changed by one at a time, whichever replica that is. Knows not what is changed.
import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '../errors.js';
import { type Log, LogError } from '../log/log.js';
import { type KeptSession, keptSession } from './record.js';

/** How often it is tried when others do so at the same time. */
const TRIES = 10;
/** The longest pause before the next try, in milliseconds; by chance, so that two do not take it from each other for ever. */
const PAUSE_MS = 100;

/** Returns the record as it is from now on; undefined, and nothing was changed, where `change` wants nothing. TASK_NOT_FOUND if it is not there. */
export async function rewrite(
  log: Log,
  sessionId: string,
  change: (kept: KeptSession) => KeptSession | undefined,
): Promise<KeptSession | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await rewriteOnce(log, sessionId, change);
    } catch (error) {
      if (tries === TRIES || !(error instanceof LogError && error.failure === 'fenced')) throw error;
      await pause(Math.random() * PAUSE_MS);
    }
  }
}

/** Whoever claimed it before can write no more, so that what is read here is what is changed. */
async function rewriteOnce(
  log: Log,
  sessionId: string,
  change: (kept: KeptSession) => KeptSession | undefined,
): Promise<KeptSession | undefined> {
  const writer = await log.claim(sessionId);
  try {
    const kept = keptSession(await log.record(sessionId));
    if (kept?.state !== 'closed') throw new Fault('TASK_NOT_FOUND', `nothing is kept of the task ${sessionId}`);
    const changed = change(kept);
    if (changed) await writer.amend(changed);
    return changed;
  } finally {
    await writer.release().catch(() => {});
  }
}
