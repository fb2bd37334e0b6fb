// The same on a Redis that is a cluster, and on one that fails over.
import { expect, it } from 'vitest';
import type { RedisAddress } from '../../src/redis/connect.js';
import { needs } from '../support/needs.js';
import { startCluster, startWithSentinel } from '../support/redis.js';
import { openReplica, type Replica, until } from './replica.js';

/** Milliseconds that a message may wait where nothing is to fail. */
const PATIENT = { timeoutMs: 25_000 };

/** Replicas that send each other numbers, and what they got: `a to b` and the numbers. */
class Correspondence {
  readonly replicas: Replica[] = [];
  readonly got = new Map<string, number[]>();
  readonly gaps: string[] = [];

  async open(address: RedisAddress): Promise<void> {
    for (const id of ['a', 'b', 'c']) {
      const replica = await openReplica(address, id, { leaseSeconds: 3 });
      this.replicas.push(replica);
      replica.bus.onGap((from) => void this.gaps.push(`${from} to ${id}`));
      replica.bus.receive((from, message) => {
        const way = `${from} to ${id}`;
        this.got.set(way, [...(this.got.get(way) ?? []), Buffer.from(message).readUInt32BE()]);
      });
    }
  }

  async send(number: number): Promise<void> {
    const message = Buffer.alloc(4);
    message.writeUInt32BE(number);
    await Promise.all(this.replicas.flatMap((from) => this.replicas.map((to) => from.bus.send(to.id, message, PATIENT))));
  }

  /** Whether the last number that was sent has come on all ways. */
  hasCome(number: number): boolean {
    return this.got.size === 9 && [...this.got.values()].every((numbers) => numbers.at(-1) === number);
  }

  async close(): Promise<void> {
    for (const replica of this.replicas) await replica.close();
  }
}

const ascending = (numbers: readonly number[]) => numbers.every((number, i) => i === 0 || number > (numbers[i - 1] as number));

needs('redis-server', 'redis-cli')('replicas', () => {
  it('find and reach each other through a cluster, also after a node was gone, and see at once who goes', { timeout: 60_000 }, async () => {
    const cluster = await startCluster('--appendonly', 'yes', '--appendfsync', 'always');
    const mail = new Correspondence();
    try {
      await mail.open({ url: cluster.url });
      for (let i = 0; i < 50; i++) await mail.send(i);
      for (const node of cluster.nodes) {
        await node.stop('SIGKILL');
        await node.start();
      }
      for (let i = 50; i < 100; i++) await mail.send(i);
      await until(() => mail.hasCome(99));
      const all = Array.from({ length: 100 }, (_, i) => i);
      for (const numbers of mail.got.values()) expect(numbers).toEqual(all);
      expect(mail.gaps).toEqual([]);
      const [a, b, c] = mail.replicas as [Replica, Replica, Replica];
      for (const { told } of mail.replicas) expect(told.filter((news) => news.startsWith('died'))).toEqual([]);
      await c.leases.release();
      await until(() => [a, b].every(({ told }) => told.includes('died c')));
    } finally {
      await mail.close();
      await cluster.dispose();
    }
  });

  it('go on after a failover: nothing comes twice or out of order, what the new master has not got is told, and nobody is dead', {
    timeout: 60_000,
  }, async () => {
    const redis = await startWithSentinel();
    const mail = new Correspondence();
    try {
      await mail.open(redis);
      for (let i = 0; i < 50; i++) await mail.send(i);
      let isOver = false;
      const failover = redis.master
        .stop('SIGKILL')
        .then(() => redis.promoted())
        .finally(() => {
          isOver = true;
        });
      let number = 50;
      while (!isOver) await mail.send(number++);
      await failover;
      await mail.send(number);
      await until(() => mail.hasCome(number));
      for (const [way, numbers] of mail.got) {
        expect(ascending(numbers)).toBe(true);
        if (numbers.length < number + 1) expect(mail.gaps).toContain(way);
      }
      for (const { told } of mail.replicas) expect(told.filter((news) => news.startsWith('died'))).toEqual([]);
    } finally {
      await mail.close();
      await redis.dispose();
    }
  });
});
