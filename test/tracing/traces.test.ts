// Traces as a collector gets them, from two built gateways on one Redis.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { Client } from '../support/attach-server.js';
import { type Collector, type Received, startCollector } from '../support/collector.js';
import { type Gateways, startGateways, tokenFor } from '../support/gateways.js';
import { needs } from '../support/needs.js';
import { until } from '../support/redis.js';

vi.setConfig({ testTimeout: 120_000 });

const CLIENT_SPAN = '00f067aa0ba902b7';
const traceparent = (trace: string) => `00-${trace}-${CLIENT_SPAN}-01`;

needs('redis-server', 'redis-cli')('Traces', () => {
  let collector: Collector;
  let gateways: Gateways;
  beforeAll(async () => {
    collector = await startCollector();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '50', OTEL_RESOURCE_ATTRIBUTES: 'deployment=test' };
    gateways = await startGateways({ env });
  }, 120_000);
  afterAll(async () => {
    await gateways?.dispose();
    await collector?.close();
  });

  const attach = async (id: string, headers: Record<string, string>): Promise<Client> => {
    const authorization = `Bearer ${tokenFor('alice', 'pty:control')}`;
    const client = new Client(new WebSocket(gateways.urlOf(id, gateways.at(1)), ['pty-ws.v1'], { headers: { authorization, ...headers } }));
    await client.until('binding_hello');
    return client;
  };
  const message = (text: string) => ({
    message: { messageId: text, role: 'ROLE_USER', parts: [{ text }] },
    configuration: { returnImmediately: true },
  });
  const of = (trace: string) => collector.spans.filter(({ traceId }) => traceId === trace);
  const named = (trace: string, name: string) => of(trace).find((span) => span.name === name);
  const seen = (trace: string, name: string) => until(`a span ${name}`, async () => named(trace, name) !== undefined, 20_000);
  /** From the span up to the one that is the client's own. */
  const way = (span: Received | undefined): string[] =>
    span
      ? [`${span.name} on ${span.service['service.instance.id']}`, ...way(collector.spans.find(({ spanId }) => spanId === span.parentId))]
      : [];

  it('are one tree, from the client over the upgrade and its verbs to the owner on another replica and its log', async () => {
    const trace = 'a'.repeat(32);
    const id = await gateways.begin(gateways.at(0));
    const client = await attach(id, { traceparent: traceparent(trace) });
    await client.attach();
    client.say('SendMessage', message('echo hi'));
    await seen(trace, 'SendMessage');
    await until(
      'the task rests',
      async () => of(trace).some((s) => s.attributes['pty.task_state'] === 'TASK_STATE_INPUT_REQUIRED'),
      20_000,
    );
    client.ws.close();

    const spans = of(trace);
    const known = new Set([CLIENT_SPAN, ...spans.map(({ spanId }) => spanId)]);
    expect(spans.filter(({ parentId }) => !known.has(parentId))).toEqual([]);
    const route = 'GET /agents/:inst/sessions/:id/attach on replica-1';
    const append = spans.find(({ name, attributes }) => name === 'log append' && attributes['pty.frames'] === 'MembershipChanged');
    expect(way(append)).toEqual([
      'log append on replica-0',
      'owner join on replica-0',
      'ask join on replica-1',
      'pty.join_session on replica-1',
      route,
    ]);
    const rest = spans.find(({ attributes }) => attributes['pty.task_state'] === 'TASK_STATE_INPUT_REQUIRED');
    expect(way(rest)).toEqual([
      'task status on replica-0',
      'owner message on replica-0',
      'ask message on replica-1',
      'SendMessage on replica-1',
      route,
    ]);
    expect(named(trace, 'SendMessage')).toMatchObject({
      service: { 'service.name': 'pty-gateway', deployment: 'test' },
      attributes: { 'pty.session_id': id, 'pty.instance_id': 'shell', 'enduser.id': 'alice' },
      failed: false,
    });
  });

  it('continue the trace that the first frame of a client names, and link what ends its task in another', async () => {
    const [trace, other] = ['b'.repeat(32), 'c'.repeat(32)];
    const id = await gateways.begin(gateways.at(0));
    const client = await attach(id, {});
    await client.attach({}, { service_parameters: { trace_id: traceparent(trace) } });
    await client.answer(client.say('SendMessage', message('sleep 100')));
    await gateways.ask(gateways.at(1), 'DELETE', `/${id}`, undefined, { traceparent: traceparent(other) });
    await until('the task ended', async () => of(trace).some((s) => s.attributes['pty.task_state'] === 'TASK_STATE_CANCELED'), 20_000);
    expect(named(trace, 'pty.join_session')?.parentId).toBe(CLIENT_SPAN);
    await seen(other, 'owner end');

    const again = await gateways.begin(gateways.at(0));
    const second = await attach(again, {});
    await second.attach({}, { service_parameters: { trace_id: traceparent(trace) } });
    await second.answer(second.say('SendMessage', message('sleep 200')));
    await second.answer(second.say('UpdateServiceParameters', { service_parameters: { trace_id: traceparent(other) } }));
    await second.answer(second.say('CancelTask', { task_id: again }));
    const canceled = () =>
      of(trace).find((s) => s.attributes['pty.session_id'] === again && s.attributes['pty.task_state'] === 'TASK_STATE_CANCELED');
    await until('the task was canceled', async () => canceled() !== undefined, 20_000);
    expect(canceled()?.links).toEqual([other]);
  });

  it('tell a refusal by its code, and do not count it as a failure', async () => {
    const trace = 'd'.repeat(32);
    const id = await gateways.begin(gateways.at(0));
    const client = await attach(id, { traceparent: traceparent(trace) });
    await client.attach({ role: 'observer' });
    await client.answer(client.say('GetTask', { task_id: 'another' }));
    await seen(trace, 'GetTask');
    expect(named(trace, 'GetTask')).toMatchObject({ attributes: { 'error.type': 'TASK_NOT_FOUND' }, failed: false });
    client.ws.close();
  });

  it('have no span for what is typed and printed, nor for probes', async () => {
    const trace = 'e'.repeat(32);
    const id = await gateways.begin(gateways.at(0));
    const client = await attach(id, { traceparent: traceparent(trace) });
    await client.attach();
    await client.answer(client.say('SendMessage', message('true')));
    await until(
      'the task rests',
      async () => of(trace).some((s) => s.attributes['pty.task_state'] === 'TASK_STATE_INPUT_REQUIRED'),
      20_000,
    );
    const before = collector.spans.length;
    for (let line = 0; line < 50; line += 1) client.type(`echo line-${line}\n`);
    while (!JSON.stringify(await client.frame()).includes(Buffer.from('line-49').toString('base64').slice(0, 8)))
      await gateways.at(1).isReady();
    client.say('pty.leave_session');
    await seen(trace, 'pty.leave_session');
    const since = collector.spans
      .slice(before)
      .filter(({ name }) => !['pty.leave_session', 'ask leave', 'owner leave', 'log append'].includes(name));
    expect(since).toEqual([]);
    expect(collector.spans.slice(before).filter(({ attributes }) => /Output/.test(attributes['pty.frames'] ?? ''))).toEqual([]);
  });
});

needs('redis-server', 'redis-cli')('A collector that takes nothing', () => {
  it.each(['is not there', 'never answers'])('and %s holds up no terminal and no end of the gateway', async (how) => {
    const collector = await startCollector();
    if (how === 'is not there') await collector.close();
    else collector.hang();
    const gateways = await startGateways({ count: 1, env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '50' } });
    try {
      const id = await gateways.begin(gateways.at(0));
      expect((await gateways.ask(gateways.at(0), 'DELETE', `/${id}`)).status).toBe(202);
      expect(await gateways.at(0).stop()).toBe(0);
    } finally {
      await gateways.dispose();
      await collector.close();
    }
  });
});
