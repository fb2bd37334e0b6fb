// What a person means to play: a file, a session's address, or its id. Knows no terminal.
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { readCast } from '../../playback/cast.js';
import { openRecording } from '../../playback/gateway-recording.js';
import { type Recording, RecordingError } from '../../playback/recording.js';
import { isId } from '../../protocol/ids.js';
import { CommandError, sessionAddress, tokenFrom } from '../address.js';
import { type GatewayOptions, gatewayOf } from '../gateway.js';
import { addressOf } from '../sessions.js';

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
  if (URL.canParse(what)) return fromGateway(what, options);
  if (isId(what)) return fromGateway(await addressOf(gatewayOf(options), what), options);
  throw new CommandError(`${JSON.stringify(what)} is no file, and no session; \`pty-gateway sessions --all\` lists the sessions`);
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

function fromGateway(url: string, options: GatewayOptions): Promise<Recording> {
  const address = sessionAddress(url);
  const http = address.attach.replace(/^ws/, 'http').replace(/\/attach$/, '');
  return openRecording({ url: http, token: tokenFrom(options.token, address) }, new AbortController().signal);
}
