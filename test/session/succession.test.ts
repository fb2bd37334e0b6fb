// What becomes of a session whose replica is gone, when the one that takes it goes too.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FIRST_EPOCH, type Log } from '../../src/log/log.js';
import { openRedisLog } from '../../src/log/redis/redis-log.js';
import { newId } from '../../src/protocol/ids.js';
import { type KeptSession, keptSession } from '../../src/session/record.js';
import { createSessions } from '../../src/session/sessions.js';
import { spawnTerminal } from '../../src/terminal/pty.js';
import { createScreenHost } from '../../src/terminal/screen-host.js';
import { agent } from '../support/house.js';
import { needs } from '../support/needs.js';
import { type RedisServer, startRedis } from '../support/redis.js';

const logger = { info: () => {}, warn: () => {}, error: () => {} };
const forever = { frames: 1_000_000, seconds: 86_400 };

needs('redis-server')('A session whose replica is gone', () => {
  let redis: RedisServer;
  const logs: Log[] = [];
  const screens = createScreenHost({});
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(async () => {
    for (const log of logs) await log.close();
    await screens.close();
    await redis.dispose();
  });

  async function open(): Promise<Log> {
    const log = await openRedisLog({ url: redis.url, prefix: 'pty' });
    logs.push(log);
    return log;
  }
  const replica = (replicaId: string, log: Log) =>
    createSessions({ log, screens, spawn: spawnTerminal, replicaId, maxSessions: 100, logger });

  it('is settled by the next who notices, where its heir dies in the moment in which it has taken it', async () => {
    const [first, second, third] = [await open(), await open(), await open()];
    const kept = begun('first');
    await first.create(kept.session_id, kept, forever);
    const died = new Promise<void>((dies) => void replica('second', deadAfterClaim(second, dies)));
    await died;
    const sessions = await replica('third', third);
    expect(keptSession(await third.record(kept.session_id))).toMatchObject({ state: 'closed', reason: 'agent_disconnect' });
    expect(await (await third.reader(kept.session_id)).latest('Closed')).toBeDefined();
    await sessions.close();
  });

  it('is settled soon where that failed at first', async () => {
    const [first, second] = [await open(), await open()];
    const kept = begun('first');
    await first.create(kept.session_id, kept, forever);
    const sessions = await replica('second', failingOnce(second));
    expect(keptSession(await second.record(kept.session_id))).toMatchObject({ state: 'running' });
    await expect.poll(async () => keptSession(await second.record(kept.session_id))?.state, { timeout: 10_000 }).toBe('closed');
    await sessions.close();
  });
});

/** A log that takes no session over the first time that it is asked to. */
function failingOnce(log: Log): Log {
  let isFirst = true;
  const claim: Log['claim'] = (...session) => {
    if (!isFirst) return log.claim(...session);
    isFirst = false;
    return Promise.reject(new Error('READONLY'));
  };
  return new Proxy(log, { get: (_, name) => (name === 'claim' ? claim : log[name as keyof Log]?.bind(log)) });
}

/** A log whose process does nothing any more once it has claimed a session. */
function deadAfterClaim(log: Log, dies: () => void): Log {
  const claim: Log['claim'] = async (...session) => {
    await log.claim(...session);
    dies();
    return new Promise<never>(() => {});
  };
  return new Proxy(log, { get: (_, name) => (name === 'claim' ? claim : log[name as keyof Log]?.bind(log)) });
}

function begun(replicaId: string): KeptSession {
  const { id, pty } = agent();
  const ids = { session_id: newId(), instance_id: id, context_id: newId(), replica_id: replicaId, created_by: 'someone' };
  return { ...ids, state: 'running', created_at: new Date().toISOString(), cols: 80, rows: 24, epoch: FIRST_EPOCH, pty };
}
