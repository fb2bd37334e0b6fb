// Ties what becomes of a task to the trace of the message that it answers. Knows no log and no collector.
import { around, currentSpan, type Tracing, untraced } from '../../tracing/tracing.js';
import type { TaskUpdate } from './updates.js';

export class TaskTrace {
  readonly #tracing: Tracing;
  /** The `traceparent` of the newest message. */
  #message: string | undefined;

  constructor(tracing: Tracing = untraced) {
    this.#tracing = tracing;
  }

  /** A new state is a span in the message's trace, with a link to what brought it about if that is something else (a cancellation, say). Output is none. */
  async tell({ delta }: TaskUpdate, publish: () => Promise<unknown>): Promise<void> {
    const asked = currentSpan()?.traceparent;
    if ('status' in delta && delta.status.state === 'TASK_STATE_WORKING') this.#message = asked ?? this.#message;
    if (!('status' in delta) || this.#message === undefined) return void (await publish());
    const attributes = { 'pty.session_id': delta.taskId, 'pty.task_state': delta.status.state };
    const link = asked === this.#message ? undefined : asked;
    await around(this.#tracing, 'task status', { parent: this.#message, link, attributes }, publish);
  }
}
