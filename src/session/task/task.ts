// The A2A task that a session is: its messages, its state and its artifacts (protocol, "A2A 1.0"). Knows no connection and no HTTP.
import { setTimeout as pause } from 'node:timers/promises';
import type { PushConfigs } from '../../a2a/push.js';
import type { Adapter } from '../../agents/adapter.js';
import { type Look, type MarkAt, TerminalError } from '../../terminal/terminal.js';
import { bounded, gate } from '../bounded.js';
import type { Author, MessageJson, PlacedTask, Sender, SessionTask, TaskJson, TaskState } from '../session.js';
import { notCancelable, takesNoMore } from './ended.js';
import { canceled, type Ending, lastStatus } from './last-word.js';
import { keystrokes, textOf } from './message.js';
import { shortened, TaskOutput } from './output.js';
import { atPrompt, type Prompts, questionIn } from './text.js';
import { artifactUpdate, hasEnded, isResting, saying, statusNow, statusUpdate, type TaskUpdate } from './updates.js';
import { Watch, type WatchPorts } from './watch.js';

/** Messages that are kept of a task; older ones are forgotten first. */
const HISTORY_LIMIT = 200;
/** Ids by which a message sent twice is known, the newest of them. */
const KNOWN_IDS_LIMIT = 1000;
/** UTF-16 units that are kept of each artifact of a task beside its log: the newest. */
const KEPT_OUTPUT = 64 * 1024;
/** How long a screen is waited for before a message is typed, or the task ends, without having seen it, in milliseconds. */
const LOOK_PATIENCE_MS = 2000;
/** How long a program that has just been started may take to come to its first prompt, before it is typed to all the same, in milliseconds. */
const START_PATIENCE_MS = 10_000;

export interface TaskPorts extends WatchPorts {
  /** PERMISSION_DENIED if the author may not type now. What was permitted is typed. */
  permit(author: Author): void;
  /** A message of theirs is typed. */
  typed(from: Sender): void;
  /** Types into the terminal; resolves when the kernel has it. */
  type(bytes: Uint8Array): Promise<void>;
  /** From here on what is printed is followed; or no more. */
  mark(at: MarkAt | undefined): void;
  publish(update: TaskUpdate): void;
  /** The number that the newest update has, or less; the next one has a higher. */
  place(): number;
  /** Without the secrets of the session. */
  conceal<T>(value: T): T;
  /** Whoever goes on with the task must know what it is now: which messages were sent, and whether it works. */
  keep(): void;
  /** Ends the session. */
  end(): void;
  readonly push: PushConfigs;
}

type Params = Readonly<Record<string, unknown>>;

export class TerminalTask implements SessionTask {
  readonly push: PushConfigs;
  readonly #id: string;
  readonly #contextId: string;
  readonly #ports: TaskPorts;
  readonly #adapter: Adapter;
  readonly #watch: Watch;
  readonly #history: MessageJson[] = [];
  readonly #known = new Set<string>();
  /** There was a message. */
  #isUsed = false;
  #status: TaskJson['status'];
  #params: Params = {};
  #waiters: Array<(task: TaskJson) => void> = [];
  /** Opened when the program waits for the first time. */
  readonly #start = gate();
  #isStarting = false;
  /** Messages that are being typed, or wait to be. */
  #untyped = 0;
  /** They are typed one after the other. */
  #typing: Promise<void> = Promise.resolve();
  /** The answer to the newest message. */
  #output: TaskOutput | undefined;
  /** Whether what is printed still belongs to it. */
  #isAnswering = false;
  #prompts: Prompts = { typedAt: '', home: '' };
  #seen: Look | undefined;
  /** Of a former life of the session. */
  readonly #former: TaskJson['artifacts'];

