// What runs the tasks of an agent, as A2A's operations see it. Knows no request, no session and no binding.
import type { Principal } from '../access/principal.js';
import type { MessageJson, Sender, TaskState } from '../session/session.js';
import type { PushConfigs } from './push.js';

/** A task as JSON (A2A 1.0 §4.1.1). */
export interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: TaskState; readonly timestamp: string; readonly message?: MessageJson };
  readonly history?: readonly MessageJson[];
  readonly artifacts?: readonly object[];
}

export interface Placed {
  readonly task: Task;
  readonly sequence: number;
}

/** A change of a task, as A2A tells it (A2A 1.0 §4.2). */
export type TaskDelta = StatusUpdate | ArtifactUpdate;

export interface StatusUpdate {
  readonly taskId: string;
  readonly contextId: string;
  readonly status: Task['status'];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface ArtifactUpdate {
  readonly taskId: string;
  readonly contextId: string;
  readonly artifact: object;
  readonly append?: boolean;
  readonly lastChunk?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** Who speaks to a task, and what goes with all that comes of it. */
export type Speaker = Sender;

export interface HostedTask {
  readonly id: string;
  readonly contextId: string;
  snapshot(historyLength?: number): Promise<Task>;
  /** The same, and its place among the changes: those with a higher number are not in it yet, all others are. */
  placed(historyLength?: number): Promise<Placed>;
  /** UNSUPPORTED_OPERATION if the task has ended, PERMISSION_DENIED if this speaker may not. The same messageId twice is done once, where the host knows it. */
  send(message: MessageJson, from: Speaker): Promise<Task>;
  /** TASK_NOT_CANCELABLE if the task has ended. */
  cancel(serviceParameters?: Record<string, unknown>): Promise<Task>;
  /** Tells of each change from now on, with its number, ascending; all before it is in a snapshot that is asked for now. Returns the way to stop. */
  follow(listener: (delta: TaskDelta, sequence: number) => void): () => void;
  /** Undefined where nothing is pushed. */
  readonly push: PushConfigs | undefined;
}

/** A task in a list, of which not more than that is wanted. */
export type ListedTask = Pick<HostedTask, 'id' | 'contextId' | 'snapshot'>;

/** What came of a message that named no task. */
export type Begun = { readonly task: HostedTask } | { readonly message: MessageJson };

export interface TaskHost {
  /** Media types that a message's parts may have, and that artifacts have. */
  readonly inputModes: readonly string[];
  readonly outputModes: readonly string[];
  /** Whether tasks have push notification configs. */
  readonly pushes: boolean;
  /** Only what this principal may see; an id that cannot be one is unknown. Undefined, or the Fault TASK_NOT_FOUND where the audit is to know of a denial. */
  find(taskId: string, principal: Principal): Promise<HostedTask | undefined>;
  /** All that this principal may see, in no order. */
  list(principal: Principal): Promise<readonly ListedTask[]>;
  /** A task that works on this message already. `prepare` is called with it before the message is. The same messageId of a principal twice may begin one task. */
  begin(message: MessageJson, principal: Principal, from: Speaker, prepare: (task: HostedTask) => Promise<void>): Promise<Begun>;
}
