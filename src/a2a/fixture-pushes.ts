// The push configs of a task of the fixture agent: in memory, gone with the task. Knows no delivery.
import { namedConfig } from '../session/pushes.js';
import { type PushConfig, type PushConfigs, type PushSender, type TaskPushConfig, withoutCredentials } from './push.js';
import type { TaskDelta } from './task-host.js';

export class FixturePushes implements PushConfigs {
  readonly #taskId: string;
  readonly #sender: PushSender;
  readonly #configs = new Map<string, TaskPushConfig>();

  constructor(taskId: string, sender: PushSender) {
    this.#taskId = taskId;
    this.#sender = sender;
  }

  async set(config: PushConfig): Promise<TaskPushConfig> {
    const named = namedConfig(config, this.#taskId, this.#sender, [...this.#configs.keys()]);
    this.#configs.set(named.id, named);
    return withoutCredentials(named);
  }

  async get(id: string): Promise<TaskPushConfig | undefined> {
    const config = this.#configs.get(id);
    return config && withoutCredentials(config);
  }

  async list(): Promise<readonly TaskPushConfig[]> {
    return [...this.#configs.values()].map(withoutCredentials);
  }

  async remove(id: string): Promise<void> {
    if (this.#configs.delete(id)) this.#sender.forget(this.#taskId, id);
  }

  /** Something has happened to the task. */
  tell(delta: TaskDelta): void {
    const event = 'artifact' in delta ? { artifactUpdate: delta } : { statusUpdate: delta };
    for (const config of this.#configs.values()) void this.#sender.notify(config, event);
  }
}
