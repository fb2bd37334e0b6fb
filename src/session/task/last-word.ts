// How a task ends, told by its status: the state that follows from the Closed of its session, and a message that says why. Pure.
import type { Closed, ClosedReason } from '../../protocol/frames.js';
import type { TaskJson, TaskState } from '../session.js';
import { saying, statusNow } from './updates.js';

/** How a session ended, in the words of its Closed (protocol R10). */
export type Ending = Omit<Closed, 'kind'>;

/** Somebody wanted it so: CancelTask, or DELETE of the session. */
export const canceled: Ending = { exit_code: null, reason: 'killed' };

/**
 * The last status of a task. Its message is one sentence, and its metadata what a program reads: `reason`, as in the Closed, and `exit_code` or `signal`
 * of the program where they are known (A2A 1.0 §4.1.2).
 */
export function lastStatus(task: Pick<TaskJson, 'id' | 'contextId'>, ending: Ending): TaskJson['status'] {
  const { exit_code, reason } = ending;
  const signal = signalOf(ending);
  const metadata = { reason, ...(exit_code !== null && { exit_code }), ...(signal !== undefined && { signal }) };
  return { ...statusNow(stateAfter(ending)), message: saying(task, sentence(ending), metadata) };
}

function stateAfter(ending: Ending): TaskState {
  if (ending.reason === 'killed' && signalOf(ending) === undefined) return 'TASK_STATE_CANCELED';
  return ending.exit_code === 0 ? 'TASK_STATE_COMPLETED' : 'TASK_STATE_FAILED';
}

/** Of a program that a signal ended which nobody here sent. */
const signalOf = ({ reason, detail }: Ending): string | undefined => (reason === 'killed' ? detail : undefined);

function sentence(ending: Ending): string {
  const signal = signalOf(ending);
  if (signal !== undefined) return `The program was ended by ${signal}.`;
  if (ending.reason === 'command_result') return `The program exited with status ${ending.exit_code}.`;
  return causes[ending.reason];
}

const causes: Readonly<Record<Exclude<ClosedReason, 'command_result'>, string>> = {
  killed: 'The task was canceled.',
  timeout: 'The program was ended: it had been silent, or had run, for as long as it may.',
  last_member_left: 'The program was ended when its last controller had left.',
  instance_terminated: 'The program was ended because the gateway shut down.',
  agent_disconnect: 'The program was lost with the replica that ran it.',
  bridge_eof: 'The terminal of the program was lost.',
  bridge_start_failed: 'The program could not be started.',
};
