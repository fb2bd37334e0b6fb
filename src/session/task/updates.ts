// What the log is told of a task: TaskStatusUpdates, with the A2A event that made each (pty-ws §4). Knows no terminal.
import { newId } from '../../protocol/ids.js';
import type { ArtifactJson, MessageJson, TaskJson, TaskState } from '../session.js';

type Params = Readonly<Record<string, unknown>>;

/** A2A TaskStatusUpdateEvent. `metadata` holds the service parameters of the message (pty-ws §9). */
export type StatusDelta = {
  readonly taskId: string;
  readonly contextId: string;
  readonly status: TaskJson['status'];
  readonly metadata?: Params;
};

/** A2A TaskArtifactUpdateEvent: more of an artifact (`append`), or a new beginning of it. After `lastChunk` it is whole, as long as the task rests. */
export type ArtifactDelta = {
  readonly taskId: string;
  readonly contextId: string;
  readonly artifact: ArtifactJson;
  readonly append: boolean;
  readonly lastChunk: boolean;
  readonly metadata?: Params;
};

/** The payload of a TaskStatusUpdate: the task as it is, without history and artifacts, and the event that made it so. */
export interface TaskUpdate {
  readonly task: TaskJson;
  readonly delta: StatusDelta | ArtifactDelta;
}

const ended: readonly TaskState[] = ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED'];
export const hasEnded = (state: string): boolean => ended.some((one) => one === state);
export const isResting = (state: string): boolean => state === 'TASK_STATE_INPUT_REQUIRED' || hasEnded(state);

export function statusNow(state: TaskState): TaskJson['status'] {
  return { state, timestamp: new Date().toISOString() };
}

/** What the agent itself says of its task (A2A 1.0 §4.1.4). */
export function saying({ id, contextId }: Pick<TaskJson, 'id' | 'contextId'>, text: string, metadata?: Params): MessageJson {
  const message = { messageId: newId(), role: 'ROLE_AGENT', taskId: id, contextId, parts: [{ text }] };
  return metadata ? { ...message, metadata } : message;
}

export function statusUpdate(task: TaskJson, params: Params = {}): TaskUpdate {
  return { task: bare(task), delta: { taskId: task.id, contextId: task.contextId, status: task.status, ...metadata(params) } };
}

/** What is told of one artifact at a time. */
export type ArtifactChange = Pick<ArtifactDelta, 'artifact' | 'append' | 'lastChunk'>;

export function artifactUpdate(task: TaskJson, change: ArtifactChange, params: Params = {}): TaskUpdate {
  return { task: bare(task), delta: { taskId: task.id, contextId: task.contextId, ...change, ...metadata(params) } };
}

function bare({ history: _, artifacts: __, ...task }: TaskJson): TaskJson {
  return task;
}

const metadata = (params: Params): { metadata?: Params } => (Object.keys(params).length > 0 ? { metadata: params } : {});
