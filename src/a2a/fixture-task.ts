// A task of the fixture agent: in memory, and driven by a script. Knows no request.
import { setTimeout as pause } from 'node:timers/promises';
import { Fault } from '../errors.js';
import { newId } from '../protocol/ids.js';
import type { MessageJson, TaskState } from '../session/session.js';
import { statusNow } from '../session/task-updates.js';
import { FixturePushes } from './fixture-pushes.js';
import { type Step, scriptFor } from './fixture-scripts.js';
import type { PushSender } from './push.js';
import type { Part } from './requests.js';
import { isOver } from './states.js';
import type { HostedTask, Placed, Task, TaskDelta } from './task-host.js';

/** Messages that are kept of a task. */
const HISTORY_LIMIT = 200;
/** Milliseconds before each step of a script, so that whoever asked can see it. */
const STEP_MS = 20;

type Follower = Parameters<HostedTask['follow']>[0];

interface Artifact {
  readonly artifactId: string;
  readonly parts: readonly Part[];
}

export class FixtureTask implements HostedTask {
  readonly id = newId();
  readonly contextId: string;
  readonly push: FixturePushes;
  #status: Task['status'] = statusNow('TASK_STATE_SUBMITTED');
  #history: MessageJson[] = [];
  readonly #artifacts = new Map<string, Artifact>();
  readonly #followers = new Set<Follower>();
  /** Of the newest change. */
  #sequence = 0;
  /** Of the script that runs: aborted when another begins. */
  #running = new AbortController();

  constructor(contextId: string, sender: PushSender) {
    this.contextId = contextId;
    this.push = new FixturePushes(this.id, sender);
  }

  async snapshot(historyLength = HISTORY_LIMIT): Promise<Task> {
    const history = historyLength === 0 ? [] : this.#history.slice(-historyLength);
    const artifacts = [...this.#artifacts.values()];
    return { id: this.id, contextId: this.contextId, status: this.#status, history, ...(artifacts.length > 0 && { artifacts }) };
  }

  async placed(historyLength?: number): Promise<Placed> {
    return { task: await this.snapshot(historyLength), sequence: this.#sequence };
  }

  /** The same messageId twice is done twice: the conformance kit uses one for many messages. */
  async send(message: MessageJson): Promise<Task> {
    if (isOver(this.#status.state)) throw new Fault('UNSUPPORTED_OPERATION', 'the task has ended and takes no more messages');
    this.#move('TASK_STATE_WORKING');
    this.start(message);
    return this.snapshot();
  }

  /** Does what the script of a message says, from a moment later on; one that still runs is given up. */
  start(message: MessageJson): void {
    this.#history = [...this.#history, { ...message, taskId: this.id, contextId: this.contextId }].slice(-HISTORY_LIMIT);
    this.#running.abort();
    this.#running = new AbortController();
    const script = scriptFor(message.messageId);
    const steps = 'answer' in script ? [{ state: 'TASK_STATE_COMPLETED', says: script.answer } as const] : script;
    this.#run(steps, this.#running.signal).catch(() => {}); // it was given up
  }

  async cancel(): Promise<Task> {
    if (isOver(this.#status.state)) throw new Fault('TASK_NOT_CANCELABLE', `the task is over: ${this.#status.state}`);
    this.#running.abort();
    this.#move('TASK_STATE_CANCELED');
    return this.snapshot();
  }

  follow(listener: Follower): () => void {
    this.#followers.add(listener);
    return () => this.#followers.delete(listener);
  }

  async #run(steps: readonly Step[], signal: AbortSignal): Promise<void> {
    for (const step of steps) {
      await pause('waitMs' in step ? step.waitMs : STEP_MS, undefined, { signal });
      if ('state' in step) this.#move(step.state, step.says);
      if ('artifact' in step) this.#give(step);
    }
  }

  #move(state: TaskState, says?: string): void {
    this.#status = { ...statusNow(state), ...(says !== undefined && { message: this.#words(says) }) };
    this.#tell({ ...this.#names, status: this.#status });
  }

  #give({ artifact: artifactId, parts, append = false, lastChunk = true }: Extract<Step, { artifact: string }>): void {
    const before = append ? (this.#artifacts.get(artifactId)?.parts ?? []) : [];
    this.#artifacts.set(artifactId, { artifactId, parts: [...before, ...parts] });
    this.#tell({ ...this.#names, artifact: { artifactId, parts }, append, lastChunk });
  }

  #tell(delta: TaskDelta): void {
    this.#sequence += 1;
    this.push.tell(delta);
    for (const follower of this.#followers) follower(delta, this.#sequence);
  }

  #words(text: string): MessageJson {
    return { messageId: newId(), role: 'ROLE_AGENT', parts: [{ text }], ...this.#names };
  }

  get #names() {
    return { taskId: this.id, contextId: this.contextId };
  }
}
