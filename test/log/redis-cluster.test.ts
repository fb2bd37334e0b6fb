// The Redis log on a cluster: the contract, and sessions whose slot moves, or whose node dies, while they are written and followed.
import { setTimeout as sleep } from 'node:timers/promises';
import { v7 } from 'uuid';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Log } from '../../src/log/log.js';
import { openRedisLog } from '../../src/log/redis/redis-log.js';
import { needs } from '../support/needs.js';
import { type RedisCluster, type RedisServer, startCluster, startClusterNode, until } from '../support/redis.js';
import { logContract } from './contract.js';
import { redisBench } from './redis-bench.js';
import { sharedLog } from './redis-shared.js';
import { told, Witness } from './redis-witness.js';

const forever = { frames: 1_000_000, seconds: 86_400 };

needs('redis-server', 'redis-cli')('a Redis cluster', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  const logs: Log[] = [];
  const replicas: RedisServer[] = [];
  afterEach(async () => {
    await Promise.all(logs.splice(0).map((log) => log.close()));
  });
  afterAll(async () => {
    await Promise.all([cluster, ...replicas].map((servers) => servers.dispose()));
  });
  /** Two, as in two processes. */
  const openTwo = async (): Promise<[Log, Log]> => {
    const options = { url: cluster.url, prefix: v7() };
    const two: [Log, Log] = [await openRedisLog(options), await openRedisLog(options)];
    logs.push(...two);
    return two;
  };

  logContract('the Redis log on a cluster', () => redisBench({ url: cluster.url }));
  sharedLog('the Redis log on a cluster', () => ({ url: cluster.url }));

  const idOf = (node: RedisServer) => node.tell('CLUSTER', 'MYID');
  const ownerOf = async (slot: string): Promise<RedisServer> => {
    for (const node of cluster.nodes) if (!(await node.tell('CLUSTER', 'COUNTKEYSINSLOT', slot)).startsWith('0')) return node;
    throw new Error(`nobody has keys in slot ${slot}`);
  };

  async function moveSlot(slot: string, from: RedisServer, to: RedisServer): Promise<void> {
    const target = await idOf(to);
    await to.tell('CLUSTER', 'SETSLOT', slot, 'IMPORTING', await idOf(from));
    await from.tell('CLUSTER', 'SETSLOT', slot, 'MIGRATING', target);
    const keys = (await from.tell('CLUSTER', 'GETKEYSINSLOT', slot, '100')).split('\n');
    await from.tell('MIGRATE', '127.0.0.1', `${to.port}`, '', '0', '5000', 'KEYS', ...keys);
    await sleep(50);
    for (const node of [to, from, ...cluster.nodes]) await node.tell('CLUSTER', 'SETSLOT', slot, 'NODE', target);
  }

  it('keeps and tells everything once while the slot of a session moves from node to node', async () => {
    const [log, other] = await openTwo();
    const id = v7();
    const witness = new Witness(await log.create(id, {}, forever));
    await witness.appendMany(10);
    const reader = await other.reader(id);
    const follower = told(reader);
    const slot = await (cluster.nodes[0] as RedisServer).tell('CLUSTER', 'KEYSLOT', `{${id}}`);
    const moving = (async () => {
      for (let n = 0; n < 5; n++) {
        const from = await ownerOf(slot);
        const to = cluster.nodes[(cluster.nodes.indexOf(from) + 1) % 3] as RedisServer;
        await moveSlot(slot, from, to);
        await sleep(100);
      }
    })();
    await witness.appendUntil(moving);
    await until('the follower was told of the last', () => follower.entries.length >= witness.promised.size - 12);
    await witness.expectAll(reader);
    expect(follower.entries.map(({ sequence }) => sequence)).toEqual([...witness.promised.keys()].filter((n) => n > follower.from));
  });

  it('goes on with the replica of a node that died, without which its sessions wait', async () => {
    const [log, other] = await openTwo();
    const id = v7();
    const witness = new Witness(await log.create(id, {}, forever));
    await witness.appendMany(10);
    const reader = await other.reader(id);
    const follower = told(reader);
    const slot = await (cluster.nodes[0] as RedisServer).tell('CLUSTER', 'KEYSLOT', `{${id}}`);
    const node = await ownerOf(slot);
    const replica = await addReplica(node);
    const dying = (async () => {
      await sleep(100);
      await node.stop('SIGKILL');
      await until('the replica is promoted', async () => (await replica.tell('ROLE')).startsWith('master'));
      await sleep(200);
    })();
    await witness.appendUntil(dying);
    await until('the follower was told of the last', () => follower.entries.at(-1)?.sequence === [...witness.promised.keys()].at(-1));
    await witness.expectAll(reader);
    expect(follower.entries.map(({ sequence }) => sequence)).toEqual([...witness.promised.keys()].filter((n) => n > follower.from));
  }, 60_000);

  /** Resolves when it follows and all nodes know that it does: they elect it when its master is dead. */
  async function addReplica(of: RedisServer): Promise<RedisServer> {
    const replica = await startClusterNode();
    replicas.push(replica);
    const [master, id] = [await idOf(of), await idOf(replica)];
    for (const node of cluster.nodes) await replica.tell('CLUSTER', 'MEET', '127.0.0.1', `${node.port}`, `${node.clusterPort}`);
    await until('the replica follows', async () => {
      await replica.tell('CLUSTER', 'REPLICATE', master);
      return (await replica.tell('INFO', 'replication')).includes('master_link_status:up');
    });
    await until('all know the replica', async () => {
      const views = await Promise.all(cluster.nodes.map((node) => node.tell('CLUSTER', 'NODES')));
      return views.every((view) => view.split('\n').some((line) => line.startsWith(id) && line.includes(`slave ${master}`)));
    });
    return replica;
  }
});
