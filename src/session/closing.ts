// Why a session ended, in the words of both vocabularies (protocol R10). Pure.
import type { Closed, ClosedReason } from '../protocol/frames.js';
import type { Exit } from '../terminal/terminal.js';

/** The word of pty-ext §7.6 beside one of §9.10. */
const detailOf: Partial<Record<ClosedReason, string>> = {
  bridge_eof: 'error',
  bridge_start_failed: 'error',
  last_member_left: 'killed',
  agent_disconnect: 'error',
};

/** The payload of Closed for a process that ended; `wanted` is why somebody ended it, undefined if nobody did. */
export function closing(exit: Exit, wanted: ClosedReason | undefined): Closed {
  if (wanted) return { kind: 'Closed', exit_code: exit.code, reason: wanted, ...detail(detailOf[wanted]) };
  if (exit.code !== null)
    return { kind: 'Closed', exit_code: exit.code, reason: 'command_result', detail: exit.code === 0 ? 'normal' : 'error' };
  return { kind: 'Closed', exit_code: null, reason: 'killed', ...detail(exit.signal ?? undefined) };
}

/** The payload of Closed for a session whose owner is gone. */
export function abandoned(): Closed {
  return { kind: 'Closed', exit_code: null, reason: 'agent_disconnect', detail: 'error' };
}

const detail = (word: string | undefined) => (word === undefined ? {} : { detail: word });
