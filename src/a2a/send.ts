// A message on its way to a task: what it may hold, and which task takes it (A2A 1.0 §3.1.1, §3.4). Knows no binding.

import type { Principal } from '../access/principal.js';
import { Fault } from '../errors.js';
import type { MessageJson } from '../session/session.js';
import { Answer } from './answer.js';
import { A2aFault, violated } from './errors.js';
import { withHistory } from './history.js';
import { type NamedPushConfig, type PushConfig, type PushConfigs, readPushConfig } from './push.js';
import type { Message, Part, SendMessageRequest } from './requests.js';
import { isAtRest } from './states.js';
import type { HostedTask, Placed, Speaker, Task, TaskHost } from './task-host.js';
import { type StreamResponse, TaskStream } from './task-stream.js';

/** Who asks, of whose tasks. */
export interface Asker {
  readonly host: TaskHost;
  readonly principal: Principal;
  readonly from: Speaker;
}

/** The task, if the asker may see it; TASK_NOT_FOUND says no more than that. */
export async function taskOf({ host, principal }: Asker, taskId: string): Promise<HostedTask> {
  const task = await host.find(taskId, principal);
  if (!task) throw noSuchTask(taskId);
  return task;
}

/** To clients what is hidden from them is the same. */
export const noSuchTask = (taskId: string, options: { readonly isDenial?: boolean } = {}) =>
  new Fault('TASK_NOT_FOUND', 'there is no such task', { ...options, details: { taskId } });

/** Hands a message to its task, or to a new one, and tells what comes of it until the task rests. */
export async function converse(asker: Asker, { message, configuration = {} }: SendMessageRequest): Promise<TaskStream> {
  checkParts(message, asker.host);
  checkSize(message);
  checkOutput(configuration.acceptedOutputModes, asker.host);
  const config = configuration.taskPushNotificationConfig && readPushConfig(configuration.taskPushNotificationConfig);
  if (config && !asker.host.pushes) throw noPush();
  const prepare = async (task: HostedTask) => {
    if (config) await setPushConfig(task, config);
  };
  const { historyLength } = configuration;
  if (message.taskId === undefined) return begin(asker, message, prepare, historyLength);
  const task = await goOn(asker, message);
  await prepare(task);
  const say = async () => {
    await task.send(message as MessageJson, asker.from);
    return placedWithHistory(task, historyLength);
  };
  return TaskStream.open(task, say, isAtRest);
}

/** What a message is answered with: the task when it rests, or as it is now if asked for that; or the agent's own message. Rejects with the Fault that `signal` is aborted with. */
export async function outcomeOf(
  asker: Asker,
  stream: TaskStream,
  { message, configuration: { returnImmediately = false, historyLength } = {} }: SendMessageRequest,
  signal: AbortSignal,
): Promise<{ readonly task: Task } | { readonly message: MessageJson }> {
  const answer = new Answer(message.messageId);
  const { value: first } = await stream.next();
  if (first) answer.take(first);
  if (!returnImmediately) await untilRest(stream, signal, (event) => answer.take(event));
  await stream.return();
  if (signal.reason instanceof Fault) throw signal.reason;
  if (first && 'message' in first) return first;
  if (!first || !('task' in first)) throw new Fault('INTERNAL', 'what came of the message was not told');
  if (returnImmediately) return first;
  const task = await taskOf(asker, first.task.id);
  return { task: answer.in(withHistory(await task.snapshot(historyLength), historyLength)) };
}

