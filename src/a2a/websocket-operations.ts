// The A2A operations of the WebSocket binding (pty-ws §4): thin, over the task that the session is. Knows no socket and no frame.
import { Fault } from '../errors.js';
import type { CORE_OPERATIONS } from '../protocol/names.js';
import type { Payload } from '../protocol/verbs.js';
import type { Author, Session, TaskJson } from '../session/session.js';

/** Who asks, as far as these operations need to know. */
export interface Asker {
  readonly session: Session;
  /** Under whose control a message is typed. */
  readonly author: Author;
  readonly serviceParameters: Readonly<Record<string, unknown>> | undefined;
  /** The updates that one streaming message wants. */
  streamUpdates(): UpdateStream;
  /** Updates for the life of the connection, those after `replayFrom` again; `accepted` is called before the first of them. */
  subscribe(replayFrom: number | undefined, accepted: (currentSequence: number) => void): Promise<void>;
  unsubscribe(): void;
}

/** From the acceptance of a message until its task rests. */
export interface UpdateStream {
  /** Accepted was sent: updates may follow. */
  begin(): void;
  /** The task rests; the update that says so is the last one. */
  rest(): void;
  /** The message was refused. */
  abandon(): void;
}

/** Answers with `<operation>.<what>`. */
type Answer = (what: 'Response' | 'Accepted', payload: object) => void;

type Operation = (typeof CORE_OPERATIONS)[number] | 'Unsubscribe';
export type Operations = {
  readonly [O in Operation]: (asker: Asker, payload: Payload<O>, answer: Answer, replayFrom: number | undefined) => Promise<void>;
};

export const operations: Operations = {
  async SendMessage(asker, { message, configuration }, answer) {
    await send(asker, message);
    if (!configuration?.returnImmediately) await asker.session.task.rest();
    answer('Response', { task: await asker.session.task.snapshot(configuration?.historyLength) });
  },

  async SendStreamingMessage(asker, { message }, answer) {
    const updates = asker.streamUpdates();
    const task = await send(asker, message).catch((error) => {
      updates.abandon();
      throw error;
    });
    answer('Accepted', { task_id: task.id });
    updates.begin();
    await asker.session.task.rest();
    updates.rest();
  },

  async GetTask(asker, { task_id, history_length }, answer) {
    requireTask(asker, task_id);
    answer('Response', { task: await asker.session.task.snapshot(history_length) });
  },

  async ListTasks({ session }, { page_token, filter }, answer) {
    if (page_token) throw new Fault('INVALID_REQUEST', 'payload.page_token: there is one page alone');
    const task = await session.task.snapshot(0);
    answer('Response', { tasks: matches(task, filter) ? [task] : [], next_page_token: null });
  },

  async CancelTask(asker, { task_id }, answer) {
    requireTask(asker, task_id);
    answer('Response', { task: await asker.session.task.cancel(asker.serviceParameters) });
  },

  async SubscribeToTask(asker, { task_id }, answer, replayFrom) {
    requireTask(asker, task_id);
    await asker.subscribe(replayFrom, (current_sequence) => answer('Accepted', { current_sequence }));
  },

  async Unsubscribe(asker, { task_id }, answer) {
    requireTask(asker, task_id);
    asker.unsubscribe();
    answer('Response', {});
  },
};

function send({ session, author, serviceParameters }: Asker, message: Payload<'SendMessage'>['message']): Promise<TaskJson> {
  const { task_id, context_id } = session.describe();
  if (message.taskId && message.taskId !== task_id) throw unknownTask(message.taskId);
  if (message.contextId && message.contextId !== context_id) {
    throw new Fault('INVALID_REQUEST', `payload.message.contextId: the session's task has the context ${context_id}`);
  }
  return session.task.send(message, { author, ...(serviceParameters && { serviceParameters }) });
}

function requireTask({ session }: Asker, taskId: string): void {
  if (taskId !== session.describe().task_id) throw unknownTask(taskId);
}

function unknownTask(taskId: string): Fault {
  return new Fault('TASK_NOT_FOUND', `this session has no task ${taskId}`);
}

/** `context_id` and `state` narrow the list, in either spelling; anything else in a filter is let be. */
function matches(task: TaskJson, filter: Readonly<Record<string, unknown>> = {}): boolean {
  const contextId = filter.context_id ?? filter.contextId ?? task.contextId;
  const state = filter.state ?? filter.status ?? task.status.state;
  return contextId === task.contextId && state === task.status.state;
}
