// A2A's own client library against the gateway, over each of the three interfaces of the card: what it does and what it gets is the same.
import { randomUUID } from 'node:crypto';
import { Message, type StreamResponse, type Task, TaskState, taskStateToJSON } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
  ServiceParameters,
  withA2AExtensions,
} from '@a2a-js/sdk/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BINDING_URI, EXTENSION_URI } from '../../src/protocol/names.js';
import { type Gateway, startGateway } from '../routes/gateway.js';
import { WebSocketTransportFactory } from './websocket-transport.js';

let gw: Gateway;
let overWebSocket: WebSocketTransportFactory;
beforeAll(async () => {
  gw = await startGateway();
  overWebSocket = new WebSocketTransportFactory(gw.token());
});
afterAll(async () => {
  for (const transport of overWebSocket.made) await transport.close();
  await gw.close();
});

/** A client that speaks over this binding, as the card says where; `headers` go over the library's own. */
async function clientOver(binding: string, headers: Record<string, string> = {}): Promise<Client> {
  const fetchImpl: typeof fetch = (url, init) =>
    fetch(url, { ...init, headers: { ...(init?.headers as Record<string, string>), authorization: `Bearer ${gw.token()}`, ...headers } });
  const transports = [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl }), overWebSocket];
  return new ClientFactory({ transports, preferredTransports: [binding] }).createFromUrl(`${gw.base}/agents/free/`);
}

const saying = (text: string, to?: Task, more: object = {}) => ({
  tenant: '',
  metadata: undefined,
  message: Message.fromJSON({
    messageId: randomUUID(),
    role: 'ROLE_USER',
    parts: [{ text }],
    ...(to && { taskId: to.id, contextId: to.contextId }),
    ...more,
  }),
  configuration: undefined,
});
const atOnce = { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: true };
const stateOf = ({ status }: Pick<Task, 'status'>) => taskStateToJSON(status?.state ?? TaskState.UNRECOGNIZED);
const textOf = (parts: ReadonlyArray<{ content?: { $case: string; value?: unknown } | undefined }>) =>
  parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
const outputOf = ({ artifacts }: Task) => textOf(artifacts.filter(({ name }) => name === 'output').flatMap(({ parts }) => parts));
/** By name and reason alone: the library has a class of its own for each binding. */
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => 'done',
    (error: { reason?: string; message: string }) => error.reason ?? error.message,
  );

