// What a person means to play: a file, or a session. Knows no terminal.
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { readCast } from '../../playback/cast.js';
import { openRecording } from '../../playback/gateway-recording.js';
import { type Recording, RecordingError } from '../../playback/recording.js';
import { CommandError } from '../failure.js';
import type { GatewayOptions } from '../gateway.js';
import { type NamedSession, namedSession } from '../named-session.js';

/** Largest file that is played, in bytes: it is held in memory. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** Throws a CommandError for what is none of them, or cannot be read. */
export async function recordingOf(what: string, options: GatewayOptions): Promise<Recording> {
  try {
    return await open(what, options);
  } catch (error) {
    if (!(error instanceof RecordingError)) throw error;
    throw new CommandError(`${what} cannot be played: ${error.message}`);
  }
}

async function open(what: string, options: GatewayOptions): Promise<Recording> {
  if (existsSync(what)) return fromFile(what);
  const { gateway, path } = await sessionNamed(what, options);
  return openRecording({ url: gateway.base + path, token: gateway.token }, new AbortController().signal);
}

async function sessionNamed(what: string, options: GatewayOptions): Promise<NamedSession> {
  try {
    return await namedSession(what, options);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(`${JSON.stringify(what)} is no file, and no session: ${error.message}`, { code: error.code });
  }
}

async function fromFile(path: string): Promise<Recording> {
  const { size } = statSync(path);
  if (size > MAX_FILE_BYTES) throw new RecordingError(`it has ${size} bytes; at most ${MAX_FILE_BYTES} are played`);
  try {
    return await readCast(createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY }));
  } catch (error) {
    if (error instanceof RecordingError) throw error;
    throw new RecordingError((error as Error).message);
  }
}
