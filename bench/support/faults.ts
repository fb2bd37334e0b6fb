// What goes wrong during a soak: replicas and Redis are killed, as if a machine had fallen, and started again. Knows no session.
import { setTimeout as later } from 'node:timers/promises';
import type { Gateways, Replica } from '../../test/support/gateways.js';

/** Milliseconds that one is away; at random, up to this. Longer and shorter than a replica's lease. */
const AWAY_MS = 5000;

const random = (below: number): number => Math.floor(Math.random() * below);

export class Faults {
  readonly #gateways: Gateways;
  readonly #begun = performance.now();
  replicasKilled = 0;
  redisKilled = 0;

  constructor(gateways: Gateways) {
    this.#gateways = gateways;
  }

  /** Kills one and starts it again; resolves when it works. Redis is one of `replicas + 1` that may be hit. */
  async one(): Promise<void> {
    const { replicas } = this.#gateways;
    const hit = replicas[random(replicas.length + 1)];
    if (hit) await this.#killReplica(hit);
    else await this.#killRedis();
  }

  async #killReplica(replica: Replica): Promise<void> {
    this.replicasKilled++;
    await replica.stop('SIGKILL');
    const awayMs = await this.#away(replica.id);
    await replica.start();
    this.#say(`${replica.id} was away for ${awayMs} ms`);
  }

  async #killRedis(): Promise<void> {
    this.redisKilled++;
    await this.#gateways.redis.stop('SIGKILL');
    const awayMs = await this.#away('Redis');
    await this.#gateways.redis.start();
    this.#say(`Redis was away for ${awayMs} ms`);
  }

  async #away(name: string): Promise<number> {
    const awayMs = random(AWAY_MS);
    this.#say(`${name} is killed`);
    await later(awayMs);
    return awayMs;
  }

  #say(words: string): void {
    console.error(`${((performance.now() - this.#begun) / 1000).toFixed(1).padStart(6)} s  ${words}`);
  }
}
