// Hears sharded channels: one connection a node, and those of one listener on the node that serves it, wherever it moves. Knows no message.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { connectOnce, type Node, type Target } from './connect.js';

/** Between two attempts to listen, in milliseconds: doubled from the first to the longest. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 500;
/** How long news of channels that moved is gathered before they are placed anew, in milliseconds. */
const MOVES_MS = 50;
/** How often a connection that only hears is asked whether it still lives, and how long it may be silent then, in milliseconds. */
const PING_MS = 5_000;
const SILENCE_MS = 5_000;

export interface Listener {
  /** From now on every message is heard, until this is called again: what was sent before may have been missed. */
  listening(): void;
  heard(message: Buffer, channel: string): void;
}

interface Subscription {
  /** Of one slot: whatever moves, they are heard on one connection, in the order in which Redis was told. */
  readonly channels: readonly string[];
  readonly listener: Listener;
  /** Ends the attempts to listen when nobody wants to any more. */
  readonly wanted: AbortController;
  isPlacing: boolean;
  ear: Ear | undefined;
}

/** A connection to one node. */
interface Ear {
  readonly client: Redis;
  readonly node: Node;
  moves: NodeJS.Timeout | undefined;
}

const nameOf = ({ host, port }: Node): string => `${host}:${port}`;

export class Channels {
  readonly #target: Target;
  readonly #nodes: () => readonly Node[];
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #ears = new Map<string, Ear>();
  readonly #pings: NodeJS.Timeout;
  #next = 0;

  /** `nodes`: those of a cluster that are known now. */
  constructor(target: Target, nodes: () => readonly Node[]) {
    this.#target = target;
    this.#nodes = nodes;
    this.#pings = setInterval(() => this.#ping(), PING_MS).unref();
  }

  /** One listener a channel; its channels are of one slot. Returns the way to stop. */
  listen(channels: readonly string[], listener: Listener): () => void {
    const subscription: Subscription = { channels, listener, wanted: new AbortController(), isPlacing: false, ear: undefined };
    for (const channel of channels) this.#subscriptions.set(channel, subscription);
    void this.#place(subscription);
    return () => this.#stop(subscription);
  }

  close(): void {
    clearInterval(this.#pings);
    for (const { wanted } of this.#all()) wanted.abort();
    this.#subscriptions.clear();
    for (const { client } of this.#ears.values()) client.disconnect();
    this.#ears.clear();
  }

  #stop(subscription: Subscription): void {
    subscription.wanted.abort();
    const channels = subscription.channels.filter((channel) => this.#subscriptions.get(channel) === subscription);
    if (channels.length === 0) return;
    for (const channel of channels) this.#subscriptions.delete(channel);
    subscription.ear?.client.sunsubscribe(...channels).catch(() => {});
  }

  #all(): Set<Subscription> {
    return new Set(this.#subscriptions.values());
  }

  /** Tries until some node takes the channel: any node says which one it is. */
  async #place(subscription: Subscription): Promise<void> {
    if (subscription.isPlacing) return;
    subscription.isPlacing = true;
    const { signal } = subscription.wanted;
    let moved: Node | undefined;
    for (let pause = FIRST_PAUSE_MS; !signal.aborted; ) {
      const { answer, hint } = await this.#ask(subscription, moved ?? this.#anyNode());
      if (answer === 'yes') break;
      const isFirstHint = hint !== undefined && moved === undefined;
      moved = hint;
      if (isFirstHint) continue;
      await sleep(pause, undefined, { signal }).catch(() => {});
      pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
    }
    subscription.isPlacing = false;
    if (!signal.aborted) subscription.listener.listening();
  }

  async #ask(subscription: Subscription, node: Node): Promise<{ readonly answer: 'yes' | 'no'; readonly hint?: Node | undefined }> {
    const ear = this.#ear(node);
    subscription.ear = ear;
    try {
      await ear.client.ssubscribe(...subscription.channels);
      // It may have broken since.
      return { answer: ear.client.status === 'ready' ? 'yes' : 'no' };
    } catch (error) {
      return { answer: 'no', hint: movedTo(error, ear.node) };
    }
  }

  #anyNode(): Node {
    const known = this.#target.kind === 'cluster' ? this.#nodes() : [];
    const nodes = known.length > 0 ? known : this.#target.nodes;
    return nodes[this.#next++ % nodes.length] ?? this.#target.nodes[0];
  }

  #ear(node: Node): Ear {
    const name = this.#target.kind === 'cluster' ? nameOf(node) : 'the one there is';
    const open = this.#ears.get(name);
    if (open) return open;
    const ear: Ear = { node, client: connectOnce(this.#target, node, { socketTimeout: SILENCE_MS }), moves: undefined };
    this.#ears.set(name, ear);
    ear.client.on('smessageBuffer', (channel: Buffer, message: Buffer) => this.#heard(ear, channel.toString(), message));
    ear.client.on('moved', () => {
      ear.moves ??= setTimeout(() => this.#replace(ear), MOVES_MS).unref();
    });
    ear.client.once('end', () => {
      if (this.#ears.get(name) === ear) this.#ears.delete(name);
      this.#replace(ear);
    });
    return ear;
  }

  #heard(ear: Ear, channel: string, message: Buffer): void {
    const subscription = this.#subscriptions.get(channel);
    if (subscription?.ear === ear) subscription.listener.heard(message, channel);
  }

  /** Places anew what this ear can no longer be trusted to hear. */
  #replace(ear: Ear): void {
    clearTimeout(ear.moves);
    ear.moves = undefined;
    for (const subscription of this.#all()) if (subscription.ear === ear) void this.#place(subscription);
  }

  #ping(): void {
    for (const { client } of this.#ears.values()) if (client.status === 'ready') client.ping().catch(() => {});
  }
}

/** Which node serves the channel, if that is what the error says (`MOVED <slot> <host>:<port>`; no host: the same one). */
function movedTo(error: unknown, from: Node): Node | undefined {
  const [, host, port] = (error instanceof Error && /^MOVED \d+ (.*):(\d+)$/.exec(error.message)) || [];
  return port === undefined ? undefined : { host: host || from.host, port: Number(port) };
}
