// The operations of A2A 1.0 (§3.1), the same for all its bindings: who may, what is read, what is done, what the audit hears. Knows no binding.
import type { TObject } from '@sinclair/typebox';
import { may, type Scope } from '../access/principal.js';
import type { AuditEvent, AuditLine } from '../audit/audit.js';
import { Fault, isDenial } from '../errors.js';
import { A2aFault } from './errors.js';
import { withHistory } from './history.js';
import { fromProtoJson, reader } from './json.js';
import { listTasks } from './list.js';
import { readPushConfig } from './push.js';
import * as requests from './requests.js';
import { type Asker, converse, outcomeOf, placedWithHistory, pushOf, setPushConfig, taskOf } from './send.js';
import { isOver } from './states.js';
import type { Task } from './task-host.js';
import { TaskStream } from './task-stream.js';

/** Who asks over HTTP. */
export interface Client extends Asker {
  /** Extensions that the request itself names; throws for those that this binding cannot carry (pty-ext §3). */
  activate(extensions: readonly string[]): void;
  record(event: AuditEvent, outcome: AuditLine['outcome'], more: { session_id?: string | undefined; detail?: string }): void;
  /** The card that this principal may see. */
  extendedCard(): Promise<object>;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export interface Operation {
  readonly scope: Scope;
  readonly request: TObject;
  /** INVALID_REQUEST names each member that is wrong. */
  read(given: unknown): unknown;
  readonly audit?: AuditEvent;
  run(client: Client, request: never): Promise<object>;
}

function operation<S extends TObject>(
  scope: Scope,
  request: S,
  audit: AuditEvent | undefined,
  run: (client: Client, request: ReturnType<ReturnType<typeof reader<S>>>) => Promise<object>,
): Operation {
  return { scope, request, read: reader(request), run, ...(audit && { audit }) };
}

/** By their names in JSON-RPC (§5.3). A TaskStream is told as events. */
export const operations = {
  SendMessage: operation('pty:control', requests.SendMessageRequest, 'message', async (client, request) => {
    const stream = await converse(client, request);
    return outcomeOf(client, stream, request, client.signal);
  }),

  SendStreamingMessage: operation('pty:control', requests.SendMessageRequest, 'message', converse),

  GetTask: operation('pty:observe', requests.GetTaskRequest, 'task_read', async (client, { id, historyLength }) => {
    const task = await taskOf(client, id);
    return withHistory(await task.snapshot(historyLength), historyLength);
  }),

  ListTasks: operation('pty:observe', requests.ListTasksRequest, 'task_read', listTasks),

  CancelTask: operation('pty:control', requests.CancelTaskRequest, 'message', async (client, { id }) => {
    const task = await taskOf(client, id);
    return withHistory(await task.cancel(client.from.serviceParameters));
  }),

  SubscribeToTask: operation('pty:observe', requests.SubscribeToTaskRequest, 'task_read', async (client, { id }) => {
    const task = await taskOf(client, id);
    return TaskStream.open(task, async () => {
      const now = await placedWithHistory(task);
      const { state } = now.task.status;
      if (isOver(state)) throw new Fault('UNSUPPORTED_OPERATION', `the task is over: ${state}`);
      return now;
    });
  }),

  CreateTaskPushNotificationConfig: operation(
    'pty:control',
    requests.CreatePushConfigRequest,
    'message',
    async (client, { taskId, ...config }) => setPushConfig(await pushing(client, taskId), readPushConfig(config)),
  ),

  // Where a receiver is, and the token that it knows the gateway by, are secrets of whoever set it: no observer reads them.
  GetTaskPushNotificationConfig: operation('pty:control', requests.OnePushConfigRequest, 'task_read', async (client, { taskId, id }) => {
    const config = await pushOf(await pushing(client, taskId)).get(id);
    if (!config) throw new Fault('TASK_NOT_FOUND', 'the task has no such push notification config', { details: { taskId, id } });
    return config;
  }),

  ListTaskPushNotificationConfigs: operation('pty:control', requests.ListPushConfigsRequest, 'task_read', async (client, { taskId }) => {
    return { configs: await pushOf(await pushing(client, taskId)).list(), nextPageToken: '' };
  }),

  DeleteTaskPushNotificationConfig: operation('pty:control', requests.OnePushConfigRequest, 'message', async (client, { taskId, id }) => {
    await pushOf(await pushing(client, taskId)).remove(id);
    return {};
  }),

  GetExtendedAgentCard: operation('pty:observe', requests.GetExtendedAgentCardRequest, undefined, (client) => client.extendedCard()),
} as const satisfies Record<string, Operation>;

export type OperationName = keyof typeof operations;

export function isOperation(name: unknown): name is OperationName {
  return typeof name === 'string' && Object.hasOwn(operations, name);
}

/** Does it, if the client may; a TaskStream is the caller's to end. Rejects with a Fault for the client. */
export async function perform(name: OperationName, given: unknown, client: Client): Promise<object> {
  const { scope, read, run, audit }: Operation = operations[name];
  const value = fromProtoJson(given ?? {});
  const taskId = taskNamed(value);
  try {
    if (!may(client.principal, scope)) throw new Fault('PERMISSION_DENIED', `${name} needs the scope ${scope}`);
    client.activate(extensionsIn(value));
    const result = await run(client, read(value) as never);
    if (audit) client.record(audit, 'done', { session_id: taskId ?? taskMade(result), detail: name });
    return result;
  } catch (error) {
    if (audit) client.record(audit, isDenial(error) ? 'denied' : 'failed', { session_id: taskId, detail: `${name}: ${codeOf(error)}` });
    throw error;
  }
}

/** Whether tasks push at all is asked before which task is meant (A2A 1.0 §3.3.4). */
async function pushing(client: Client, taskId: string) {
  if (!client.host.pushes) throw new A2aFault('PUSH_NOTIFICATION_NOT_SUPPORTED', 'this agent pushes no notifications');
  return taskOf(client, taskId);
}

/** The task that a request is about, for the audit. */
function taskNamed(request: unknown): string | undefined {
  const { taskId, id, message } = request as { taskId?: unknown; id?: unknown; message?: { taskId?: unknown } };
  return [taskId, id, message?.taskId].find((named) => typeof named === 'string');
}

/** The task that an answer is about, where a request named none. */
function taskMade(answer: object): string | undefined {
  return answer instanceof TaskStream ? answer.taskId : (answer as { task?: Task }).task?.id;
}

function extensionsIn(value: unknown): readonly string[] {
  const named = (value as { message?: { extensions?: unknown } }).message?.extensions;
  return Array.isArray(named) ? named.filter((uri) => typeof uri === 'string') : [];
}

const codeOf = (error: unknown): string => (error instanceof Fault ? error.code : 'INTERNAL');
