// What becomes of one task, told until it ends or rests (A2A 1.0 §3.1.2, §3.1.6). Knows no binding.
import { Fault } from '../errors.js';
import type { MessageJson } from '../session/session.js';
import { isOver } from './states.js';
import type { HostedTask, Placed, StatusUpdate, Task, TaskDelta } from './task-host.js';

/** Changes that wait for a slow reader, by number and by characters of their JSON; beyond that the stream ends with an error. */
const MAX_WAITING = 1024;
const MAX_WAITING_CHARS = 1_048_576;

/** A2A StreamResponse, as JSON: one member, named after what it holds (§3.2.3). */
export type StreamResponse =
  | { readonly task: Task }
  | { readonly message: MessageJson }
  | { readonly statusUpdate: TaskDelta }
  | { readonly artifactUpdate: TaskDelta };

interface Waiting {
  readonly response: StreamResponse;
  readonly sequence: number;
  readonly chars: number;
}

/** First the task, then each change in order. Ends after the one that `isLast` says yes to, or with RATE_LIMITED if its reader is too slow. */
export class TaskStream implements AsyncIterableIterator<StreamResponse> {
  /** Of the task; undefined if the agent answered with a message alone. */
  readonly taskId: string | undefined;
  readonly #isLast: (state: string) => boolean;
  #waiting: Waiting[] = [];
  #waitingChars = 0;
  #state: 'open' | 'slow' | 'last' | 'over' = 'open';
  /** The place of the first task, once it is known. */
  #from: number | undefined;
  #wake = () => {};
  #stop = () => {};

  private constructor(taskId: string | undefined, isLast: (state: string) => boolean) {
    this.taskId = taskId;
    this.#isLast = isLast;
  }

  /** Follows the task, then does what `act` does and begins with the task as it then is. Rejects, and follows no more, if `act` does. */
  static async open(task: HostedTask, act: () => Promise<Placed>, isLast: (state: string) => boolean = isOver): Promise<TaskStream> {
    const stream = new TaskStream(task.id, isLast);
    stream.#stop = task.follow((delta, sequence) => stream.#take(delta, sequence));
    try {
      stream.#begin(await act());
      return stream;
    } catch (error) {
      await stream.return();
      throw error;
    }
  }

  /** A stream of one message. */
  static of(message: MessageJson): TaskStream {
    const stream = new TaskStream(undefined, isOver);
    stream.#push({ message }, 0);
    stream.#state = 'last';
    return stream;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** To be asked for one at a time. */
  async next(): Promise<IteratorResult<StreamResponse, undefined>> {
    while (this.#state === 'open' && this.#waiting.length === 0) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#state === 'slow') {
      await this.return();
      throw new Fault('RATE_LIMITED', 'this stream was read too slowly for what happened; subscribe to the task again');
    }
    const first = this.#waiting.shift();
    if (!first) return this.return();
    this.#waitingChars -= first.chars;
    return { done: false, value: first.response };
  }

  /** Lets go of the task; whoever waits is told that it is over. */
  async return(): Promise<{ done: true; value: undefined }> {
    this.#finish('over');
    this.#forget();
    return { done: true, value: undefined };
  }

  /** Those changes that came while the first snapshot was made, and are in it, are not told again. */
  #begin({ task, sequence }: Placed): void {
    if (this.#state !== 'open') return;
    const later = this.#waiting.filter((change) => change.sequence > sequence);
    this.#forget();
    this.#from = sequence;
    this.#push({ task }, sequence);
    if (this.#isLast(task.status.state)) this.#finish('last');
    for (const change of later) this.#add(change.response, change.sequence);
  }

  #take(delta: TaskDelta, sequence: number): void {
    this.#add('artifact' in delta ? { artifactUpdate: delta } : { statusUpdate: delta }, sequence);
  }

  #add(response: StreamResponse, sequence: number): void {
    if (this.#state !== 'open' || sequence <= (this.#from ?? 0)) return;
    this.#push(response, sequence);
    if (this.#from !== undefined && 'statusUpdate' in response && this.#isLast(stateIn(response.statusUpdate))) this.#finish('last');
  }

  #push(response: StreamResponse, sequence: number): void {
    const chars = JSON.stringify(response).length;
    this.#waiting.push({ response, sequence, chars });
    this.#waitingChars += chars;
    if (this.#waiting.length > 1 && (this.#waiting.length > MAX_WAITING || this.#waitingChars > MAX_WAITING_CHARS)) this.#finish('slow');
    this.#wake();
  }

  #finish(state: 'slow' | 'last' | 'over'): void {
    this.#state = state;
    this.#stop();
    if (state === 'slow') this.#forget();
    this.#wake();
  }

  #forget(): void {
    this.#waiting = [];
    this.#waitingChars = 0;
  }
}

const stateIn = (delta: TaskDelta): string => (delta as StatusUpdate).status.state;
