// Push notifications over both HTTP bindings: configs are set, shown and removed, and receivers are told what clients are told.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Gateway, startGateway } from '../routes/gateway.js';
import { openReceiver, type Receiver } from '../support/receiver.js';
import { message, type Speaker, speakTo } from './speaker.js';

let gateway: Gateway;
let agent: Speaker;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await openReceiver();
  gateway = await startGateway({ PUSH_ALLOWED_HOSTS: `localhost:${receiver.port}` });
  agent = speakTo(gateway);
});
afterAll(async () => {
  await gateway.close();
  await receiver.close();
});

const authentication = { scheme: 'Bearer', credentials: 'a secret' };
const begin = async (text = 'true') => (await agent.rest('POST', '/message:send', { message: message(text) })).json.task.id as string;
const ended = (taskId: string) => () =>
  receiver.events().some(({ statusUpdate }) => statusUpdate?.taskId === taskId && JSON.stringify(statusUpdate).includes('COMPLETED'));

test('a message may bring its config along: its receiver is told what a client of the stream is told', async () => {
  const configuration = { taskPushNotificationConfig: { url: receiver.url, token: 'a token', authentication } };
  const stream = await agent.stream('POST', '/message:stream', { message: message('echo hello; exit'), configuration });
  const seen = (await stream.all()).filter((event) => event.task === undefined);
  const taskId = (seen[0].statusUpdate ?? seen[0].artifactUpdate).taskId;
  await receiver.until(ended(taskId));
  const told = receiver.events();
  for (const event of seen) expect(told).toContainEqual(event);
  expect(told.every((event) => Object.keys(event).length === 1)).toBe(true);
  expect(receiver.got[0]?.headers).toMatchObject({ 'x-a2a-notification-token': 'a token', authorization: 'Bearer a secret' });
});

test('a config is set, shown without its credentials, listed and removed, over REST', async () => {
  const taskId = await begin();
  const configs = `/tasks/${taskId}/pushNotificationConfigs`;
  const shown = { id: 'mine', taskId, url: receiver.url, authentication: { scheme: 'Bearer' } };
  expect(await agent.rest('POST', configs, { id: 'mine', url: receiver.url, authentication })).toMatchObject({ status: 200, json: shown });
  expect((await agent.rest('GET', `${configs}/mine`)).json).toEqual(shown);
  expect((await agent.rest('GET', configs)).json.configs).toEqual([shown]);
  expect((await agent.rest('DELETE', `${configs}/mine`)).status).toBe(200);
  expect((await agent.rest('DELETE', `${configs}/mine`)).status).toBe(200);
  expect((await agent.rest('GET', `${configs}/mine`)).status).toBe(404);
});

test('who may only look is not shown where a task is told of, nor the token that goes there', async () => {
  const taskId = await begin();
  const configs = `/tasks/${taskId}/pushNotificationConfigs`;
  await agent.rest('POST', configs, { id: 'mine', url: receiver.url, token: 'a token' });
  const call = { token: gateway.token('pty:observe') };
  for (const path of [configs, `${configs}/mine`]) {
    const refused = await agent.rest('GET', path, undefined, call);
    expect(refused.status).toBe(403);
    expect(refused.text).not.toContain('a token');
  }
});

test('and over JSON-RPC, also when the task has ended', async () => {
  const taskId = await begin('exit');
  const set = await agent.rpc('CreateTaskPushNotificationConfig', { taskId, url: 'https://receiver.example/hook' });
  expect(set.json.result).toMatchObject({ taskId, id: expect.any(String) });
  const { id } = set.json.result;
  expect((await agent.rpc('GetTaskPushNotificationConfig', { taskId, id })).json.result).toEqual(set.json.result);
  await agent.rpc('DeleteTaskPushNotificationConfig', { taskId, id });
  expect((await agent.rpc('ListTaskPushNotificationConfigs', { taskId })).json.result.configs).toEqual([]);
});

test('a URL that may not be reached is refused, and why is said', async () => {
  const taskId = await begin();
  for (const [url, words] of [
    ['http://localhost:1/', 'localhost is no address'],
    ['http://receiver.example/', 'https://'],
    ['https://169.254.169.254/latest', 'no address'],
    ['nowhere', 'https://'],
  ]) {
    const { status, json } = await agent.rest('POST', `/tasks/${taskId}/pushNotificationConfigs`, { url });
    expect([status, json.error.message]).toEqual([400, expect.stringContaining(words as string)]);
  }
});

test('a message whose config is refused is not typed', async () => {
  const taskId = await begin();
  const configuration = { taskPushNotificationConfig: { url: 'https://10.0.0.1/' } };
  expect((await agent.rest('POST', '/message:send', { message: message('true', { taskId }), configuration })).status).toBe(400);
  expect((await agent.rest('GET', `/tasks/${taskId}`)).json.history).toHaveLength(1);
});

test('what was delivered is counted, and no secret is in the audit file', async () => {
  const metrics = await gateway.call('GET', '/metrics');
  expect(metrics.text).toMatch(/pty_gateway_push_notifications_total\{outcome="delivered"\} [1-9]/);
  expect(metrics.text).toContain('pty_gateway_push_notifications_total{outcome="failed"} 0');
  expect(JSON.stringify(gateway.audit())).not.toContain('a secret');
});
