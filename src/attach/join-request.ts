// What a join asks of a session, read from its payload (pty-ext §6.1, protocol R12). Pure.

import { guestName, may, type Principal } from '../access/principal.js';
import { Fault } from '../errors.js';
import type { Payload } from '../protocol/verbs.js';
import type { JoinRequest } from '../session/session.js';

/** UNSUPPORTED_OPERATION for a backend or class of sessions that is not here. */
export function joinRequest(payload: Payload<'pty.join_session'>, principal: Principal): JoinRequest {
  const { role, terminal_size, session_backend, session_class } = payload;
  requireOnly('session_backend', session_backend, 'native');
  requireOnly('session_class', session_class, 'direct');
  const cols = payload.cols ?? terminal_size?.cols;
  const rows = payload.rows ?? terminal_size?.rows;
  return {
    role,
    size: { ...(cols !== undefined && { cols }), ...(rows !== undefined && { rows }) },
    ...labelOf(payload, principal),
    mayControl: may(principal, 'pty:control'),
    principal: principal.name,
  };
}

/** One who came with a link is called after it, and cannot take another's name. */
function labelOf({ client_label }: Payload<'pty.join_session'>, principal: Principal): Pick<JoinRequest, 'label'> {
  if (principal.sharedBy !== undefined) return { label: guestName(principal.sharedFor) };
  return client_label === undefined ? {} : { label: client_label };
}

function requireOnly(member: string, given: string | undefined, only: string): void {
  if (given === undefined || given === only) return;
  throw new Fault('UNSUPPORTED_OPERATION', `payload.${member}: there is "${only}" alone`);
}
