// What operators do over HTTP with the one replica that there is.
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Gateway, startGateway } from './gateway.js';

describe('Replicas over HTTP', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.close());
  /** The audit is written behind the answer. */
  const expectLine = (line: object) =>
    vi.waitFor(
      () =>
        expect(
          gateway
            .audit()
            .filter(({ event }) => event === 'admin')
            .at(-1),
        ).toMatchObject(line),
      10_000,
    );

  it('are listed with what runs on them', async () => {
    const session = await gateway.session();
    const { closed } = await gateway.join(session);
    const { json } = await gateway.call('GET', '/admin/replicas');
    expect(json).toMatchObject({
      answered_by: 'r1',
      replicas: [{ replica_id: 'r1', state: 'ready', sessions: 1, members: 1, connections: 1 }],
    });
    expect((await gateway.call('GET', '/admin/replicas/r1')).json).toMatchObject({
      log_level: 'silent',
      version: expect.stringMatching(/^\d/),
    });
    await gateway.call('DELETE', `/agents/free/sessions/${session.session_id}`);
    await closed;
  });

  it('log more, or less, when they are told to, and the audit tells who did', async () => {
    const put = (level: unknown) => gateway.call('PUT', '/admin/replicas/r1/log-level', { body: { level } });
    expect((await put('fatal')).json).toMatchObject({ log_level: 'fatal' });
    expect(gateway.app.log.level).toBe('fatal');
    await expectLine({ outcome: 'done', principal: 'alice', detail: 'log level fatal: replica r1' });
    const { status, json } = await put('loud');
    expect([status, json.error.message]).toEqual([400, expect.stringContaining('body.level')]);
    expect(gateway.app.log.level).toBe('fatal');
  });

  it('are found by their id alone', async () => {
    const { status, json } = await gateway.call('POST', '/admin/replicas/other/drain');
    expect([status, json.error.code, json.error.message]).toEqual([
      404,
      'TASK_NOT_FOUND',
      expect.stringContaining('no replica other lives'),
    ]);
    await expectLine({ outcome: 'failed', detail: expect.stringContaining('drain: replica other') });
  });

  it.each([
    ['no pty:admin', { scope: 'pty:control' as const, more: {} }, 'this needs the scope pty:admin'],
    ['instances', { scope: 'pty:admin' as const, more: { instances: ['free'] } }, 'not narrowed down'],
    ['sessions', { scope: 'pty:admin' as const, more: { sessions: ['own'] } }, 'not narrowed down'],
  ])('are nothing for a token with %s', async (_, { scope, more }, why) => {
    const token = gateway.token(scope, more);
    for (const [method, path] of [
      ['GET', '/admin/replicas'],
      ['GET', '/admin/replicas/r1'],
      ['POST', '/admin/replicas/r1/drain'],
      ['PUT', '/admin/replicas/r1/log-level'],
    ] as const) {
      const { status, json } = await gateway.call(method, path, { token, ...(method === 'PUT' && { body: { level: 'trace' } }) });
      expect([status, json.error.message]).toEqual([403, expect.stringContaining(why)]);
    }
    await expectLine({ outcome: 'denied' });
    expect(gateway.app.log.level).not.toBe('trace');
  });
});
