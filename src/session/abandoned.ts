// Ends sessions whose owner is gone: one Closed, `agent_disconnect`, whoever notices (I4). Knows no replica and no terminal.
import type { LogWriter } from '../log/log.js';
import type { Closed } from '../protocol/frames.js';
import { entry } from '../protocol/make-frames.js';
import { abandoned } from './closing.js';
import type { KeptSession } from './record.js';
import { statusNow, statusUpdate } from './task-updates.js';

/** The writer must be the session's newest, so that nobody else can be doing this. Returns the session as it is kept from now on. */
export async function closeAbandoned(kept: KeptSession, writer: LogWriter): Promise<KeptSession> {
  const task = { id: kept.session_id, contextId: kept.context_id, status: statusNow('TASK_STATE_FAILED'), history: [] };
  const { kind, ...closed } = abandoned();
  // The owner may have died between the Closed and the record that tells of it: there is exactly one.
  const done = await writer.reader.latest('Closed');
  if (!done) await writer.append([entry('TaskStatusUpdate', { ...statusUpdate(task) }), entry(kind, closed)]);
  const told: Omit<Closed, 'kind'> = done ? JSON.parse(Buffer.from(done.body).toString()) : closed;
  const after: KeptSession = {
    ...kept,
    state: 'closed',
    closed_at: new Date(done?.ts ?? Date.now()).toISOString(),
    exit_code: told.exit_code,
    reason: told.reason,
    task: kept.task ?? task,
  };
  await writer.amend(after);
  return after;
}