  /** `before` is the task as it was in a former life of the session. */
  constructor(ids: { readonly id: string; readonly contextId: string }, adapter: Adapter, ports: TaskPorts, before?: TaskJson) {
    this.#id = ids.id;
    this.#contextId = ids.contextId;
    this.#adapter = adapter;
    this.#ports = ports;
    this.push = ports.push;
    this.#status = before?.status ?? statusNow('TASK_STATE_WORKING');
    this.#former = before?.artifacts;
    for (const message of before?.history ?? []) this.#remember(message);
    if (before && !isResting(before.status.state)) this.#resume(before);
    const events = {
      saw: (look: Look) => this.#saw(look),
      place: () => (this.#isAnswering ? this.#output?.place : undefined),
      changed: (works: boolean) => this.#changed(works),
    };
    this.#watch = new Watch(ports, events, adapter, !isResting(this.#status.state));
  }

  /** The terminal is there. */
  begin(): void {
    this.#isStarting = !isResting(this.#status.state);
    if (this.#isAnswering) this.#ports.mark(this.#output?.markAt);
    this.#watch.begin();
  }

  async snapshot(historyLength?: number): Promise<TaskJson> {
    return this.now(historyLength);
  }

  async placed(historyLength?: number): Promise<PlacedTask> {
    return { task: this.now(historyLength), sequence: this.#ports.place() };
  }

  now(historyLength = HISTORY_LIMIT): TaskJson {
    const history = historyLength > 0 ? this.#history.slice(-historyLength) : [];
    const artifacts = this.#output?.artifacts ?? this.#former ?? [];
    const task = { id: this.#id, contextId: this.#contextId, status: this.#status, history };
    return artifacts.length > 0 ? { ...task, artifacts } : task;
  }

  /** As it is kept beside the log. */
  kept(): TaskJson {
    const { artifacts, ...task } = this.now();
    return artifacts ? { ...task, artifacts: artifacts.map((artifact) => shortened(artifact, KEPT_OUTPUT)) } : task;
  }

  async send(message: MessageJson, from: Sender): Promise<TaskJson> {
    if (this.#hasEnded) throw takesNoMore();
    const text = textOf(message);
    if (this.#known.has(message.messageId)) return this.now();
    this.#ports.permit(from.author);
    this.#ports.typed(from);
    this.#remember({ ...this.#ports.conceal(message), messageId: message.messageId, taskId: this.#id, contextId: this.#contextId });
    this.#params = this.#ports.conceal(from.serviceParameters ?? {});
    if (!this.#isStarting) this.#watch.hold();
    this.#move('TASK_STATE_WORKING');
    this.#untyped += 1;
    const typed = this.#typing
      .then(() => this.#type(message.messageId, text))
      .finally(() => {
        this.#untyped -= 1;
      });
    this.#typing = typed.catch(() => this.#forget(message.messageId)).finally(() => this.#watch.begin());
    await typed.catch((error) => {
      throw error instanceof TerminalError && error.failure === 'ended' ? takesNoMore() : error;
    });
    return this.now();
  }

  rest(): Promise<TaskJson> {
    if (isResting(this.#status.state)) return Promise.resolve(this.now());
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  async cancel(serviceParameters?: Params): Promise<TaskJson> {
    if (this.#hasEnded) throw notCancelable(this.now());
    if (serviceParameters) this.#params = serviceParameters;
    if (this.#seen) this.#tellRest(this.#seen);
    this.#end(canceled);
    this.#ports.end();
    return this.now();
  }

  /** The terminal printed something. */
  heard(): void {
    this.#watch.heard();
  }

  /** Somebody typed by hand. Done while the task rests, it begins something else than the answer to its message. */
  touched(): void {
    if (!this.#isAnswering || !isResting(this.#status.state)) return;
    this.#isAnswering = false;
    this.#ports.mark(undefined);
  }

  /** Whether something of an answer may still be to tell before the end. */
  get isAnswering(): boolean {
    return this.#isAnswering && !this.#hasEnded;
  }

  /** The process has ended, and all that it printed is on the screen: tells the rest of the answer. */
  async finish(): Promise<void> {
    const look = await this.#look();
    if (look && !this.#hasEnded) this.#tellRest(look);
  }

  /** Looks at the program no more. */
  stop(): void {
    this.#watch.stop();
    this.#start.open();
  }

  /** The session has ended; publishes the last state unless it was published before. */
  close(ending: Ending): void {
    this.#watch.stop();
    if (!this.#hasEnded) this.#end(ending);
  }

  get #ids() {
    return { id: this.#id, contextId: this.#contextId };
  }

  get #hasEnded(): boolean {
    return hasEnded(this.#status.state);
  }

  // ── Messages ──

  #remember(message: MessageJson): void {
    this.#isUsed = true;
    this.#history.push(message);
    if (this.#history.length > HISTORY_LIMIT) this.#history.shift();
    this.#known.add(message.messageId);
    const [oldest] = this.#known;
    if (this.#known.size > KNOWN_IDS_LIMIT && oldest !== undefined) this.#known.delete(oldest);
  }

  /** A message to which a former life of the session gave no whole answer: what is printed from now on belongs to it. */
  #resume({ history = [], artifacts = [] }: TaskJson): void {
    const messageId = history.at(-1)?.messageId;
    if (messageId === undefined) return;
    const output = artifacts.find((one) => one.artifactId === 'output' && one.metadata?.messageId === messageId);
    const former = output?.parts.map((part) => part.text).join('') ?? '';
    this.#output = new TaskOutput({ messageId, text: '', before: undefined, prompts: this.#prompts, former }, this.#adapter.reply);
    this.#isAnswering = true;
  }

  /** It was not typed, and may be sent again. */
  #forget(messageId: string): void {
    this.#known.delete(messageId);
    const at = this.#history.findLastIndex((message) => message.messageId === messageId);
    if (at >= 0) this.#history.splice(at, 1);
  }

  async #type(messageId: string, text: string): Promise<void> {
    if (this.#isStarting) await bounded(this.#start.promise, START_PATIENCE_MS, () => new Error('it is late')).catch(() => {});
    this.#isStarting = false;
    this.#watch.hold();
    const before = await this.#look();
    if (before) this.#tellRest(before);
    this.#prompts = atPrompt(before?.prompt.trimEnd() ?? '', this.#prompts);
    const output = new TaskOutput({ messageId, text: this.#ports.conceal(text), before, prompts: this.#prompts }, this.#adapter.reply);
    this.#ports.mark(output.markAt);
    this.#output = output;
    this.#isAnswering = true;
    const keys = keystrokes(text, this.#adapter, before?.bracketedPaste ?? false);
    const { submitAfterMs } = this.#adapter;
    if (submitAfterMs === 0) return this.#submit(Buffer.concat([keys.text, keys.submit]));
    await this.#ports.type(keys.text);
    await pause(submitAfterMs);
    await this.#submit(keys.submit);
  }

  #submit(bytes: Uint8Array): Promise<void> {
    this.#watch.submits();
    return this.#ports.type(bytes);
  }

  #look(): Promise<Look | undefined> {
    const place = this.#isAnswering ? this.#output?.place : undefined;
    return bounded(this.#ports.look(place), LOOK_PATIENCE_MS, () => new Error('the screen is not ready')).catch(() => undefined);
  }

  // ── What the program does ──

  #saw(look: Look): void {
    this.#seen = look;
    if (!this.#isAnswering || this.#hasEnded) return;
    for (const change of this.#output?.saw(look) ?? []) this.#ports.publish(artifactUpdate(this.now(0), change, this.#params));
  }

  #changed(works: boolean): void {
    if (this.#hasEnded) return;
    const isFirst = this.#isStarting;
    this.#isStarting = false;
    this.#start.open();
    // Somebody has sent a message already, which is typed now.
    if (isFirst && this.#untyped > 0) return;
    if (!works && this.#seen) this.#tellRest(this.#seen);
    if (works) this.#move('TASK_STATE_WORKING');
    else this.#move('TASK_STATE_INPUT_REQUIRED', this.#seen && questionIn(this.#seen));
  }

  #tellRest(look: Look): void {
    if (!this.#isAnswering) return;
    for (const change of this.#output?.rests(look) ?? []) this.#ports.publish(artifactUpdate(this.now(0), change, this.#params));
  }

  /** With what is asked of the client, if anything is. */
  #move(state: TaskState, question = ''): void {
    const message = question === '' ? {} : { message: saying(this.#ids, question) };
    this.#become({ ...statusNow(state), ...message });
    if (this.#isUsed) this.#ports.keep();
  }

  #end(ending: Ending): void {
    this.#become(lastStatus(this.#ids, ending));
  }

  /** The log of a session that nobody sends messages to is told of the end alone. */
  #become(status: TaskJson['status']): void {
    const { state } = status;
    this.#status = status;
    if (this.#isUsed || hasEnded(state)) this.#ports.publish(statusUpdate(this.now(0), this.#params));
    if (!isResting(state)) return;
    for (const done of this.#waiters.splice(0)) done(this.now());
  }
}
