// The A2A operations of the WebSocket binding (pty-ws §4): thin, over the one task that the connection's session is. Knows no socket and no frame.
import type { Principal } from '../access/principal.js';
import type { CORE_OPERATIONS } from '../protocol/names.js';
import type { Payload } from '../protocol/verbs.js';
import type { Author, Session } from '../session/session.js';
import { withHistory } from './history.js';
import { reader } from './json.js';
import { listTasks } from './list.js';
import { type ListTasksRequest, SendMessageRequest } from './requests.js';
import { type Asker as CoreAsker, converse, outcomeOf, taskOf, untilRest } from './send.js';
import { OneSession } from './session-host.js';

/** Who asks, as far as these operations need to know. */
export interface Asker {
  readonly session: Session;
  readonly principal: Principal;
  /** Aborted when the connection is closed. */
  readonly gone: AbortSignal;
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

const readMessage = reader(SendMessageRequest);

export const operations: Operations = {
  async SendMessage(asker, payload, answer) {
    const request = readMessage(payload);
    const core = coreOf(asker);
    answer('Response', await outcomeOf(core, await converse(core, request), request, asker.gone));
  },

  async SendStreamingMessage(asker, payload, answer) {
    const updates = asker.streamUpdates();
    const stream = await converse(coreOf(asker), readMessage(payload)).catch((error) => {
      updates.abandon();
      throw error;
    });
    answer('Accepted', { task_id: stream.taskId });
    updates.begin();
    await untilRest(stream, asker.gone);
    updates.rest();
  },

  async GetTask(asker, { task_id, history_length }, answer) {
    const task = await taskOf(coreOf(asker), task_id);
    answer('Response', { task: withHistory(await task.snapshot(history_length), history_length) });
  },

  async ListTasks(asker, { page_size, page_token, filter = {} }, answer) {
    const { tasks, nextPageToken } = await listTasks(coreOf(asker), {
      ...(page_size !== undefined && { pageSize: page_size }),
      ...(page_token && { pageToken: page_token }),
      ...wanted(filter),
    });
    answer('Response', { tasks, next_page_token: nextPageToken || null });
  },

  async CancelTask(asker, { task_id }, answer) {
    const task = await taskOf(coreOf(asker), task_id);
    answer('Response', { task: await task.cancel(asker.serviceParameters) });
  },

  async SubscribeToTask(asker, { task_id }, answer, replayFrom) {
    await taskOf(coreOf(asker), task_id);
    await asker.subscribe(replayFrom, (current_sequence) => answer('Accepted', { current_sequence }));
  },

  async Unsubscribe(asker, { task_id }, answer) {
    await taskOf(coreOf(asker), task_id);
    asker.unsubscribe();
    answer('Response', {});
  },
};

function coreOf({ session, principal, author, serviceParameters }: Asker): CoreAsker {
  return {
    host: new OneSession(session),
    principal,
    from: { author, principal: principal.name, ...(serviceParameters && { serviceParameters }) },
  };
}

/** `context_id` and `state` narrow the list, in either spelling; anything else in a filter is let be. */
function wanted(filter: Readonly<Record<string, unknown>>): Pick<ListTasksRequest, 'contextId' | 'status'> {
  const [contextId, status] = [filter.context_id ?? filter.contextId, filter.state ?? filter.status];
  return {
    ...(contextId !== undefined && { contextId: String(contextId) }),
    ...(status !== undefined && { status: String(status) as NonNullable<ListTasksRequest['status']> }),
  };
}
