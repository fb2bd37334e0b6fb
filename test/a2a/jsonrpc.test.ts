// A2A over JSON-RPC 2.0, on real sessions: the envelope and the errors; what the operations do is told in http.test.ts.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { EXTENSION_URI } from '../../src/protocol/names.js';
import { type Gateway, startGateway } from '../routes/gateway.js';
import { message, type Speaker, speakTo } from './speaker.js';

let gateway: Gateway;
let agent: Speaker;

beforeAll(async () => {
  gateway = await startGateway();
  agent = speakTo(gateway);
});
afterAll(() => gateway.close());

const post = (body: unknown, headers: Record<string, string> = {}, token = gateway.token()) =>
  gateway.call('POST', '/agents/free/a2a/jsonrpc', { token, headers: { 'a2a-version': '1.0', ...headers }, body });

test('a message, its task, the list that it is in, and its end', async () => {
  const sent = await agent.rpc('SendMessage', { message: message('echo a$((1+1))b') });
  expect(sent).toMatchObject({
    status: 200,
    json: { jsonrpc: '2.0', id: 1, result: { task: { status: { state: 'TASK_STATE_INPUT_REQUIRED' } } } },
  });
  const { id, contextId } = sent.json.result.task;
  expect((await agent.rpc('GetTask', { id, historyLength: 0 })).json.result).not.toHaveProperty('history');
  expect((await agent.rpc('ListTasks', { contextId })).json.result).toMatchObject({
    tasks: [{ id }],
    nextPageToken: '',
    pageSize: 50,
    totalSize: 1,
  });
  expect((await agent.rpc('CancelTask', { id })).json.result.status.state).toBe('TASK_STATE_CANCELED');
});

test.each([
  ['no JSON', '{"jsonrpc": "2.0", "id": 1,', null, -32700],
  ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'ListTasks' }], null, -32600],
  ['a text', '"GetTask"', null, -32600],
  ['of another version', { jsonrpc: '1.0', id: 1, method: 'ListTasks' }, 1, -32600],
  ['without an id', { jsonrpc: '2.0', method: 'ListTasks' }, null, -32600],
  ['with an id that is none', { jsonrpc: '2.0', id: {}, method: 'ListTasks' }, null, -32600],
  ['for an operation that there is not', { jsonrpc: '2.0', id: 'a', method: 'message/send', params: {} }, 'a', -32601],
  ['for a name that every object has', { jsonrpc: '2.0', id: 'a', method: 'constructor' }, 'a', -32601],
  ['with a list of parameters', { jsonrpc: '2.0', id: 2, method: 'ListTasks', params: [] }, 2, -32602],
])('a request that is %s is answered as an error', async (_what, body, id, code) => {
  const { status, json } = await post(body);
  expect(status).toBe(200);
  expect(json).toEqual({ jsonrpc: '2.0', id, error: expect.objectContaining({ code, message: expect.any(String) }) });
});

test('A2A’s errors have their numbers, and details that say what they are', async () => {
  const unknown = await agent.rpc('GetTask', { id: 'none' });
  expect(unknown.json.error).toEqual({
    code: -32001,
    message: 'there is no such task',
    data: [
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: 'TASK_NOT_FOUND',
        domain: 'a2a-protocol.org',
        metadata: { taskId: 'none' },
      },
    ],
  });
  const wrong = await agent.rpc('GetTask', { id: 5 });
  expect(wrong.json.error).toMatchObject({ code: -32602, data: [{ fieldViolations: [{ field: 'id' }] }] });
  expect((await agent.rpc('GetTask', { id: 'x' }, { headers: { 'a2a-version': '0.3' } })).json.error.code).toBe(-32009);
  expect((await agent.rpc('ListTaskPushNotificationConfigs', { taskId: 'x' })).json.error.code).toBe(-32001);
  expect((await agent.rpc('SubscribeToTask', { id: 'x' }, { headers: { 'x-a2a-extensions': EXTENSION_URI } })).json.error).toMatchObject({
    code: -32004,
    message: expect.stringMatching(/^UnsupportedExtension: /),
    data: [{ reason: 'UNSUPPORTED_OPERATION' }, { reason: 'UNSUPPORTED_EXTENSION', domain: 'agentic-sandbox.aiwg.io' }],
  });
});

test('what HTTP refuses keeps its status, in the same shape', async () => {
  const body = { jsonrpc: '2.0', id: 7, method: 'ListTasks' };
  expect(await post(body, {}, '')).toMatchObject({
    status: 401,
    json: { jsonrpc: '2.0', id: null, error: { code: -32000, data: [{ reason: 'UNAUTHENTICATED' }] } },
  });
  expect(await post('hello', { 'content-type': 'text/plain' })).toMatchObject({ status: 415, json: { error: { code: -32005 } } });
  const send = { ...body, method: 'SendMessage', params: { message: message('true') } };
  expect(await post(send, {}, gateway.token('pty:observe'))).toMatchObject({
    status: 403,
    json: { id: 7, error: { data: [{ reason: 'PERMISSION_DENIED' }] } },
  });
});

test('the card that a token may see', async () => {
  expect((await agent.rpc('GetExtendedAgentCard')).json.result).toMatchObject({ name: 'Shell', capabilities: { streaming: true } });
});
