// The fixture agent: an A2A agent in memory that does what conformance tests expect, beside the real ones (A2A_FIXTURE). Knows no request.
import { Value } from '@sinclair/typebox/value';
import { type Agent, AgentConfig, type Agents } from '../agents.js';
import { type Principal, reaches } from '../principal.js';
import { newId } from '../protocol/ids.js';
import type { MessageJson } from '../session/session.js';
import { scriptFor } from './fixture-scripts.js';
import { FixtureTask } from './fixture-task.js';
import type { PushSender } from './push.js';
import type { Begun, HostedTask, Speaker, TaskHost } from './task-host.js';

export const FIXTURE_ID = 'a2a-fixture';
/** Tasks that are kept; beyond that the oldest is forgotten. */
const MAX_TASKS = 1000;

/** What its card says; its sessions, which no test needs, run cat. */
const fixtureAgent: Agent = {
  ...(Value.Default(AgentConfig, {
    name: 'A2A fixture',
    description: 'Does what the A2A conformance kit expects of an agent, by how a messageId begins.',
    command: ['cat'],
    pty: {},
    policy: {},
  }) as AgentConfig),
  id: FIXTURE_ID,
};

/** The agents, and the fixture. */
export function withFixture<A extends Agents>(agents: A): A {
  return {
    ...agents,
    get: (id) => (id === FIXTURE_ID ? fixtureAgent : agents.get(id)),
    list: () => [...agents.list().filter(({ id }) => id !== FIXTURE_ID), fixtureAgent],
  };
}

export class FixtureHost implements TaskHost {
  readonly inputModes = ['text/plain'];
  readonly outputModes = ['text/plain', 'application/json'];
  readonly pushes = true;
  readonly #sender: PushSender;
  readonly #tasks = new Map<string, FixtureTask>();

  constructor(sender: PushSender) {
    this.#sender = sender;
  }

  async find(taskId: string, principal: Principal): Promise<HostedTask | undefined> {
    return reaches(principal, FIXTURE_ID, taskId) ? this.#tasks.get(taskId) : undefined;
  }

  async list(principal: Principal): Promise<readonly HostedTask[]> {
    return [...this.#tasks.values()].filter(({ id }) => reaches(principal, FIXTURE_ID, id));
  }

  async begin(message: MessageJson, _principal: Principal, _from: Speaker, prepare: (task: HostedTask) => Promise<void>): Promise<Begun> {
    const script = scriptFor(message.messageId);
    const contextId = (message.contextId as string | undefined) ?? newId();
    if ('answer' in script) return { message: { messageId: newId(), contextId, role: 'ROLE_AGENT', parts: [{ text: script.answer }] } };
    const task = new FixtureTask(contextId, this.#sender);
    await prepare(task);
    this.#keep(task);
    task.start(message);
    return { task };
  }

  #keep(task: FixtureTask): void {
    this.#tasks.set(task.id, task);
    const [oldest] = this.#tasks.keys();
    if (this.#tasks.size > MAX_TASKS && oldest !== undefined) this.#tasks.delete(oldest);
  }
}
