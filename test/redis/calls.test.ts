// Replicas that ask each other, over a real bus.
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Fault, whyOf } from '../../src/errors.js';
import { LogError, type LogFailure } from '../../src/log/log.js';
import { Calls, type Server } from '../../src/session/replicas/calls.js';
import { cutProxy } from '../support/cut-proxy.js';
import { needs } from '../support/needs.js';
import { type RedisServer, startRedis } from '../support/redis.js';
import { openReplica, type Replica } from './replica.js';

const asked = async (answer: Promise<unknown>) =>
  answer.then(
    () => 'an answer',
    ({ code, status, retryable, message, details }: Fault) => ({ code, status, retryable, message, details }),
  );

needs('redis-server')('calls', () => {
  let server: RedisServer;
  let errors: object[];
  const open: Array<{ close(): unknown }> = [];

  beforeEach(async () => {
    server = await startRedis();
    errors = [];
  });
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.close();
    await server.dispose();
  });

  async function replica(id: string, serve: Server = () => ({}), address = server.url): Promise<Replica & { calls: Calls }> {
    const logger = { info: () => {}, warn: () => {}, error: (fields: object) => void errors.push(fields) };
    const opened = await openReplica({ url: address }, id, { leaseSeconds: 30, logger });
    const calls = new Calls({ bus: opened.bus, leases: opened.leases, logger });
    calls.serve(serve);
    open.push(opened, calls);
    return { ...opened, calls };
  }

  it('carry JSON and bytes there and back, as they are', async () => {
    const a = await replica('a');
    await replica('b', (from, name, { data, bytes }) => ({ data: { from, name, data }, bytes: Buffer.from(bytes ?? '').reverse() }));
    const bytes = Buffer.from([0, 255, 10, 13, 128]);
    const answer = await a.calls.call('b', 'turn', { data: { ünï: [1, null] }, bytes });
    expect(answer.data).toEqual({ from: 'a', name: 'turn', data: { ünï: [1, null] } });
    expect(Buffer.from(answer.bytes ?? '')).toEqual(Buffer.from(bytes).reverse());
    expect((await a.calls.call('b', 'nothing')).data).toEqual({ from: 'a', name: 'nothing' });
  });

  it('arrive in the order in which they were made, tells among them, and are answered in any', async () => {
    const names: string[] = [];
    const held: Array<() => void> = [];
    const a = await replica('a');
    await replica('b', async (_, name) => {
      names.push(name);
      if (name === 'slow') await new Promise<void>((resolve) => held.push(resolve));
      return { data: name };
    });
    const slow = a.calls.call('b', 'slow');
    void a.calls.tell('b', 'told');
    expect((await a.calls.call('b', 'quick')).data).toBe('quick');
    for (const go of held) go();
    expect((await slow).data).toBe('slow');
    expect(names).toEqual(['slow', 'told', 'quick']);
  });

  it('hand on the Fault that was thrown, and of anything else nothing but that it failed', async () => {
    const a = await replica('a');
    await replica('b', (_, name) => {
      if (name === 'refused') throw new Fault('RATE_LIMITED', 'too many observers', { status: 503, details: { most: 3 } });
      throw new Error('a secret');
    });
    expect(await asked(a.calls.call('b', 'refused'))).toEqual({
      code: 'RATE_LIMITED',
      status: 503,
      retryable: true,
      message: 'too many observers',
      details: { most: 3 },
    });
    expect(await asked(a.calls.call('b', 'broken'))).toMatchObject({
      code: 'INTERNAL',
      message: 'the gateway failed to do this; its log says why',
    });
    expect(errors).toMatchObject([{ from: 'a', name: 'broken' }]);
  });

  it('hand on what has become of a session, and make no error of it in the log', async () => {
    const a = await replica('a');
    await replica('b', (_, failure) => Promise.reject(new LogError(failure as LogFailure, 'in the words of the log')));
    const fates: Record<string, unknown> = {};
    for (const failure of ['fenced', 'unavailable', 'unknown_session']) {
      const { code, status, retryable } = (await asked(a.calls.call('b', failure))) as Fault;
      fates[failure] = [code, status, retryable];
    }
    expect(fates).toEqual({
      fenced: ['INTERNAL', 503, true],
      unavailable: ['INTERNAL', 503, true],
      unknown_session: ['TASK_NOT_FOUND', 404, false],
    });
    expect(errors).toEqual([]);
  });

  it('end in words when there is no answer, when the other dies, and when there is no other', async () => {
    const a = await replica('a');
    const b = await replica('b', () => new Promise(() => {}));
    const retryable = { code: 'INTERNAL', status: 503, retryable: true };
    expect(await asked(a.calls.call('b', 'never', {}, { timeoutMs: 50 }))).toMatchObject({
      ...retryable,
      message: 'the replica that runs this session did not answer',
    });
    const why = await a.calls.call('b', 'never', {}, { timeoutMs: 50 }).catch(whyOf);
    expect(why).toBe('the replica that runs this session did not answer (replica b, within 50 ms)');
    const pending = asked(a.calls.call('b', 'never'));
    await b.leases.release();
    const died = { ...retryable, message: 'the replica that runs this session has died' };
    expect(await pending).toMatchObject(died);
    expect(await asked(a.calls.call('b', 'never'))).toMatchObject(died);
    expect(await asked(a.calls.tell('nobody', 'never'))).toMatchObject(died);
  });

  it('that were given up are not begun later by one that was held up', async () => {
    const wire = await cutProxy(server.port);
    open.push(wire);
    const begun: string[] = [];
    const a = await replica('a');
    await replica('b', (_, name) => ({ data: begun.push(name) }), `redis://127.0.0.1:${wire.port}`);
    await a.calls.call('b', 'before');
    wire.freeze();
    const given = await Promise.all(['one', 'two'].map((name) => asked(a.calls.call('b', name, {}, { timeoutMs: 100 }))));
    wire.mend();
    for (const fault of given) expect(fault).toMatchObject({ code: 'INTERNAL', retryable: true });
    await a.calls.call('b', 'after');
    expect(begun).toEqual(['before', 'after']);
  });

  it('whose answer is too big get a Fault instead', async () => {
    const a = await replica('a');
    await replica('b', () => ({ bytes: Buffer.alloc(5 * 1024 * 1024) }));
    expect(await asked(a.calls.call('b', 'all'))).toMatchObject({
      code: 'INTERNAL',
      message: 'the answer of the replica that runs this session is too big',
    });
  });

  it('go on after a message that is none', async () => {
    const [a] = [await replica('a'), await replica('b', () => ({ data: 'well' }))];
    await a.bus.send('b', Buffer.from('ffff'));
    await a.bus.send('b', Buffer.from([0, 0, 0, 2, 0x6e, 0x6f]));
    await a.bus.send('b', Buffer.from([0, 0, 0, 4, ...Buffer.from('null')]));
    await a.bus.send('b', Buffer.from([0, 0, 0, 2, ...Buffer.from('{}')]));
    expect((await a.calls.call('b', 'how')).data).toBe('well');
    expect(errors).toHaveLength(4);
  });

  it('that wait when their replica ends are given up', async () => {
    const a = await replica('a');
    await replica('b', () => new Promise(() => {}));
    const pending = asked(a.calls.call('b', 'never'));
    a.calls.close();
    expect(await pending).toMatchObject({ code: 'INTERNAL', message: 'this replica ends' });
  });
});
