// A conversation with the task of a real session: messages in, and all that its log tells of it. Knows no test.
import { readPayload } from '../../src/protocol/make-frames.js';
import type { Author, Session, TaskJson } from '../../src/session/session.js';
import type { ArtifactDelta, StatusDelta } from '../../src/session/task/updates.js';

type Delta = ArtifactDelta | StatusDelta;
const isArtifact = (delta: Delta): delta is ArtifactDelta => 'artifact' in delta;

export class Conversation {
  readonly session: Session;
  readonly deltas: Delta[] = [];
  #messages = 0;
  #wake: Array<() => void> = [];

  constructor(session: Session) {
    this.session = session;
    session.frames.follow((entries) => {
      for (const entry of entries) {
        const payload = readPayload(entry);
        if (payload.kind === 'TaskStatusUpdate') this.deltas.push(payload.delta as unknown as Delta);
      }
      for (const wake of this.#wake.splice(0)) wake();
    });
  }

  /** Resolves when the message is typed. */
  send(text: string, { messageId = `m-${++this.#messages}`, author = 'message' as Author } = {}): Promise<TaskJson> {
    return this.session.task.send({ messageId, role: 'ROLE_USER', parts: [{ text }] }, { author });
  }

  /** The task as it rests after the message, when the log has told all of it. */
  async ask(text: string): Promise<TaskJson> {
    await this.send(text);
    const task = await this.session.task.rest();
    await this.until(() => this.deltas.some((delta) => 'status' in delta && delta.status.timestamp === task.status.timestamp));
    return task;
  }

  get states(): string[] {
    return this.deltas.flatMap((delta) => (isArtifact(delta) ? [] : [delta.status.state.replace('TASK_STATE_', '')]));
  }

  /** Waits until it holds; a test's own time limit bounds it. */
  async until(holds: (conversation: this) => boolean): Promise<void> {
    while (!holds(this)) await new Promise<void>((resolve) => this.#wake.push(resolve));
  }

  /** An artifact as whoever puts the updates together has it. */
  told(artifactId: 'output' | 'screen'): string {
    return this.updates(artifactId).reduce((text, { artifact, append }) => (append ? text : '') + textOf(artifact), '');
  }

  updates(artifactId: 'output' | 'screen'): ArtifactDelta[] {
    return this.deltas.filter(isArtifact).filter(({ artifact }) => artifact.artifactId === artifactId);
  }
}

export const textOf = ({ parts }: { readonly parts: ReadonlyArray<{ readonly text: string }> }): string =>
  parts.map(({ text }) => text).join('');

export function artifact(task: TaskJson, artifactId: 'output' | 'screen'): string | undefined {
  const found = task.artifacts?.find((one) => one.artifactId === artifactId);
  return found && textOf(found);
}
