// What happened, in a person's words. Pure: knows no view and no connection.
import type { Ended, Notice } from '../../../src/client/index.js';
import { Fault } from '../../../src/errors.js';
import type { Closed, ClosedReason } from '../../../src/protocol/frames.js';
import type { SessionDescription } from '../../../src/session/session.js';

/** Why a session is over; undefined where its exit code says it all. */
const closedWords: Readonly<Record<ClosedReason, string | undefined>> = {
  command_result: undefined,
  bridge_eof: 'its program closed the terminal',
  bridge_start_failed: 'its program could not be started',
  last_member_left: 'the last one left',
  agent_disconnect: 'the gateway that ran it is gone',
  killed: 'somebody ended it',
  timeout: 'its time was up',
  instance_terminated: 'the gateway was stopped',
};

/** `by` is who ended it, if that is known. */
export function closedText({ exit_code, reason, detail = '' }: Pick<Closed, 'exit_code' | 'reason' | 'detail'>, by?: string): string {
  // Nobody ended the session: a signal ended its program, and is named (protocol R10).
  const why =
    reason === 'killed' && detail.startsWith('SIG')
      ? `its program was killed (${detail})`
      : reason === 'killed' && by !== undefined
        ? `${by} ended it`
        : closedWords[reason];
  if (exit_code === null) return why === undefined ? 'Ended' : `Ended: ${why}`;
  return `Ended: exit ${exit_code}${why === undefined ? '' : ` (${why})`}`;
}

/** For a line in a list. */
export function endedInShort({ exit_code, reason, closed_by }: Pick<SessionDescription, 'exit_code' | 'reason' | 'closed_by'>): string {
  if (closed_by !== undefined) return `${closed_by} ended it`;
  if (exit_code !== undefined && exit_code !== null) return `exit ${exit_code}`;
  return (reason && closedWords[reason]) ?? 'ended';
}

/** What is to be known of a session's secrets; empty if there is nothing. */
export function secrecyText({
  sensitive,
  redaction,
  live_stream,
}: Pick<SessionDescription, 'sensitive' | 'redaction' | 'live_stream'>): string {
  const facts = [sensitive && 'sensitive', redaction === 'off' && 'secrets are shown', live_stream === 'raw' && 'secrets are shown live'];
  return facts.filter(Boolean).join(' · ');
}

/** Why a client came to its end; `wasLive` tells one who was sent away from one who never got in. */
export function endedText({ reason, message }: Pick<Ended, 'reason' | 'message'>, wasLive: boolean): string {
  switch (reason) {
    case 'forbidden':
      return wasLive ? 'You were sent away from this session' : 'Your token is not good for this session';
    case 'gone':
      return 'There is no such session any more';
    case 'unauthenticated':
      return 'Signed out';
    case 'unreachable':
      return 'The gateway cannot be reached';
    default:
      return sentence(message);
  }
}

export const missedText: Readonly<Record<Notice['kind'], string>> = {
  lagged: 'This window fell behind: some output was passed over, and the screen was painted anew.',
  out_of_range: 'What was missed is not kept any more: the screen was painted anew.',
  no_picture: 'The gateway could make no picture of the screen: what is shown may not be whole.',
};

/** What went wrong when something was asked for. */
export function failureText(error: unknown): string {
  if (error instanceof Fault && error.code === 'INTERNAL' && error.retryable) return 'The gateway did not answer: try again in a moment.';
  const { message } = error as { readonly message?: unknown };
  return `${sentence(typeof message === 'string' ? message : String(error))}.`;
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1).replace(/\.$/, '');
