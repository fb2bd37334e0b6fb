// The task of a session that has ended, as it was kept. Knows no log and no terminal.
import { Fault } from '../errors.js';
import type { SessionTask, TaskJson } from './session.js';

export class EndedTask implements SessionTask {
  readonly #task: TaskJson;

  constructor(task: TaskJson) {
    this.#task = task;
  }

  async snapshot(historyLength = Number.POSITIVE_INFINITY): Promise<TaskJson> {
    const history = historyLength > 0 ? (this.#task.history ?? []).slice(-historyLength) : [];
    return { ...this.#task, history };
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
