// The push configs of a session that has ended: any replica may change them, so that its record alone says what they are. Knows no HTTP.
import { type PushConfig, type PushConfigs, type PushSender, type TaskPushConfig, withoutCredentials } from '../a2a/push.js';
import type { Log } from '../log/log.js';
import { newId } from '../protocol/ids.js';
import { type KeptPush, namedConfig } from './pushes.js';
import { keptSession } from './record.js';
import { rewrite } from './rewrite.js';

export class EndedPushes implements PushConfigs {
  readonly #taskId: string;
  readonly #log: Log;
  readonly #sender: PushSender;

  constructor(taskId: string, log: Log, sender: PushSender) {
    this.#taskId = taskId;
    this.#log = log;
    this.#sender = sender;
  }

  /** Nothing will be sent there, since nothing will happen. */
  async set(config: PushConfig): Promise<TaskPushConfig> {
    const id = config.id ?? newId();
    const named = (push: readonly KeptPush[]) => namedConfig({ ...config, id }, this.#taskId, this.#sender, idsOf(push));
    const changed = await rewrite(this.#log, this.#taskId, ({ push = [], ...kept }) => ({ ...kept, push: withConfig(push, named(push)) }));
    return withoutCredentials(named(changed?.push ?? []));
  }

  async get(id: string): Promise<TaskPushConfig | undefined> {
    return (await this.list()).find((config) => config.id === id);
  }

  async list(): Promise<readonly TaskPushConfig[]> {
    const kept = keptSession(await this.#log.record(this.#taskId));
    return (kept?.push ?? []).map(({ config }) => withoutCredentials(config));
  }

  async remove(id: string): Promise<void> {
    if (!(await this.get(id))) return;
    this.#sender.forget(this.#taskId, id);
    await rewrite(this.#log, this.#taskId, ({ push = [], ...kept }) => ({ ...kept, push: push.filter(({ config }) => config.id !== id) }));
  }
}

const idsOf = (push: readonly KeptPush[]) => push.map(({ config }) => config.id);

function withConfig(pushes: readonly KeptPush[], config: TaskPushConfig): KeptPush[] {
  const isKnown = pushes.some((one) => one.config.id === config.id);
  if (!isKnown) return [...pushes, { config, after: Number.MAX_SAFE_INTEGER }];
  return pushes.map((one) => (one.config.id === config.id ? { ...one, config } : one));
}
