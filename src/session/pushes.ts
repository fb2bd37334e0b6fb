// Whom a session's task tells of its updates: kept with its record, and fed from its log. Knows no HTTP and no terminal.
//
// A receiver is a place in the log: all up to it was delivered or given up. Whoever goes on with the session goes on from there, so that each
// update is sent at least once; the updates of the last moment before a death may be sent twice.
import {
  MAX_PUSH_CONFIGS,
  type PushConfig,
  type PushConfigs,
  type PushSender,
  type StreamResponse,
  type TaskPushConfig,
  withoutCredentials,
} from '../a2a/push.js';
import { Fault } from '../errors.js';
import type { LogReader, Numbered } from '../log/log.js';
import { newId } from '../protocol/ids.js';
import { readPayload } from '../protocol/make-frames.js';

/** How long places that have moved may be kept nowhere, in milliseconds. */
const KEEP_MS = 1000;
/** One read of the log, at most. */
const READ = { frames: 256, bytes: 1024 * 1024 };

export interface KeptPush {
  readonly config: TaskPushConfig;
  /** All updates with this number or a lower one are settled there. */
  readonly after: number;
}

/** Keeps the receivers with the session's record; `isTold`: nothing is left to be told. */
export type Keep = (pushes: readonly KeptPush[], isTold: boolean) => Promise<void>;

export interface PushesParts {
  readonly taskId: string;
  readonly frames: LogReader;
  readonly sender: PushSender;
  readonly keep: Keep;
  /** What was to be told cannot be read. */
  failed(error: unknown): void;
}

/** Where nothing is pushed. */
export const noSender: PushSender = {
  refusal: () => 'nothing is pushed from here',
  notify: async () => 'left',
  forget: () => {},
  close: async () => {},
};

interface Receiver {
  config: TaskPushConfig;
  /** The last update that was handed to the sender, or is none of its business. */
  fed: number;
  /** Numbers of the updates that are on their way, ascending. */
  readonly pending: number[];
}

export class Pushes implements PushConfigs {
  readonly #parts: PushesParts;
  readonly #receivers = new Map<string, Receiver>();
  readonly #sending = new Set<Promise<void>>();
  #keep: Keep;
  /** Updates are handed over one append after the other, those of the past first. */
  #fed: Promise<void> = Promise.resolve();
  #unfollow: (() => void) | undefined;
  #keeping: NodeJS.Timeout | undefined;

  /** `kept` are those of a former owner, who has written up to where the log is now. */
  constructor(parts: PushesParts, kept: readonly KeptPush[] = []) {
    this.#parts = parts;
    this.#keep = parts.keep;
    for (const { config, after } of kept) this.#receivers.set(config.id, { config, fed: after, pending: [] });
    if (kept.length === 0) return;
    this.#fed = this.#catchUp(parts.frames.extent().current).catch((error) => parts.failed(error));
    this.#follow();
  }