/** Reads a stream to its end, or until nobody waits for it any more. */
export async function untilRest(stream: TaskStream, signal: AbortSignal, take: (event: StreamResponse) => void = () => {}): Promise<void> {
  const giveUp = () => void stream.return();
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  try {
    for await (const event of stream) take(event);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}

async function begin(
  { host, principal, from }: Asker,
  message: Message,
  prepare: (task: HostedTask) => Promise<void>,
  historyLength?: number,
) {
  const begun = await host.begin(message as MessageJson, principal, from, prepare);
  if ('message' in begun) return TaskStream.of(begun.message);
  return TaskStream.open(begun.task, () => placedWithHistory(begun.task, historyLength), isAtRest);
}

/** How a stream begins. */
export async function placedWithHistory(hosted: HostedTask, historyLength?: number): Promise<Placed> {
  const { task, sequence } = await hosted.placed(historyLength);
  return { task: withHistory(task, historyLength), sequence };
}

async function goOn(asker: Asker, message: Message): Promise<HostedTask> {
  const task = await taskOf(asker, message.taskId ?? '');
  requireContext(task, message.contextId);
  return task;
}

/** A message that goes to a task may leave its context out, and must not name another one (A2A 1.0 §3.4.3). */
export function requireContext(task: HostedTask, contextId: unknown): void {
  if (contextId === undefined || contextId === task.contextId) return;
  throw violated([
    { field: 'message.contextId', description: "the task belongs to another context; leave it out, or name the task's own" },
  ]);
}

export async function setPushConfig(task: HostedTask, config: PushConfig): Promise<NamedPushConfig> {
  if (config.taskId !== undefined && config.taskId !== task.id) {
    throw violated([{ field: 'taskPushNotificationConfig.taskId', description: 'names another task' }]);
  }
  return pushOf(task).set({ ...config, taskId: task.id });
}

export function pushOf({ push }: HostedTask): PushConfigs {
  if (!push) throw noPush();
  return push;
}

const noPush = () => new A2aFault('PUSH_NOTIFICATION_NOT_SUPPORTED', 'this agent pushes no notifications');

/** Metadata and data of one message, in characters of JSON (UTF-16 units). */
const MAX_FREE_CHARS = 64 * 1024;

const contents = ['text', 'raw', 'url', 'data'] as const;

function checkParts({ parts }: Message, { inputModes }: TaskHost): void {
  const unclear = parts.findIndex((part) => contents.filter((name) => part[name] !== undefined).length !== 1);
  if (unclear !== -1) throw violated([{ field: `message.parts.${unclear}`, description: 'expected one of text, raw, url and data' }]);
  const strange = parts.findIndex((part) => !inputModes.some((mode) => matches(mode, mediaTypeOf(part))));
  if (strange === -1) return;
  const given = mediaTypeOf(parts[strange] as Part);
  throw notSupported(`message.parts.${strange}: this agent takes ${inputModes.join(', ')}, not ${given}`);
}

/** What a client adds to the text of a message is kept with it in the history, which is bounded by this. */
function checkSize({ metadata, parts }: Message): void {
  const held = [
    ['message.metadata', metadata] as const,
    ...parts.flatMap((part, i) => [
      [`message.parts.${i}.metadata`, part.metadata] as const,
      [`message.parts.${i}.data`, part.data] as const,
    ]),
  ];
  let chars = 0;
  for (const [field, value] of held) {
    chars += value === undefined ? 0 : JSON.stringify(value).length;
    if (chars > MAX_FREE_CHARS)
      throw violated([
        { field, description: `expected at most ${MAX_FREE_CHARS} characters of JSON in the metadata and data of a message` },
      ]);
  }
}

/** What a part is if it does not say so. */
function mediaTypeOf(part: Part): string {
  if (part.mediaType !== undefined) return part.mediaType;
  if (part.text !== undefined) return 'text/plain';
  return part.data === undefined ? 'application/octet-stream' : 'application/json';
}

function checkOutput(accepted: readonly string[] = [], { outputModes }: TaskHost): void {
  if (accepted.length === 0 || accepted.some((range) => outputModes.some((mode) => matches(range, mode)))) return;
  throw notSupported(`configuration.acceptedOutputModes: this agent produces ${outputModes.join(', ')}`);
}

/** The wire has no code for it: the name in front says what it is. */
const notSupported = (message: string) => new A2aFault('CONTENT_TYPE_NOT_SUPPORTED', `ContentTypeNotSupported: ${message}`);

/** Whether a media type is of a range, as text/* or text/plain; parameters do not count. */
function matches(range: string, type: string): boolean {
  const [wanted, given] = [bare(range), bare(type)];
  return wanted === '*/*' || wanted === given || (wanted.endsWith('/*') && given.startsWith(wanted.slice(0, -1)));
}

const bare = (type: string): string => (type.split(';')[0] ?? '').trim().toLowerCase();
