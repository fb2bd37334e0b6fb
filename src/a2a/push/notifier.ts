// Delivers updates of tasks to their receivers, whoever's tasks they are: each at least once, or counted and told. Knows no session.
import type { PushOutcome, PushSender, StreamResponse, TaskPushConfig } from '../push.js';
import type { AddressGuard } from './address-guard.js';
import { Delivery } from './delivery.js';
import { Outbox } from './outbox.js';
import { defaultRetries, type Retries } from './retries.js';

/** Bytes that may wait for all receivers together. */
const MAX_ALL_BYTES = 64 * 1024 * 1024;

export interface NotifierParts {
  readonly guard: AddressGuard;
  readonly logger: { warn(fields: object, message: string): void };
  readonly retries?: Retries;
  /** How long `close` waits for what is on its way, in milliseconds. */
  readonly patienceMs: number;
}

/** The events for one config, and where they go now. */
interface Line {
  config: TaskPushConfig;
  readonly outbox: Outbox;
}

export class Notifier implements PushSender {
  /** How many events had each outcome. */
  readonly counts: Record<PushOutcome, number> = { delivered: 0, failed: 0, dropped: 0, left: 0 };
  readonly #guard: AddressGuard;
  readonly #delivery: Delivery;
  readonly #patienceMs: number;
  /** By task and config, while anything waits. */
  readonly #lines = new Map<string, Line>();
  readonly #bodies = new WeakMap<StreamResponse, Buffer>();
  #bytes = 0;
  #isOpen = true;
  #allEmpty: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  constructor({ guard, logger, patienceMs, retries = defaultRetries }: NotifierParts) {
    this.#guard = guard;
    this.#patienceMs = patienceMs;
    this.#delivery = new Delivery({ guard, logger, retries });
  }

  refusal(url: string): string | undefined {
    return this.#guard.refusal(url);
  }

  /** Events for one config are delivered in the order of the calls; what waits goes where the newest version of its config says. */
  async notify(config: TaskPushConfig, event: StreamResponse): Promise<PushOutcome> {
    const outcome = this.#isOpen ? await this.#lineTo(config).outbox.put({ event, body: this.#body(event) }) : 'left';
    this.counts[outcome] += 1;
    return outcome;
  }

  forget(taskId: string, configId: string, as: PushOutcome = 'dropped'): void {
    const key = keyOf(taskId, configId);
    this.#lines.get(key)?.outbox.cancel(as);
    this.#lines.delete(key);
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#isOpen = false;
    const empty = new Promise<void>((resolve) => {
      this.#allEmpty = resolve;
      if (this.#lines.size === 0) resolve();
    });
    const timer = setTimeout(() => {
      for (const { outbox } of this.#lines.values()) outbox.cancel('left');
    }, this.#patienceMs);
    await empty;
    clearTimeout(timer);
    await this.#delivery.close();
  }

  #lineTo(config: TaskPushConfig): Line {
    const key = keyOf(config.taskId, config.id);
    const line = this.#lines.get(key) ?? this.#open(key, config);
    line.config = config;
    return line;
  }

  #open(key: string, config: TaskPushConfig): Line {
    const line: Line = {
      config,
      outbox: new Outbox({
        deliver: ({ body }, canceled) => this.#delivery.deliver(() => line.config, body, canceled),
        isFull: () => this.#bytes > MAX_ALL_BYTES,
        weigh: (bytes) => {
          this.#bytes += bytes;
        },
        empty: () => this.#emptied(key, line),
      }),
    };
    this.#lines.set(key, line);
    return line;
  }

  #emptied(key: string, line: Line): void {
    if (this.#lines.get(key) === line) this.#lines.delete(key);
    if (this.#lines.size === 0) this.#allEmpty?.();
  }

  /** One for all receivers of an event. */
  #body(event: StreamResponse): Buffer {
    const body = this.#bodies.get(event) ?? Buffer.from(JSON.stringify(event));
    this.#bodies.set(event, body);
    return body;
  }
}

const keyOf = (taskId: string, configId: string) => JSON.stringify([taskId, configId]);