  async set(config: PushConfig): Promise<TaskPushConfig> {
    const { taskId, frames } = this.#parts;
    const named = namedConfig(config, taskId, this.#parts.sender, [...this.#receivers.keys()]);
    const known = this.#receivers.get(named.id);
    if (known) known.config = named;
    else this.#receivers.set(named.id, { config: named, fed: frames.extent().current, pending: [] });
    this.#follow();
    await this.#keep(this.kept(), false);
    return withoutCredentials(named);
  }

  async get(id: string): Promise<TaskPushConfig | undefined> {
    const receiver = this.#receivers.get(id);
    return receiver && withoutCredentials(receiver.config);
  }

  async list(): Promise<readonly TaskPushConfig[]> {
    return [...this.#receivers.values()].map(({ config }) => withoutCredentials(config));
  }

  async remove(id: string): Promise<void> {
    if (!this.#receivers.delete(id)) return;
    this.#parts.sender.forget(this.#parts.taskId, id);
    await this.#keep(this.kept(), false);
  }

  /** As the record has them. */
  kept(): readonly KeptPush[] {
    return [...this.#receivers.values()].map(({ config, fed, pending }) => ({ config, after: (pending[0] ?? fed + 1) - 1 }));
  }

  /** The log has all that there will ever be. Resolves when all of it is settled, or left for somebody else, and `keep` knows. */
  async finish(keep: Keep): Promise<void> {
    this.#unfollow?.();
    await this.#fed;
    await Promise.all(this.#sending);
    clearTimeout(this.#keeping);
    this.#keep = keep;
    if (this.#receivers.size > 0)
      await keep(
        this.kept(),
        [...this.#receivers.values()].every(({ pending }) => pending.length === 0),
      );
  }

  /** Somebody else goes on with it, from what is returned. */
  leave(): readonly KeptPush[] {
    this.#unfollow?.();
    clearTimeout(this.#keeping);
    for (const id of this.#receivers.keys()) this.#parts.sender.forget(this.#parts.taskId, id, 'left');
    return this.kept();
  }

  #follow(): void {
    this.#unfollow ??= this.#parts.frames.follow((entries) => {
      const updates = entries.filter(({ kind }) => kind === 'TaskStatusUpdate');
      if (updates.length > 0) this.#fed = this.#fed.then(() => this.#feed(updates));
    });
  }

  async #catchUp(upTo: number): Promise<void> {
    const { frames } = this.#parts;
    let after = Math.min(...[...this.#receivers.values()].map(({ fed }) => fed));
    while (after < upTo) {
      const entries = await frames.read(after, READ);
      this.#feed(entries.filter(({ kind, sequence }) => kind === 'TaskStatusUpdate' && sequence <= upTo));
      after = entries.at(-1)?.sequence ?? upTo;
    }
  }

  #feed(updates: readonly Numbered[]): void {
    for (const update of updates) {
      const event = eventOf(update);
      for (const receiver of this.#receivers.values()) if (update.sequence > receiver.fed) this.#send(receiver, update.sequence, event);
    }
  }

  #send(receiver: Receiver, sequence: number, event: StreamResponse): void {
    receiver.fed = sequence;
    receiver.pending.push(sequence);
    const sent = this.#parts.sender.notify(receiver.config, event).then((outcome) => {
      this.#sending.delete(sent);
      if (outcome === 'left') return;
      receiver.pending.splice(receiver.pending.indexOf(sequence), 1);
      this.#keepSoon();
    });
    this.#sending.add(sent);
  }

  #keepSoon(): void {
    this.#keeping ??= setTimeout(() => {
      this.#keeping = undefined;
      this.#keep(this.kept(), false).catch(() => {}); // whoever goes on sends more of it again
    }, KEEP_MS).unref();
  }
}

/** Those that are the right ones at each call. */
export function whichever(which: () => Promise<PushConfigs>): PushConfigs {
  return {
    set: async (config) => (await which()).set(config),
    get: async (id) => (await which()).get(id),
    list: async () => (await which()).list(),
    remove: async (id) => (await which()).remove(id),
  };
}

/** A config as it is kept. Throws INVALID_REQUEST if it cannot be; `known` are the ids of those that are there. */
export function namedConfig(config: PushConfig, taskId: string, sender: PushSender, known: readonly string[]): TaskPushConfig {
  if (config.taskId !== undefined && config.taskId !== taskId) throw wrong('taskId', `this task is ${taskId}`);
  const refusal = sender.refusal(config.url);
  if (refusal !== undefined) throw wrong('url', refusal);
  const id = config.id ?? newId();
  if (!known.includes(id) && known.length >= MAX_PUSH_CONFIGS) {
    throw new Fault('INVALID_REQUEST', `this task has its ${MAX_PUSH_CONFIGS} push notification configs; remove one first`);
  }
  return { ...config, id, taskId };
}

const wrong = (member: string, why: string) => new Fault('INVALID_REQUEST', `pushNotificationConfig.${member}: ${why}`);

function eventOf(update: Numbered): StreamResponse {
  const { delta } = readPayload(update) as unknown as { readonly delta: object };
  return 'artifact' in delta ? { artifactUpdate: delta } : { statusUpdate: delta };
}
