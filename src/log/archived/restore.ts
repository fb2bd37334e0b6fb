// Begins the logs of sessions again that the archive has and the log has lost: with a new disk, or an emptied Redis. Knows no owner.
import { type Log, LogError } from '../log.js';
import type { Access } from './access.js';
import { RECORDS, sessionOfRecord } from './names.js';
import { newestRecord } from './records.js';
import type { SessionArchive } from './session-archive.js';

/** How far the numbers jump: more than were ever given behind what was archived. No number is given twice. */
const RESTORE_JUMP = 2 ** 20;

/**
 * A session that had ended and was archived whole is whole again. Of any other the last frames may be missing: what the archive has can be
 * read, but no cursor goes on from before (`oldest`). Resolves with the ids of the sessions that are there again.
 */
export async function restore(log: Log, access: Access, archiveOf: (sessionId: string) => SessionArchive): Promise<string[]> {
  const archived = new Set((await access.list(RECORDS)).flatMap((name) => sessionOfRecord(name) ?? []));
  const known = new Set((await log.records()).map(({ sessionId }) => sessionId));
  const restored: string[] = [];
  for (const sessionId of archived) {
    if (known.has(sessionId)) continue;
    if (await restoreOne(log, access, archiveOf(sessionId))) restored.push(sessionId);
  }
  return restored;
}

async function restoreOne(log: Log, access: Access, session: SessionArchive): Promise<boolean> {
  const kept = await newestRecord(access, session.id);
  if (!kept || (await log.record(session.id))) return false;
  const after = kept.current + RESTORE_JUMP;
  try {
    const writer = await log.create(session.id, kept.record, kept.retention, after);
    if (kept.isComplete) await session.bridge(after);
    await writer.release();
    return true;
  } catch (error) {
    // Another replica was faster, or what the log has of it is damaged.
    if (error instanceof LogError && error.failure === 'exists') return false;
    throw error;
  }
}
