// Whether a folder, or the one in which it would be made, can be written, and has room. Knows not what for.
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { freeBytes } from '../../folder.js';
import { type Finding, fail, ok, warn } from './finding.js';

const MIB = 1024 * 1024;
/** Free space below which the folder is as good as full, and below which it is told, in bytes. */
const FULL_BYTES = 64 * MIB;
const SCARCE_BYTES = 1024 * MIB;

export async function folder(check: string, wanted: string): Promise<Finding> {
  try {
    const there = await nearest(wanted);
    await access(there, constants.R_OK | constants.W_OK | constants.X_OK);
    return await room(check, there, there === wanted ? wanted : `${wanted} (to be made)`);
  } catch (error) {
    return fail(check, (error as Error).message, 'give a folder in which this user may write');
  }
}

/** The folder, or the one above in which it would be made. */
async function nearest(wanted: string): Promise<string> {
  const isThere = await access(wanted).then(
    () => true,
    (error) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
  return isThere || wanted === path.dirname(wanted) ? wanted : nearest(path.dirname(wanted));
}

async function room(check: string, at: string, named: string): Promise<Finding> {
  const free = await freeBytes(at);
  if (free === 0) return fail(check, `${named} is on a disk that is full`, 'make room');
  const found = `${named} can be written; ${Math.floor(free / MIB)} MiB are free`;
  if (free < FULL_BYTES) return fail(check, found, 'make room');
  return free < SCARCE_BYTES ? warn(check, found, 'make room, or keep less: replay_buffer_retention_seconds') : ok(check, found);
}
