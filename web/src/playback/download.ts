// A session's history as a file that asciinema plays. Knows no view.
import type { SessionAddress } from '../../../src/playback/gateway-recording.js';
import { RecordingError } from '../../../src/playback/recording.js';
import { h } from '../shared/dom.js';

/** Rejects with RecordingError. */
export async function downloadCast({ url, token }: SessionAddress, name: string, signal: AbortSignal): Promise<void> {
  const answer = await fetch(`${url}/transcript?format=asciicast`, { headers: { authorization: `Bearer ${token}` }, signal });
  if (!answer.ok) throw new RecordingError(`The gateway answered ${answer.status}.`, answer.status);
  const href = URL.createObjectURL(await answer.blob());
  h('a', { href, download: `${name.replace(/[^\p{L}\p{N}._-]+/gu, '-') || 'session'}.cast` }).click();
  URL.revokeObjectURL(href);
}
