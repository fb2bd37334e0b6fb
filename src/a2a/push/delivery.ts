// One event to one receiver: attempts until it is taken, refused, or given up, and a line for the operator in the last two cases. Knows no queue.
import { setTimeout as pause } from 'node:timers/promises';
import { Agent } from 'undici';
import type { TaskPushConfig } from '../push.js';
import type { AddressGuard } from './address-guard.js';
import { type Attempt, post } from './post.js';
import { pauseBefore, type Retries } from './retries.js';
import { Slots } from './slots.js';

/** How long a connection that is not used is kept, in milliseconds. */
const IDLE_MS = 10_000;

export interface DeliveryParts {
  readonly guard: AddressGuard;
  readonly retries: Retries;
  readonly logger: { warn(fields: object, message: string): void };
}

export class Delivery {
  readonly #parts: DeliveryParts;
  readonly #agent: Agent;
  readonly #slots = new Slots();

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    this.#agent = new Agent({ connect: parts.guard.connector(), keepAliveTimeout: IDLE_MS });
  }

  /** `config` is asked before each attempt. Undefined if it was canceled before anything else was certain. Never rejects. */
  async deliver(config: () => TaskPushConfig, body: Buffer, canceled: AbortSignal): Promise<'delivered' | 'failed' | undefined> {
    const began = performance.now();
    for (let made = 1; !canceled.aborted; made += 1) {
      const attempt = await this.#attempt(config(), body, canceled);
      if (attempt.is === 'delivered') return 'delivered';
      if (canceled.aborted) return undefined;
      const ms = this.#pause(attempt, made, performance.now() - began);
      if (ms === undefined) return this.#giveUp(config(), attempt.why, made);
      await pause(ms, undefined, { signal: canceled }).catch(() => {});
    }
    return undefined;
  }

  /** Ends its connections. */
  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async #attempt(config: TaskPushConfig, body: Buffer, canceled: AbortSignal): Promise<Attempt> {
    const why = this.#parts.guard.refusal(config.url);
    if (why !== undefined) return { is: 'refused', why };
    return this.#slots.within(new URL(config.url).host, () => post(config, body, this.#agent, canceled));
  }

  #pause(attempt: Attempt, made: number, elapsedMs: number): number | undefined {
    if (attempt.is !== 'failed') return undefined;
    return pauseBefore(this.#parts.retries, { made, elapsedMs, retryAfterMs: attempt.retryAfterMs });
  }

  /** User name, path and query of a URL may be secrets. */
  #giveUp({ taskId, id, url }: TaskPushConfig, why: string, attempts: number): 'failed' {
    const receiver = URL.canParse(url) ? new URL(url).origin : undefined;
    this.#parts.logger.warn({ task_id: taskId, config_id: id, receiver, attempts, why }, 'a push notification was not delivered');
    return 'failed';
  }
}