describe.each(['HTTP+JSON', 'JSONRPC', BINDING_URI])('A2A’s own client over %s', (binding) => {
  let client: Client;
  beforeAll(async () => {
    client = await clientOver(binding);
  });
  const begin = async (text: string) => (await client.sendMessage(saying(text))) as Task;
  const get = (id: string, historyLength?: number) => client.getTask({ tenant: '', id, historyLength });
  const cancel = (id: string) => client.cancelTask({ tenant: '', id, metadata: undefined });
  const subscribe = (id: string) => client.resubscribeTask({ tenant: '', id });

  it('finds where the card says it is spoken to', async () => {
    expect(client.transport.protocolName).toBe(binding);
    expect((await client.getAgentCard()).skills.map(({ id }) => id)).toEqual(['terminal', 'watch']);
  });

  it('sends a message and gets the task when it rests, with what was printed and what was said', async () => {
    const task = await begin('echo $((6 * 7)) is the answer');
    expect(stateOf(task)).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(outputOf(task)).toContain('42 is the answer');
    expect(task.history.map(({ parts }) => textOf(parts))).toEqual(['echo $((6 * 7)) is the answer']);
    const next = (await client.sendMessage(saying('echo once more', task))) as Task;
    expect([next.id, next.contextId, stateOf(next)]).toEqual([task.id, task.contextId, 'TASK_STATE_INPUT_REQUIRED']);
    await cancel(task.id);
  });

  it('streams: the task, what is printed as it is printed, and last of all that it rests', async () => {
    const told: StreamResponse[] = [];
    for await (const event of client.sendMessageStream(saying('echo one; sleep 0.3; echo $((1 + 1))'))) told.push(event);
    const kinds = told.map(({ payload }) => payload?.$case);
    expect([kinds[0], kinds.at(-1)]).toEqual(['task', 'statusUpdate']);
    const last = told.at(-1)?.payload;
    expect(last?.$case === 'statusUpdate' && stateOf(last.value)).toBe('TASK_STATE_INPUT_REQUIRED');
    // What was printed before the stream began is in its first task.
    const printed = told.flatMap(({ payload }) => {
      if (payload?.$case === 'task') return payload.value.artifacts.flatMap(({ parts }) => parts);
      return payload?.$case === 'artifactUpdate' ? (payload.value.artifact?.parts ?? []) : [];
    });
    expect(textOf(printed)).toMatch(/one\s[\s\S]*2/);
    await cancel(taskIn(told[0]).id);
  });

  it('is told by the last status how the program ended', async () => {
    let last: StreamResponse | undefined;
    for await (const event of client.sendMessageStream(saying('sleep 0.3; exit 3'))) last = event;
    if (last?.payload?.$case !== 'statusUpdate') throw new Error(`expected a status last, got ${last?.payload?.$case}`);
    expect(stateOf(last.payload.value)).toBe('TASK_STATE_FAILED');
    const { parts, metadata } = last.payload.value.status?.message ?? { parts: [], metadata: undefined };
    expect([textOf(parts), metadata]).toEqual(['The program exited with status 3.', { reason: 'command_result', exit_code: 3 }]);
  });

  it('gets the task at once where it does not want to wait, and asks for it later', async () => {
    const task = (await client.sendMessage({ ...saying('sleep 30'), configuration: atOnce })) as Task;
    expect(stateOf(task)).toBe('TASK_STATE_WORKING');
    expect(stateOf(await get(task.id))).toBe('TASK_STATE_WORKING');
    expect((await get(task.id, 0)).history).toEqual([]);
    expect((await get(task.id, 1)).history).toHaveLength(1);
    await cancel(task.id);
  });

  it('lists the tasks of a context', async () => {
    const task = await begin('true');
    const { tasks } = await client.listTasks({
      tenant: '',
      contextId: task.contextId,
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: '',
      statusTimestampAfter: undefined,
    });
    expect(tasks.map(({ id }) => id)).toEqual([task.id]);
    await cancel(task.id);
  });

  it('subscribes, and is told that the task was canceled', async () => {
    const task = (await client.sendMessage({ ...saying('sleep 30'), configuration: atOnce })) as Task;
    const updates = subscribe(task.id);
    expect(taskIn((await updates.next()).value as StreamResponse).id).toBe(task.id);
    expect(stateOf(await cancel(task.id))).toBe('TASK_STATE_CANCELED');
    const rest: StreamResponse[] = [];
    for await (const event of updates) rest.push(event);
    const last = rest.at(-1)?.payload;
    expect(last?.$case === 'statusUpdate' && stateOf(last.value)).toBe('TASK_STATE_CANCELED');
  });

  it('is told by name what does not go', async () => {
    const unknown = randomUUID();
    expect(await failure(get(unknown))).toBe('TASK_NOT_FOUND');
    expect(await failure(cancel(unknown))).toBe('TASK_NOT_FOUND');
    expect(await failure(client.sendMessage(saying('true', { id: unknown, contextId: '' } as Task)))).toBe('TASK_NOT_FOUND');
    expect(await failure(subscribe(unknown).next())).toBe('TASK_NOT_FOUND');
  });
});

