// What a message is answered with when others came after it: all that was printed since, put together from what was told. Knows no binding.
import { newest } from '../terminal/since-mark.js';
import type { Task } from './task-host.js';
import type { StreamResponse } from './task-stream.js';

/** UTF-16 units of the answer that belong to messages before the newest; the newest of them are kept. */
const MAX_EARLIER = 1024 * 1024;

/** The artifact `output` of a session's task: each message begins it anew. */
interface Output {
  readonly artifactId: string;
  readonly parts: ReadonlyArray<{ readonly text?: string }>;
  readonly metadata: { readonly messageId: string; readonly [key: string]: unknown };
}

export class Answer {
  readonly #messageId: string;
  /** Whose output is told now, and what was printed before it, since the message. */
  #speaker: string;
  #now = '';
  #earlier = '';

  constructor(messageId: string) {
    this.#messageId = messageId;
    this.#speaker = messageId;
  }

  /** To be given all that is told of the task from the message on, in order. */
  take(event: StreamResponse): void {
    if ('task' in event) this.#take(outputIn(event.task.artifacts), false);
    if (!('artifactUpdate' in event)) return;
    const { artifact, append = false } = event.artifactUpdate as { readonly artifact: object; readonly append?: boolean };
    this.#take(outputIn([artifact]), append);
  }

  /** The task at rest, with the answer to this message in the place of a newer one's. */
  in(task: Task): Task {
    const output = outputIn(task.artifacts);
    if (!output || output.metadata.messageId === this.#messageId) return task;
    this.#take(output, false);
    const parts = [{ text: this.#earlier + this.#now, mediaType: 'text/plain' }];
    const mine = { ...output, parts, metadata: { ...output.metadata, messageId: this.#messageId } };
    return { ...task, artifacts: (task.artifacts ?? []).map((artifact) => (artifact === (output as object) ? mine : artifact)) };
  }

  #take(output: Output | undefined, append: boolean): void {
    if (!output) return;
    if (output.metadata.messageId !== this.#speaker) {
      this.#earlier = newest(this.#earlier + this.#now, MAX_EARLIER);
      this.#now = '';
      this.#speaker = output.metadata.messageId;
    }
    const text = output.parts.map((part) => part.text ?? '').join('');
    this.#now = append ? this.#now + text : text;
  }
}

function outputIn(artifacts: readonly object[] = []): Output | undefined {
  return artifacts.find((artifact): artifact is Output => {
    const { artifactId, metadata } = artifact as Partial<Output>;
    return artifactId === 'output' && metadata?.messageId !== undefined;
  });
}
