// Ordered, reliable messages between replicas over Redis: a stream for each life of a replica. Knows not what the messages say.
import { randomUUID } from 'node:crypto';
import { SealError } from '../keyring.js';
import { Seldom } from '../logging/seldom.js';
import { bounded } from '../session/bounded.js';
import { type Bus, BusError } from '../session/replicas/cluster.js';
import type { Logger } from '../session/sessions.js';
import type { Client } from './client.js';
import { Inbox } from './inbox.js';
import { Lane } from './lane.js';
import type { RedisLeases } from './leases.js';
import { Listeners } from './listeners.js';

/** Largest message, in bytes: a payload of two MiB, and what is said about it. */
const MESSAGE_BYTES = 4 * 1024 * 1024;
/** How long a message waits for the store unless told otherwise, in milliseconds. */
const SEND_MS = 5000;
/** How long what was sent may still be handed over at the end, in milliseconds. */
const CLOSE_MS = 1000;
/** How often it is told at most that messages of a replica cannot be handled, and why, in milliseconds. */
const TOLD_AGAIN_MS = 600_000;

export interface BusOptions {
  /** For all but the blocking read, which gets a connection of its own. Not closed here. */
  readonly client: Client;
  readonly prefix: string;
  /** Whose lives the inboxes are named after. */
  readonly leases: RedisLeases;
  readonly logger: Logger;
}

export function openBus(options: BusOptions): Bus {
  return new RedisBus(options);
}

class RedisBus implements Bus {
  readonly replicaId: string;
  readonly #options: BusOptions;
  readonly #sender = randomUUID();
  /** By replica; each for one life of it. */
  readonly #lanes = new Map<string, Lane>();
  readonly #gaps: Listeners<[from: string, lost: number]>;
  readonly #stops: ReadonlyArray<() => void>;
  readonly #unhandled = new Seldom(TOLD_AGAIN_MS);
  #inbox: Inbox | undefined;
  #isOpen = true;

  constructor(options: BusOptions) {
    this.#options = options;
    this.replicaId = options.leases.replicaId;
    this.#gaps = new Listeners((error) => options.logger.error({ err: error }, 'a listener to gaps has failed'));
    this.#stops = [options.leases.onDeath((id) => this.#bury(id)), options.leases.onRegained(() => this.#inbox?.turn())];
  }

  async send(to: string, message: Uint8Array, { timeoutMs = SEND_MS }: { readonly timeoutMs?: number } = {}): Promise<void> {
    if (!this.#isOpen) throw new BusError('closed', 'this replica sends no more messages');
    if (message.byteLength > MESSAGE_BYTES) {
      throw new BusError('too_big', `a message has ${message.byteLength} bytes; expected at most ${MESSAGE_BYTES}`);
    }
    await this.#laneTo(to).send(message, timeoutMs);
  }

  receive(handler: (from: string, message: Uint8Array) => void): void {
    if (this.#inbox) throw new Error('the bus has its handler already');
    const { client, leases, logger } = this.#options;
    this.#inbox = new Inbox({
      client,
      logger,
      key: () => this.#inboxOf(this.replicaId, leases.lifeOf(this.replicaId)),
      handle: (from, message) => this.#handle(handler, from, message),
      gap: (from, lost) => {
        logger.error({ from, lost }, 'messages of another replica were lost');
        this.#gaps.tell(from, lost);
      },
    });
  }

  onGap(listener: (from: string, lost: number) => void): () => void {
    return this.#gaps.add(listener);
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    for (const stop of this.#stops) stop();
    await this.#inbox?.close();
    const idle = Promise.all([...this.#lanes.values()].map((lane) => lane.idle()));
    await bounded(idle, CLOSE_MS, () => new Error('late')).catch(() => {});
    for (const lane of this.#lanes.values()) lane.end(new BusError('closed', 'this replica sends no more messages'));
    this.#lanes.clear();
    this.#unhandled.close();
  }

  #handle(handler: (from: string, message: Uint8Array) => void, from: string, message: Uint8Array): void {
    try {
      handler(from, message);
    } catch (error) {
      this.#tellUnhandled(from, error);
    }
  }

  /** Keys that do not fit are nobody's fault in the code: a stack would say nothing of them. */
  #tellUnhandled(from: string, error: unknown): void {
    const why = error instanceof SealError ? { reason: error.message } : { err: error };
    this.#unhandled.tell(`${from} ${error}`, (times) => {
      this.#options.logger.error({ from, ...why, times }, 'a message of another replica could not be handled');
    });
  }

  #laneTo(to: string): Lane {
    const known = this.#lanes.get(to);
    if (known) return known;
    const { client, leases } = this.#options;
    const inbox = async () => this.#inboxOf(to, await leases.findLife(to));
    const lane = new Lane({ client, from: this.replicaId, sender: this.#sender, to, inbox, gone: () => this.#bury(to) });
    this.#lanes.set(to, lane);
    return lane;
  }

  #bury(id: string): void {
    const lane = this.#lanes.get(id);
    this.#lanes.delete(id);
    lane?.end(new BusError('gone', `replica ${id} is dead, or was never there`));
  }

  #inboxOf(id: string, life: string | undefined): string | undefined {
    return life === undefined ? undefined : `${this.#options.prefix}:{replica:${id}}:inbox:${life}`;
  }
}
