// A2A over HTTP+JSON, on real sessions. Knows no JSON-RPC.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
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

const errorInfo = (reason: string, domain = 'a2a-protocol.org', more: object = {}) =>
  expect.objectContaining({ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain, ...more });
const violation = (field: string) => [
  { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: expect.arrayContaining([expect.objectContaining({ field })]) },
];

test('a message without a task begins a session of the agent, is typed into it, and is answered when the task rests', async () => {
  const { status, json } = await agent.rest('POST', '/message:send', { message: message('echo a$((1+1))b', { contextId: 'mine' }) });
  expect(status).toBe(200);
  expect(json.task).toMatchObject({ contextId: 'mine', status: { state: 'TASK_STATE_INPUT_REQUIRED' } });
  const screen = await gateway.call('GET', `/agents/free/sessions/${json.task.id}/screen?format=text`);
  expect(screen.text).toContain('a2b');
  expect((await agent.rest('GET', `/tasks/${json.task.id}`)).json).toMatchObject({
    id: json.task.id,
    history: [{ parts: [{ text: 'echo a$((1+1))b' }] }],
  });
});

test('the same message twice is typed once, also the one that begins the session', async () => {
  const twice = message('echo once');
  const [a, b] = await Promise.all([1, 2].map(() => agent.rest('POST', '/message:send', { message: twice })));
  expect(a?.json.task.id).toBe(b?.json.task.id);
  expect(a?.json.task.history).toHaveLength(1);
});

test('a message may come while the task works on another: each is answered with all that was printed since it', async () => {
  const { json } = await agent.rest('POST', '/message:send', { message: message('true') });
  const taskId = json.task.id;
  const folder = await mkdtemp(path.join(os.tmpdir(), 'both-'));
  const outputOf = (task: { artifacts?: { name: string; metadata: object; parts: { text: string }[] }[] }) =>
    task.artifacts?.find(({ name }) => name === 'output');
  const ask = async (messageId: string, text: string) =>
    outputOf((await agent.rest('POST', '/message:send', { message: message(text, { taskId, messageId }) })).json.task);
  const now = async () => (await agent.rest('GET', `/tasks/${taskId}`)).json;
  const first = ask('first', `echo o$()ne; until [ -e ${folder}/go ]; do sleep 0.05; done; echo t$()wo`);
  await expect.poll(async () => outputOf(await now())?.parts[0]?.text, { timeout: 5000 }).toMatch(/^one/);
  const second = ask('second', 'echo th$()ree');
  await expect.poll(async () => (await now()).history.at(-1).messageId, { timeout: 5000 }).toBe('second');
  await writeFile(path.join(folder, 'go'), '');
  expect(await first).toMatchObject({
    metadata: { messageId: 'first' },
    parts: [{ text: expect.stringMatching(/^one\n.*two\n.*three\n$/s) }],
  });
  expect(await second).toMatchObject({
    metadata: { messageId: 'second' },
    parts: [{ text: expect.stringMatching(/^(?!one).*three\n$/s) }],
  });
  await rm(folder, { recursive: true });
});

test('a client may ask for the answer at once, and for no history', async () => {
  const configuration = { returnImmediately: true, historyLength: 0 };
  const { json } = await agent.rest('POST', '/message:send', { message: message('sleep 30'), configuration });
  expect(json.task.status.state).toBe('TASK_STATE_WORKING');
  expect(json.task).not.toHaveProperty('history');
  const canceled = await agent.rest('POST', `/tasks/${json.task.id}:cancel`);
  expect(canceled.json.status.state).toBe('TASK_STATE_CANCELED');
  expect(await agent.rest('POST', `/tasks/${json.task.id}:cancel`)).toMatchObject({
    status: 400,
    json: { error: { code: 400, status: 'FAILED_PRECONDITION', details: [errorInfo('TASK_NOT_CANCELABLE')] } },
  });
});

