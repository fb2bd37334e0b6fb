// Replicas that know who is alive: on a real Redis, with real processes that are killed and held still.
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Logger } from '../../src/session/sessions.js';
import { needs } from '../support/needs.js';
import { type RedisServer, startRedis } from '../support/redis.js';
import { Child } from './child.js';
import { openReplica, type Replica, until } from './replica.js';

/** What a replica was told of others' lives. */
const lives = ({ told }: Replica) => told.filter((news) => /^(born|died)/.test(news));
/** Longer than any test here may take: nobody dies because a lease of so many seconds has run out. */
const LONG = 600;

needs('redis-server')('leases', () => {
  let server: RedisServer;
  const open: Array<{ close(): Promise<void> }> = [];

  beforeEach(async () => {
    server = await startRedis();
  });
  afterEach(async () => {
    for (const replica of open.splice(0).reverse()) await replica.close();
    await server.dispose();
  });

  async function replica(id: string, leaseSeconds = 2, logger?: Logger): Promise<Replica> {
    const opened = await openReplica(server, id, { leaseSeconds, ...(logger && { logger }) });
    open.push(opened);
    return opened;
  }
  async function child(id: string, leaseSeconds = 2): Promise<Child> {
    const started = await Child.start(server.url, id, leaseSeconds);
    open.push({ close: () => started.kill() });
    return started;
  }

  it('are known to all at once: who is there, who comes, and who goes in order', async () => {
    const [a, b] = [await replica('a', LONG), await replica('b', LONG)];
    expect(b.leases.alive()).toEqual(['a', 'b']);
    await until(() => a.leases.isAlive('b'));
    await b.leases.release();
    await until(() => !a.leases.isAlive('b'));
    expect(lives(a)).toEqual(['born b', 'died b']);
    expect(b.leases.isAlive('b')).toBe(false);
  });

  it('of an id that is in use are refused in words', async () => {
    const a = await replica('a');
    await expect(openReplica(server, 'a')).rejects.toThrow('REPLICA_ID a is in use');
    expect(a.leases.alive()).toEqual(['a']);
    expect(lives(a)).toEqual([]);
  });

  it('of an id that no key could carry are refused in words', async () => {
    await expect(openReplica(server, 'a b')).rejects.toThrow('replicaId is "a b"; expected 1 to 64 of A-Z a-z 0-9 . _ -');
  });

  it('of a process that was killed run out once for everybody, and its id is another life after', async () => {
    const [a, b, former] = [await replica('a'), await replica('b'), await child('k')];
    await until(() => a.leases.isAlive('k') && b.leases.isAlive('k'));
    await former.kill();
    await child('k');
    await until(() => [a, b].every(({ told }) => told.at(-1) === 'born k' && told.includes('died k')));
    expect(lives(a)).toEqual(['born b', 'born k', 'died k', 'born k']);
    expect(lives(b)).toEqual(['born k', 'died k', 'born k']);
  });

  it('of a process that was held still are lost to it before it believes itself alive again, in another life', async () => {
    const [a, still] = [await replica('a'), await child('s')];
    await until(() => a.leases.isAlive('s'));
    still.signal('SIGSTOP');
    await until(() => a.told.includes('died s'));
    still.ask();
    still.signal('SIGCONT');
    await still.says('regained new');
    await until(() => still.lines.some((line) => line.startsWith('alive')) && a.leases.isAlive('s'));
    expect(still.lines.slice(0, 2)).toEqual(['open', 'lost']);
    expect(lives(a)).toEqual(['born s', 'died s', 'born s']);
  });

  it('of a process that was held still while another took its id are told of it as lost for good, and kept by the other', async () => {
    const [a, still] = [await replica('a'), await child('s')];
    still.signal('SIGSTOP');
    const other = await child('s');
    still.signal('SIGCONT');
    await still.says('usurped');
    other.ask();
    await other.says('alive: true');
    expect(other.lines).not.toContain('lost');
    expect(lives(a)).toEqual(['born s', 'died s', 'born s']);
  });

  it('say at once why Redis does not renew them', async () => {
    const a = await replica('a', 6);
    await server.tell('CONFIG', 'SET', 'maxmemory', '1');
    await until(() => a.leases.trouble() !== undefined);
    expect(a.leases.isAlive('a')).toBe(true);
    expect(a.leases.trouble()).toBe(
      'Redis takes no sign of life from this replica: its memory is full (maxmemory) (OOM); it is tried again',
    );
    await server.tell('CONFIG', 'SET', 'maxmemory', '0');
    await until(() => a.leases.trouble() === undefined);
  });

  it('are told of in the log when they are lost, and when they are renewed', async () => {
    const lines: string[] = [];
    const tell = (level: string) => (_fields: object, message: string) => void lines.push(`${level}: ${message}`);
    const a = await replica('a', 2, { info: tell('info'), warn: tell('warn'), error: tell('error') });
    server.signal('SIGSTOP');
    await until(() => a.told.includes('lost'));
    server.signal('SIGCONT');
    await until(() => a.told.includes('regained same'));
    expect(lines.filter((line) => line.includes(': this replica'))).toEqual([
      'warn: this replica could not renew its lease: others may believe it dead',
      'info: this replica has renewed its lease',
    ]);
  });

  for (const [how, away, back] of [
    ['gone, with all that it knew', () => server.stop('SIGKILL'), () => server.start()],
    ['held still', async () => server.signal('SIGSTOP'), async () => server.signal('SIGCONT')],
  ] as const) {
    it(`run out for nobody while Redis is ${how}, and for those who die after it is back`, async () => {
      const [a, b] = [await replica('a'), await replica('b')];
      await until(() => a.leases.isAlive('b'));
      await away();
      await until(() => [a, b].every(({ told }) => told.at(-1) === 'lost'));
      expect(a.leases.alive()).toEqual(['b']);
      await back();
      await until(() => [a, b].every(({ told }) => told.at(-1) === 'regained same'));
      await (await child('k')).kill();
      await until(() => [a, b].every(({ told }) => told.at(-1) === 'died k'));
      expect(lives(a)).toEqual(['born b', 'born k', 'died k']);
      expect(lives(b)).toEqual(['born k', 'died k']);
    });
  }
});
