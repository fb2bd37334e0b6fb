// Sessions as A2A's tasks: each is one task, with the session's id (protocol, "A2A 1.0"). Knows no request.

import type { Principal } from '../access/principal.js';
import { VisibleSessions } from '../access/visible-sessions.js';
import type { Agent } from '../agents/agents.js';
import { Fault } from '../errors.js';
import type { Idempotency } from '../idempotency.js';
import { readPayload } from '../protocol/make-frames.js';
import type { Sessions } from '../session/registry.js';
import type { MessageJson, Session } from '../session/session.js';
import { textOf } from '../session/task/message.js';
import { noSuchTask, requireContext } from './send.js';
import { isOver } from './states.js';
import type { Begun, HostedTask, ListedTask, Speaker, TaskDelta, TaskHost } from './task-host.js';

/** What is typed into a terminal (data as its JSON), and what is read from it. */
const INPUT_MODES = ['text/*', 'application/json'] as const;
const OUTPUT_MODES = ['text/plain'] as const;

export interface SessionHostParts {
  readonly sessions: Sessions;
  readonly agent: Agent;
  /** Ids of the sessions that were begun by messages, so that a message that comes twice begins one. */
  readonly begun: Idempotency;
  /** Told of each session that a message begins. */
  onBegun?(session: Session): void;
}

export class SessionHost implements TaskHost {
  readonly inputModes = INPUT_MODES;
  readonly outputModes = OUTPUT_MODES;
  readonly pushes = true;
  readonly #parts: SessionHostParts;

  constructor(parts: SessionHostParts) {
    this.#parts = parts;
  }

  async find(taskId: string, principal: Principal): Promise<HostedTask | undefined> {
    const { sessions, agent } = this.#parts;
    const { session, isDenial } = await new VisibleSessions(sessions, principal).find(agent.id, taskId);
    if (isDenial) throw noSuchTask(taskId, { isDenial });
    return session && hosted(session);
  }

  async list(principal: Principal): Promise<readonly ListedTask[]> {
    const { sessions, agent } = this.#parts;
    return new VisibleSessions(sessions, principal).list(agent.id);
  }

  async begin(message: MessageJson, principal: Principal, from: Speaker, prepare: (task: HostedTask) => Promise<void>): Promise<Begun> {
    new VisibleSessions(this.#parts.sessions, principal).demandCreation();
    // What cannot be typed begins no session.
    textOf(message);
    const { sessions, agent, begun } = this.#parts;
    const key = JSON.stringify(['message', principal.name, agent.id, message.messageId]);
    const id = await begun.once(key, null, () => this.#create(message, principal, from, prepare));
    const session = await sessions.find(agent.id, id);
    if (!session) throw new Fault('TASK_NOT_FOUND', 'the task that this messageId began is kept no more');
    return { task: hosted(session) };
  }

  /** A session whose first message could not be typed is ended, for nobody knows of it; how a program ended before it could be is the answer. */
  async #create(message: MessageJson, principal: Principal, from: Speaker, prepare: (task: HostedTask) => Promise<void>): Promise<string> {
    const { sessions, agent, onBegun } = this.#parts;
    const session = await sessions.create(agent, {}, principal.name, message.contextId as string | undefined);
    onBegun?.(session);
    const task = hosted(session);
    try {
      await prepare(task);
      await task.send(message, from);
    } catch (error) {
      if (await endsByItself(session, error)) return session.id;
      await task.cancel().catch(() => {});
      throw error;
    }
    return session.id;
  }
}

/** The host of a connection to one session (pty-ws §11): its task is the only one, and takes the messages that name none. */
export class OneSession implements TaskHost {
  readonly inputModes = INPUT_MODES;
  readonly outputModes = OUTPUT_MODES;
  readonly pushes = true;
  readonly #task: HostedTask;

  constructor(session: Session) {
    this.#task = hosted(session);
  }

  async find(taskId: string): Promise<HostedTask | undefined> {
    return taskId === this.#task.id ? this.#task : undefined;
  }

  async list(): Promise<readonly HostedTask[]> {
    return [this.#task];
  }

  async begin(message: MessageJson, _principal: Principal, from: Speaker, prepare: (task: HostedTask) => Promise<void>): Promise<Begun> {
    requireContext(this.#task, message.contextId);
    await prepare(this.#task);
    await this.#task.send(message, from);
    return { task: this.#task };
  }
}

/** Whether a message came too late for a program that ends; resolves when it has ended. */
async function endsByItself({ task }: Session, error: unknown): Promise<boolean> {
  if (!(error instanceof Fault && error.code === 'UNSUPPORTED_OPERATION')) return false;
  return isOver((await task.rest()).status.state);
}

function hosted(session: Session): HostedTask {
  const { id, task, frames } = session;
  return {
    id,
    contextId: session.describe().context_id,
    snapshot: (historyLength) => task.snapshot(historyLength),
    placed: (historyLength) => task.placed(historyLength),
    send: (message, from) => task.send(message, from),
    cancel: (serviceParameters) => task.cancel(serviceParameters),
    follow: (listener) =>
      frames.follow((entries) => {
        for (const entry of entries) if (entry.kind === 'TaskStatusUpdate') listener(deltaOf(entry), entry.sequence);
      }),
    push: task.push,
  };
}

function deltaOf(entry: Parameters<typeof readPayload>[0]): TaskDelta {
  return (readPayload(entry) as unknown as { delta: TaskDelta }).delta;
}
