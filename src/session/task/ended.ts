// The task of a session that has ended, as it was kept. Knows no log and no terminal.
import type { PushConfigs } from '../../a2a/push.js';
import { Fault } from '../../errors.js';
import type { PlacedTask, SessionTask, TaskJson } from '../session.js';

export class EndedTask implements SessionTask {
  readonly push: PushConfigs;
  readonly #task: TaskJson;

  constructor(task: TaskJson, push: PushConfigs) {
    this.push = push;
    this.#task = task;
  }

  async snapshot(historyLength = Number.POSITIVE_INFINITY): Promise<TaskJson> {
    const history = historyLength > 0 ? (this.#task.history ?? []).slice(-historyLength) : [];
    return { ...this.#task, history };
  }

  /** Nothing more is told of it. */
  async placed(historyLength?: number): Promise<PlacedTask> {
    return { task: await this.snapshot(historyLength), sequence: Number.MAX_SAFE_INTEGER };
  }

  async send(): Promise<TaskJson> {
    throw takesNoMore();
  }

  async rest(): Promise<TaskJson> {
    return this.snapshot();
  }

  async cancel(): Promise<TaskJson> {
    throw notCancelable(this.#task);
  }
}

export const takesNoMore = (): Fault => new Fault('UNSUPPORTED_OPERATION', 'the task has ended and takes no more messages');
export const notCancelable = ({ status }: TaskJson): Fault => new Fault('TASK_NOT_CANCELABLE', `the task is over: ${status.state}`);