test('where nothing need be said, the body may be left out, empty, or null', async () => {
  for (const body of [undefined, '', 'null']) {
    const { json } = await agent.rest('POST', '/message:send', {
      message: message('sleep 30'),
      configuration: { returnImmediately: true },
    });
    const canceled = await gateway.call('POST', `/agents/free/a2a/v1/tasks/${json.task.id}:cancel`, {
      body,
      headers: { 'a2a-version': '1.0' },
    });
    expect(canceled.json.status.state).toBe('TASK_STATE_CANCELED');
  }
});

test('both spellings are read, unknown and unset members ignored, and camelCase is written', async () => {
  const { status, json } = await agent.rest('POST', '/message:send', {
    message: {
      message_id: 'snake',
      role: 'ROLE_USER',
      parts: [{ text: 'true', media_type: 'text/plain', odd: 1 }],
      task_id: '',
      extensions: null,
    },
    configuration: { return_immediately: true },
    tenant: 'whoever',
  });
  expect(status).toBe(200);
  expect(json.task.history[0]).toEqual({
    messageId: 'snake',
    role: 'ROLE_USER',
    parts: [{ text: 'true', mediaType: 'text/plain' }],
    taskId: json.task.id,
    contextId: json.task.contextId,
  });
});

test('what a client adds to a message and to its parts is kept, up to 64 KiB of JSON', async () => {
  const metadata = { a: 1, snake_case: { deep: [1, null, ''] } };
  const configuration = { returnImmediately: true };
  const given = message('', { metadata, parts: [{ text: 'true', metadata }], referenceTaskIds: ['other'] });
  const { json } = await agent.rest('POST', '/message:send', { message: given, configuration });
  expect(json.task.history[0]).toEqual({ ...given, taskId: json.task.id, contextId: json.task.contextId });
  const half = { half: 'x'.repeat(33_000) };
  for (const [field, more] of [
    ['message.metadata', { metadata: { most: 'x'.repeat(66_000) } }],
    ['message.parts.0.metadata', { metadata: half, parts: [{ text: 'true', metadata: half }] }],
    ['message.parts.1.data', { parts: [{ data: half }, { data: half }] }],
  ] as const) {
    const refused = await agent.rest('POST', '/message:send', { message: message('', { parts: [{ text: 'true' }], ...more }) });
    expect([refused.status, refused.json.error.details]).toEqual([400, violation(field)]);
  }
});

test('data is typed as its JSON, and a file of text as its text', async () => {
  const parts = [{ text: 'cat <<.' }, { data: { a: [1] } }, { raw: Buffer.from('é\n.').toString('base64'), mediaType: 'text/markdown' }];
  const { json } = await agent.rest('POST', '/message:send', { message: message('', { parts }) });
  expect(json.task.artifacts[0].parts[0].text).toBe('{"a":[1]}\né\n');
});

test('a verb that is none is a part of the id: there is no such task', async () => {
  for (const verb of ['pause', 'constructor', 'toString', '__proto__', '']) {
    for (const method of ['GET', 'POST']) {
      const { status, json } = await agent.rest(method, `/tasks/some:${verb}`);
      expect({ method, verb, status, reason: json.error.details[0].reason }).toEqual({
        method,
        verb,
        status: 404,
        reason: 'TASK_NOT_FOUND',
      });
    }
  }
});

