// What a session's folder is called: names that lead nowhere else and are not hidden. Knows no file.

import { join } from 'node:path';

export const MAX_NAME = 255;

/** Where the sessions' folders are, in that of the log. */
export const sessionsFolder = (log: string): string => join(log, 'sessions');

/** An id as a folder's name; undefined if it cannot be one. */
export function folderName(sessionId: string): string | undefined {
  try {
    const name = encodeURIComponent(sessionId).replace(/^\./, '%2E');
    return name.length > 0 && name.length <= MAX_NAME ? name : undefined;
  } catch {
    return undefined;
  }
}

/** The id that has this folder's name; undefined for a folder that is not ours. */
export function idOf(name: string): string | undefined {
  try {
    const id = decodeURIComponent(name);
    return folderName(id) === name ? id : undefined;
  } catch {
    return undefined;
  }
}