describe('over the WebSocket', () => {
  it('push configs are not made: who is connected is told anyway', async () => {
    const client = await clientOver(BINDING_URI);
    const task = (await client.sendMessage(saying('true'))) as Task;
    const config = { tenant: '', taskId: task.id, id: 'mine', url: 'https://hooks.example/a2a', token: '', authentication: undefined };
    expect(await failure(client.createTaskPushNotificationConfig(config))).toBe('UNSUPPORTED_OPERATION');
  });

  it('one that comes with a message is made, and is changed over HTTP', async () => {
    const [client, overHttp] = [await clientOver(BINDING_URI), await clientOver('HTTP+JSON')];
    const taskPushNotificationConfig = {
      tenant: '',
      taskId: '',
      id: 'mine',
      url: 'https://hooks.example/a2a',
      token: '',
      authentication: undefined,
    };
    const task = (await client.sendMessage({ ...saying('true'), configuration: { ...atOnce, taskPushNotificationConfig } })) as Task;
    const { configs } = await overHttp.listTaskPushNotificationConfig({ tenant: '', taskId: task.id, pageSize: 0, pageToken: '' });
    expect(configs.map(({ id, url }) => [id, url])).toEqual([['mine', 'https://hooks.example/a2a']]);
    const elsewhere = { ...taskPushNotificationConfig, url: 'https://10.0.0.1/a2a' };
    const refused = client.sendMessage({ ...saying('echo no', task), configuration: { ...atOnce, taskPushNotificationConfig: elsewhere } });
    expect(await failure(refused)).toBe('INVALID_PARAMS');
    await overHttp.cancelTask({ tenant: '', id: task.id, metadata: undefined });
  });
});

describe.each(['HTTP+JSON', 'JSONRPC'])('over %s alone', (binding) => {
  // A WebSocket to a session that has ended shows how it ended, and is closed.
  it('a task that is over can be asked for, and nothing else', async () => {
    const client = await clientOver(binding);
    const task = (await client.sendMessage(saying('exit 3'))) as Task;
    expect(stateOf(task)).toBe('TASK_STATE_FAILED');
    expect(stateOf(await client.getTask({ tenant: '', id: task.id }))).toBe('TASK_STATE_FAILED');
    expect(await failure(client.cancelTask({ tenant: '', id: task.id, metadata: undefined }))).toBe('TASK_NOT_CANCELABLE');
    expect(await failure(client.sendMessage(saying('true', task)))).toBe('UNSUPPORTED_OPERATION');
    expect(await failure(client.resubscribeTask({ tenant: '', id: task.id }).next())).toBe('UNSUPPORTED_OPERATION');
  });

  const listed = (client: Client, options?: Parameters<Client['getTask']>[1]) =>
    failure(client.getTask({ tenant: '', id: randomUUID() }, options));

  it('push configs are made, read, listed and removed', async () => {
    const client = await clientOver(binding);
    const task = (await client.sendMessage(saying('true'))) as Task;
    const config = {
      tenant: '',
      taskId: task.id,
      id: 'mine',
      url: 'https://hooks.example/a2a',
      token: 'secret',
      authentication: undefined,
    };
    expect(await client.createTaskPushNotificationConfig(config)).toMatchObject({ id: 'mine', taskId: task.id, url: config.url });
    const which = { tenant: '', taskId: task.id, id: 'mine' };
    expect((await client.getTaskPushNotificationConfig(which)).url).toBe(config.url);
    const list = async () =>
      (await client.listTaskPushNotificationConfig({ tenant: '', taskId: task.id, pageSize: 0, pageToken: '' })).configs;
    expect((await list()).map(({ id }) => id)).toEqual(['mine']);
    await client.deleteTaskPushNotificationConfig(which);
    expect(await list()).toEqual([]);
    await client.cancelTask({ tenant: '', id: task.id, metadata: undefined });
  });

  it('a version that is not served is refused', async () => {
    for (const version of ['0.3', '2.0'])
      expect(await listed(await clientOver(binding, { 'a2a-version': version, 'A2A-Version': version }))).toBe('VERSION_NOT_SUPPORTED');
  });

  it('pty-extensions/v1 is refused, in a header and in a message', async () => {
    const client = await clientOver(binding);
    const options = { serviceParameters: ServiceParameters.create(withA2AExtensions(EXTENSION_URI)) };
    expect(await listed(client, options)).toBe('UNSUPPORTED_OPERATION');
    expect(await failure(client.sendMessage(saying('true', undefined, { extensions: [EXTENSION_URI] })))).toBe('UNSUPPORTED_OPERATION');
    expect(await failure(client.sendMessageStream(saying('true', undefined, { extensions: [EXTENSION_URI] })).next())).toBe(
      'UNSUPPORTED_OPERATION',
    );
  });
});

function taskIn(event: StreamResponse | undefined): Task {
  if (event?.payload?.$case !== 'task') throw new Error(`expected the task first, got ${event?.payload?.$case}`);
  return event.payload.value;
}