test('each member of a request that is wrong is named', async () => {
  const { status, json } = await agent.rest('POST', '/message:send', { message: { role: 'USER', parts: [{}] } });
  expect(status).toBe(400);
  expect(json.error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT', message: expect.stringContaining('message.messageId') });
  expect(json.error.details).toEqual(violation('message.messageId'));
  expect(json.error.details).toEqual(violation('message.role'));
  expect((await agent.rest('GET', '/tasks?pageSize=101&historyLength=-5&status=RUNNING')).json.error.details).toEqual(
    violation('historyLength'),
  );
});

test('what stands in an address is a number or a truth value, or refused as in JSON-RPC', async () => {
  for (const [name, text] of [
    ['historyLength', '1.5'],
    ['historyLength', 'true'],
    ['pageSize', '0x10'],
    ['includeArtifacts', '1'],
  ]) {
    const answer = await agent.rest('GET', `/tasks?${name}=${text}`);
    expect([name, text, answer.status, answer.json.error?.details]).toEqual([name, text, 400, violation(name as string)]);
  }
  expect((await agent.rest('GET', '/tasks?historyLength=1&includeArtifacts=true&page_size=7')).json).toMatchObject({ pageSize: 7 });
});

test('what a terminal cannot take is refused by its media type, and so is an answer it cannot give', async () => {
  const tasks = async () => (await agent.rest('GET', '/tasks?includeArtifacts=false')).json.totalSize;
  const before = await tasks();
  for (const part of [
    { raw: 'AAAA', mediaType: 'image/png' },
    { raw: 'AAAA', mediaType: 'application/json' },
    { url: 'https://example.com/a.txt', mediaType: 'text/plain' },
    { url: 'https://example.com/a.txt' },
    { data: {}, mediaType: 'application/xml' },
  ]) {
    expect((await agent.rest('POST', '/message:send', { message: message('', { parts: [part] }) })).json.error.details).toEqual([
      errorInfo('CONTENT_TYPE_NOT_SUPPORTED'),
    ]);
  }
  expect(await tasks()).toBe(before);
  const configuration = { acceptedOutputModes: ['image/*'] };
  expect((await agent.rest('POST', '/message:send', { message: message('true'), configuration })).json.error.details).toEqual([
    errorInfo('CONTENT_TYPE_NOT_SUPPORTED'),
  ]);
});

test.each([
  ['no JSON', '{', {}, 400, 'INVALID_ARGUMENT'],
  ['deeper than anybody needs', '['.repeat(100_000), {}, 400, 'INVALID_ARGUMENT'],
  ['an array', '[]', {}, 400, 'INVALID_ARGUMENT'],
  ['too large', JSON.stringify('x'.repeat(1_100_000)), {}, 413, 'INVALID_ARGUMENT'],
  ['of another type', 'hello', { 'content-type': 'text/plain' }, 415, 'INVALID_ARGUMENT'],
])('a body that is %s is refused in words', async (_what, body, headers, status, code) => {
  const answer = await agent.rest('POST', '/message:send', body, { headers });
  expect(answer.status).toBe(status);
  expect(answer.json.error).toMatchObject({ code: status, status: code });
  expect(answer.text).not.toMatch(/\\n +at /);
});

test('another version of A2A than 1.0 is refused, and none at all is 0.3', async () => {
  for (const [version, status] of [
    ['', 400],
    ['0.3', 400],
    ['2.0', 400],
    ['1.0', 200],
    ['1.0.1', 200],
  ] as const) {
    const answer = await agent.rest('GET', '/tasks', undefined, { headers: { 'a2a-version': version } });
    expect([version, answer.status]).toEqual([version, status]);
    if (status === 400) expect(answer.json.error.details).toEqual([errorInfo('VERSION_NOT_SUPPORTED')]);
  }
  expect((await agent.rest('GET', '/tasks?A2A-Version=1.0', undefined, { headers: { 'a2a-version': '' } })).status).toBe(200);
});

test('pty-extensions/v1 is refused on every operation, with the binding that it needs', async () => {
  const details = [
    errorInfo('UNSUPPORTED_OPERATION'),
    errorInfo('UNSUPPORTED_EXTENSION', 'agentic-sandbox.aiwg.io', {
      metadata: { extension: EXTENSION_URI, requiredBinding: expect.stringContaining('pty-ws/v1') },
    }),
  ];
  const headers = { 'a2a-extensions': EXTENSION_URI };
  for (const [method, path] of [
    ['GET', '/tasks'],
    ['GET', '/extendedAgentCard'],
    ['GET', '/tasks/x:subscribe'],
    ['POST', '/message:stream'],
  ] as const) {
    const answer = await agent.rest(method, path, method === 'POST' ? { message: message('true') } : undefined, { headers });
    expect(answer).toMatchObject({
      status: 400,
      json: { error: { status: 'FAILED_PRECONDITION', message: expect.stringMatching(/^UnsupportedExtension: /), details } },
    });
  }
  const inMessage = await agent.rest('POST', '/message:stream', { message: message('true', { extensions: [EXTENSION_URI] }) });
  expect(inMessage.json.error.details).toEqual(details);
});

test('an answer is application/a2a+json for who asks for it, errors too', async () => {
  const headers = { accept: 'application/a2a+json', 'content-type': 'application/a2a+json' };
  const sent = await agent.rest(
    'POST',
    '/message:send',
    { message: message('true'), configuration: { returnImmediately: true } },
    { headers },
  );
  const unknown = await agent.rest('GET', '/tasks/none', undefined, { headers });
  expect([sent, unknown].map((answer) => answer.headers.get('content-type'))).toEqual(Array(2).fill('application/a2a+json; charset=utf-8'));
});

test('who has no token is told so; who may only look cannot speak; what one may not see does not exist', async () => {
  const { json } = await agent.rest('POST', '/message:send', { message: message('true'), configuration: { returnImmediately: true } });
  const at = `/tasks/${json.task.id}`;
  expect(await gateway.call('GET', `/agents/free/a2a/v1${at}`, { token: '' })).toMatchObject({
    status: 401,
    json: { error: { status: 'UNAUTHENTICATED' } },
  });
  expect((await agent.rest('GET', at, undefined, { token: gateway.token('pty:observe') })).status).toBe(200);
  const refused = await agent.rest('POST', '/message:send', { message: message('true') }, { token: gateway.token('pty:observe') });
  expect(refused).toMatchObject({ status: 403, json: { error: { status: 'PERMISSION_DENIED' } } });
  const elsewhere = await agent.rest('GET', at, undefined, { token: gateway.token('pty:control', { sessions: ['another'] }) });
  const nowhere = await agent.rest('GET', '/tasks/none');
  expect(elsewhere.status).toBe(404);
  expect(elsewhere.json.error.details[0].reason).toBe('TASK_NOT_FOUND');
  expect(elsewhere.json.error.message).toBe(nowhere.json.error.message);
  // Lines are written beside the answers.
  await vi.waitFor(() => {
    const audited = gateway.audit().filter(({ session_id }) => session_id === json.task.id);
    expect(audited.map(({ event, outcome }) => `${event} ${outcome}`)).toEqual(
      expect.arrayContaining(['session_create done', 'message done', 'task_read done', 'task_read denied']),
    );
  }, 10_000);
});

test('a token that names sessions speaks to those alone: no message of its begins another', async () => {
  const { json } = await agent.rest('POST', '/message:send', { message: message('true') });
  const call = { token: gateway.token('pty:control', { sessions: [json.task.id] }) };
  const before = (await agent.rest('GET', '/tasks')).json.totalSize;
  for (const path of ['/message:send', '/message:stream']) {
    const refused = await agent.rest('POST', path, { message: message('true') }, call);
    expect(refused).toMatchObject({ status: 403, json: { error: { status: 'PERMISSION_DENIED' } } });
  }
  expect((await agent.rest('GET', '/tasks')).json.totalSize).toBe(before);
  expect((await agent.rest('POST', '/message:send', { message: message('true', { taskId: json.task.id }) }, call)).status).toBe(200);
});

test('a message whose context is not its task’s is refused, and so is one to a task that is over', async () => {
  const { json } = await agent.rest('POST', '/message:send', { message: message('true'), configuration: { returnImmediately: true } });
  const taskId = json.task.id;
  const strange = await agent.rest('POST', '/message:send', { message: message('true', { taskId, contextId: 'another' }) });
  expect(strange.json.error.details).toEqual(violation('message.contextId'));
  await agent.rest('POST', `/tasks/${taskId}:cancel`);
  const late = await agent.rest('POST', '/message:send', { message: message('true', { taskId }) });
  expect(late.json.error.details).toEqual([errorInfo('UNSUPPORTED_OPERATION')]);
});
