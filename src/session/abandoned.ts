// Ends sessions whose owner is gone: one Closed, `agent_disconnect`, whoever notices (I4). Knows no replica and no terminal.
import { LogError, type LogReader, type LogWriter, type Numbered } from '../log/log.js';
import { entry } from '../protocol/make-frames.js';
import type { Size } from '../terminal/terminal.js';
import { abandoned } from './closing.js';
import { sizeNow } from './past.js';
import { type KeptSession, withoutSecrets } from './record.js';
import type { TaskJson } from './session.js';
import { type Ending, lastStatus } from './task/last-word.js';
import { hasEnded, statusUpdate } from './task/updates.js';

/** The writer must be the session's newest, so that nobody else can be doing this. Returns what is kept of it from now on. */
export async function closeAbandoned(kept: KeptSession, writer: LogWriter): Promise<KeptSession> {
  const { kind, ...closed } = abandoned();
  // The owner may have died between the Closed and the record that tells of it: there is exactly one.
  const done = await readableClosed(writer.reader);
  const ended = { ...abandonedRecord(kept, done), last_size: await readableSize(writer.reader, kept) };
  if (!done) await writer.append([entry('TaskStatusUpdate', { ...statusUpdate(ended.task) }), entry(kind, closed)]);
  await writer.amend(ended);
  return ended;
}

/** What is kept of it from now on; `done` is the Closed that its owner could still write. */
export function abandonedRecord(kept: KeptSession, done?: Numbered): KeptSession & { readonly task: TaskJson } {
  const told: Ending = done ? JSON.parse(Buffer.from(done.body).toString()) : abandoned();
  return {
    ...withoutSecrets(kept),
    members: [],
    state: 'closed',
    closed_at: new Date(done?.ts ?? Date.now()).toISOString(),
    exit_code: told.exit_code,
    reason: told.reason,
    task: endedTask(kept, told),
    ...(kept.push === undefined || kept.push.length === 0 ? {} : { telling: kept.replica_id }),
  };
}

/** One that is damaged is none: whoever comes late is to be told the end. */
async function readableClosed(reader: LogReader): Promise<Numbered | undefined> {
  // It is the newest of all, and as such in the log itself.
  return reader.latest('Closed', 'log').catch((error) => {
    if (isCorrupt(error)) return undefined;
    throw error;
  });
}

/** Its owner can say no more which size it had; where damage hides that, the one it began with. */
async function readableSize(reader: LogReader, { cols, rows }: KeptSession): Promise<Size> {
  return sizeNow(reader, { cols, rows }).catch((error) => {
    if (isCorrupt(error)) return { cols, rows };
    throw error;
  });
}

export const isCorrupt = (error: unknown): boolean => error instanceof LogError && error.failure === 'corrupt';

/** What was kept of its task, which may have been at work then. */
export function endedTask({ session_id: id, context_id: contextId, closed_at, task }: KeptSession, ending: Ending): TaskJson {
  if (task && hasEnded(task.status.state)) return task;
  const status = lastStatus({ id, contextId }, ending);
  // Of one that has ended long ago it is the same whenever somebody looks: lists are in the order of these times.
  return { id, contextId, history: [], ...task, status: { ...status, timestamp: closed_at ?? status.timestamp } };
}
