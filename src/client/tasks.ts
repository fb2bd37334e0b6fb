// The session as an A2A task: every operation of the binding on it, and subscriptions that outlive a connection. Knows no terminal.
import { Fault } from '../errors.js';
import type { RequestOptions } from './connection.js';
import type { Emitter } from './emitter.js';
import { newId } from './ids.js';
import type { Payload, Task } from './messages.js';
import type { ClientEvents, Receiver } from './receiver.js';

/** Tasks that may be subscribed to. */
const MAX_SUBSCRIPTIONS = 64;
/** States in which a task has not come to rest (A2A 1.0). */
const AT_WORK = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING'];

/** An A2A message, or the text of one. */
export type OutgoingMessage = string | { readonly messageId: string; readonly role: string; readonly parts: readonly Payload[] };

export interface SendConfiguration extends Waiting {
  /** Answer as soon as the message is typed. */
  readonly returnImmediately?: boolean;
  readonly historyLength?: number;
}

/** Sends a request over the connection of the moment. */
export type Request = (op: string, payload: Payload, options?: RequestOptions) => Promise<Payload>;

/** Of every operation: the signal stops waiting, with its reason; what was asked is not taken back. */
export interface Waiting {
  readonly signal?: AbortSignal;
}

interface Page {
  readonly tasks: Task[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

/** Every method rejects with the Fault that the gateway names (pty-ws §6). */
export class Tasks {
  readonly #request: Request;
  readonly #receiver: Receiver;
  readonly #events: Emitter<ClientEvents>;
  /** The session's task has the session's id (protocol, A2A). */
  readonly #own: () => string;

  constructor(request: Request, receiver: Receiver, events: Emitter<ClientEvents>, own: () => string) {
    this.#request = request;
    this.#receiver = receiver;
    this.#events = events;
    this.#own = own;
  }

  /** Types a message and Enter; resolves with the task when it rests, or at once with `returnImmediately` (SendMessage). */
  async send(message: OutgoingMessage, { signal, ...configuration }: SendConfiguration = {}): Promise<Task> {
    return taskIn(await this.#request('SendMessage', { message: asMessage(message), configuration }, waiting(signal)));
  }

  /** As `send`, but resolves when the message is accepted; `task` events follow until the task rests (SendStreamingMessage). */
  async stream(message: OutgoingMessage, { signal }: Waiting = {}): Promise<{ readonly taskId: string }> {
    const answered = ({ task_id }: Payload) => this.#followUntilItRests(String(task_id));
    const { task_id } = await this.#request('SendStreamingMessage', { message: asMessage(message) }, { answered, ...waiting(signal) });
    return { taskId: String(task_id) };
  }

  /** GetTask. */
  async get(options: Waiting & { readonly taskId?: string; readonly historyLength?: number } = {}): Promise<Task> {
    const { taskId = this.#own(), historyLength, signal } = options;
    const payload = { task_id: taskId, ...(historyLength !== undefined && { history_length: historyLength }) };
    return taskIn(await this.#request('GetTask', payload, waiting(signal)));
  }

  /** ListTasks. */
  async list(page: Waiting & { readonly pageSize?: number; readonly pageToken?: string } = {}): Promise<Page> {
    const { pageSize, pageToken, signal } = page;
    const payload = { ...(pageSize !== undefined && { page_size: pageSize }), ...(pageToken !== undefined && { page_token: pageToken }) };
    const { tasks, next_page_token } = await this.#request('ListTasks', payload, waiting(signal));
    return { tasks: tasks as Task[], nextPageToken: String(next_page_token ?? '') };
  }

  /** CancelTask: ends the program. */
  async cancel(taskId = this.#own(), { signal }: Waiting = {}): Promise<Task> {
    return taskIn(await this.#request('CancelTask', { task_id: taskId }, waiting(signal)));
  }

  /** `task` events follow, after a reconnect too, each once; `replayFrom` brings the kept ones after that number first (SubscribeToTask). */
  async subscribe(options: Waiting & { readonly taskId?: string; readonly replayFrom?: number } = {}): Promise<void> {
    const { taskId = this.#own(), replayFrom, signal } = options;
    if (this.#receiver.subscriptions.size >= MAX_SUBSCRIPTIONS)
      throw new Fault('RATE_LIMITED', `at most ${MAX_SUBSCRIPTIONS} subscriptions`);
    await this.#subscribe(taskId, replayFrom, signal);
  }

  async unsubscribe(taskId = this.#own(), { signal }: Waiting = {}): Promise<void> {
    this.#receiver.subscriptions.delete(taskId);
    await this.#request('Unsubscribe', { task_id: taskId }, waiting(signal));
  }

  /** A new connection is live: every subscription goes on from its own place. */
  resume(): void {
    for (const [taskId, last] of this.#receiver.subscriptions) void this.#resume(taskId, last);
  }

  /** A place that is not kept any more is told of, and the subscription goes on from now. */
  async #resume(taskId: string, last: number): Promise<void> {
    try {
      await this.#subscribe(taskId, last);
    } catch (error) {
      const fault = error as Fault;
      // After another cut it is taken up again.
      if (fault.retryable) return;
      this.#receiver.subscriptions.delete(taskId);
      this.#events.emit('error', fault);
      if (fault.code === 'REPLAY_OUT_OF_RANGE') await this.#subscribe(taskId, undefined).catch(() => {});
    }
  }

  async #subscribe(taskId: string, from: number | undefined, signal?: AbortSignal): Promise<void> {
    const answered = ({ current_sequence }: Payload) => this.#receiver.subscriptions.set(taskId, from ?? Number(current_sequence));
    const extra = from === undefined ? {} : { replay_from: from };
    await this.#request('SubscribeToTask', { task_id: taskId }, { extra, answered, ...waiting(signal) });
  }

  #followUntilItRests(taskId: string): void {
    // Who subscribed to it keeps the subscription.
    if (this.#receiver.subscriptions.has(taskId)) return;
    this.#receiver.subscriptions.set(taskId, this.#receiver.newest);
    const stop = this.#events.on('task', ({ task }) => {
      if (task.id !== taskId || AT_WORK.includes(task.status.state)) return;
      this.#receiver.subscriptions.delete(taskId);
      stop();
    });
  }
}

function asMessage(message: OutgoingMessage): Payload {
  if (typeof message !== 'string') return { ...message };
  return { messageId: newId(), role: 'ROLE_USER', parts: [{ text: message }] };
}

const waiting = (signal: AbortSignal | undefined): RequestOptions => (signal ? { signal } : {});

const taskIn = ({ task }: Payload): Task => task as Task;
