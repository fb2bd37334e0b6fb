// The A2A task that a session is: its messages and its state (protocol, "A2A 1.0"). Knows no connection and no HTTP.
import type { PushConfigs } from '../a2a/push.js';
import { Fault } from '../errors.js';
import type { Author, MessageJson, SessionTask, TaskJson, TaskState } from './session.js';
import { notCancelable, takesNoMore } from './task-ended.js';
import { hasEnded, isResting, statusNow, statusUpdate, type TaskUpdate } from './task-updates.js';

/** Messages that are kept of a task; older ones are forgotten first. */
const HISTORY_LIMIT = 200;
/** Ids by which a message sent twice is known, the newest of them. */
const KNOWN_IDS_LIMIT = 1000;
/** Silence after a message that is taken for a prompt, in milliseconds. */
const QUIET_MS = 1000;

export interface TaskPorts {
  /** Types into the terminal; PERMISSION_DENIED if the author may not. Resolves when the kernel has it. */
  type(author: Author, bytes: Uint8Array): Promise<void>;
  publish(update: TaskUpdate): void;
  /** Without the secrets of the session. */
  conceal<T>(value: T): T;
  /** Ends the session. */
  end(): void;
  readonly push: PushConfigs;
}

/** How a session ended, as far as its task is concerned. */
export interface Ending {
  readonly exitCode: number | null;
  /** Somebody wanted it so (CancelTask, DELETE). */
  readonly canceled: boolean;
}

type Params = Readonly<Record<string, unknown>>;

export class TerminalTask implements SessionTask {
  readonly push: PushConfigs;
  readonly #id: string;
  readonly #contextId: string;
  readonly #ports: TaskPorts;
  readonly #history: MessageJson[] = [];
  readonly #known = new Set<string>();
  #status: TaskJson['status'];
  #params: Params = {};
  #waiters: Array<(task: TaskJson) => void> = [];
  #quiet: NodeJS.Timeout | undefined;

  /** `before` is the task as it was in a former life of the session. */
  constructor(ids: { readonly id: string; readonly contextId: string }, ports: TaskPorts, before?: TaskJson) {
    this.#id = ids.id;
    this.#contextId = ids.contextId;
    this.#ports = ports;
    this.push = ports.push;
    this.#status = before?.status ?? statusNow('TASK_STATE_WORKING');
    for (const message of before?.history ?? []) this.#remember(message);
  }

  async snapshot(historyLength?: number): Promise<TaskJson> {
    return this.now(historyLength);
  }

  now(historyLength = HISTORY_LIMIT): TaskJson {
    const history = historyLength > 0 ? this.#history.slice(-historyLength) : [];
    return { id: this.#id, contextId: this.#contextId, status: this.#status, history };
  }

  async send(message: MessageJson, from: { readonly author: Author; readonly serviceParameters?: Params }): Promise<TaskJson> {
    if (this.#hasEnded) throw takesNoMore();
    const text = textOf(message);
    if (this.#known.has(message.messageId)) return this.now();
    const typed = this.#ports.type(from.author, Buffer.from(`${text.replaceAll(/\r?\n/g, '\r')}\r`));
    this.#remember({ ...this.#ports.conceal(message), messageId: message.messageId, taskId: this.#id, contextId: this.#contextId });
    this.#params = this.#ports.conceal(from.serviceParameters ?? {});
    this.#move('TASK_STATE_WORKING');
    this.#listen();
    await typed;
    return this.now();
  }

  rest(): Promise<TaskJson> {
    if (isResting(this.#status.state)) return Promise.resolve(this.now());
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  async cancel(serviceParameters?: Params): Promise<TaskJson> {
    if (this.#hasEnded) throw notCancelable(this.now());
    if (serviceParameters) this.#params = serviceParameters;
    this.#move('TASK_STATE_CANCELED');
    this.#ports.end();
    return this.now();
  }

  /** The terminal printed something. */
  heard(): void {
    this.#quiet?.refresh();
  }

  /** The session has ended; publishes the last state unless it was published before. */
  close({ exitCode, canceled }: Ending): void {
    clearTimeout(this.#quiet);
    this.#quiet = undefined;
    if (this.#hasEnded) return;
    if (canceled) this.#move('TASK_STATE_CANCELED');
    else this.#move(exitCode === 0 ? 'TASK_STATE_COMPLETED' : 'TASK_STATE_FAILED');
  }

  get #hasEnded(): boolean {
    return hasEnded(this.#status.state);
  }

  #remember(message: MessageJson): void {
    this.#history.push(message);
    if (this.#history.length > HISTORY_LIMIT) this.#history.shift();
    this.#known.add(message.messageId);
    const [oldest] = this.#known;
    if (this.#known.size > KNOWN_IDS_LIMIT && oldest !== undefined) this.#known.delete(oldest);
  }

  #listen(): void {
    clearTimeout(this.#quiet);
    this.#quiet = setTimeout(() => {
      this.#quiet = undefined;
      this.#move('TASK_STATE_INPUT_REQUIRED');
    }, QUIET_MS).unref();
  }

  #move(state: TaskState): void {
    this.#status = statusNow(state);
    this.#ports.publish(statusUpdate(this.now(0), this.#params));
    if (!isResting(state)) return;
    for (const done of this.#waiters.splice(0)) done(this.now());
  }
}

function textOf(message: MessageJson): string {
  const texts = message.parts.map((part) => part.text);
  if (texts.length === 0 || texts.some((text) => typeof text !== 'string')) {
    throw new Fault('INVALID_REQUEST', 'message.parts: a terminal takes text parts alone, and at least one');
  }
  return texts.join('\n');
}
