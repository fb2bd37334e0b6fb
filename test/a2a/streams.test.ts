// A2A's streams over both HTTP bindings, on real sessions. Knows no webhook.
import { request } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import pino from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import type { Agent } from '../../src/agents/agents.js';
import { gate } from '../../src/session/bounded.js';
import type { Session } from '../../src/session/session.js';
import { type Gateway, startGateway } from '../routes/gateway.js';
import { message, type Speaker, speakTo } from './speaker.js';

let gateway: Gateway;
let agent: Speaker;

beforeAll(async () => {
  gateway = await startGateway();
  agent = speakTo(gateway);
});
afterAll(() => gateway.close());

const working = async () => {
  const { json } = await agent.rest('POST', '/message:send', { message: message('cat'), configuration: { returnImmediately: true } });
  return json.task.id as string;
};

/** What a client has of the artifact `output` in the end. */
// biome-ignore lint/suspicious/noExplicitAny: events of a stream.
function outputOf(events: any[]): string {
  let text = '';
  for (const { task, artifactUpdate } of events) {
    const artifacts = task?.artifacts ?? (artifactUpdate ? [artifactUpdate.artifact] : []);
    const [output] = artifacts.filter(({ artifactId }: { artifactId: string }) => artifactId === 'output');
    if (output) text = (artifactUpdate?.append ? text : '') + output.parts.map((part: { text: string }) => part.text).join('');
  }
  return text;
}

test('a streaming message begins with the task and ends when it rests', async () => {
  const events = await agent.stream('POST', '/message:stream', { message: message('echo hello') });
  expect(events.response.headers.get('content-type')).toBe('text/event-stream');
  const all = await events.all();
  expect(all[0]).toMatchObject({ task: { id: expect.any(String), status: { state: 'TASK_STATE_WORKING' } } });
  expect(all.at(-1)).toMatchObject({ statusUpdate: { taskId: all[0].task.id, status: { state: 'TASK_STATE_INPUT_REQUIRED' } } });
});

test('a subscription goes on while the task rests, and ends with it', async () => {
  const id = await working();
  const events = await agent.rpcStream('SubscribeToTask', { id });
  const all = events.all();
  await agent.rpc('SendMessage', { message: message('again', { taskId: id }) });
  await agent.rpc('CancelTask', { id });
  const states = (await all).flatMap(({ result }) => (result.artifactUpdate ? [] : [(result.task ?? result.statusUpdate).status.state]));
  expect(states[0]).toMatch(/WORKING|INPUT_REQUIRED/);
  expect(states).toContain('TASK_STATE_INPUT_REQUIRED');
  expect(states.at(-1)).toBe('TASK_STATE_CANCELED');
});

test('all who subscribe are told the same, and one who leaves harms nobody', async () => {
  const id = await working();
  const [a, b, leaver] = await Promise.all([
    agent.stream('GET', `/tasks/${id}:subscribe`),
    agent.stream('POST', `/tasks/${id}:subscribe`),
    agent.stream('GET', `/tasks/${id}:subscribe`),
  ]);
  for await (const _ of leaver) break;
  leaver.leave();
  const both = [a.all(), b.all()];
  await agent.rest('POST', `/tasks/${id}:cancel`);
  const [first, second] = (await Promise.all(both)).map((events) => events.filter((event) => event.statusUpdate));
  expect(first?.at(-1).statusUpdate.status.state).toBe('TASK_STATE_CANCELED');
  expect(first).toEqual(second);
});

test('whenever one subscribes, the first task and what is appended to it make the output, no line twice and none missing', async () => {
  const lines = 'for n in $(seq 300); do echo line-$n; sleep 0.005; done';
  const { json } = await agent.rest('POST', '/message:send', { message: message(lines), configuration: { returnImmediately: true } });
  const subscribe = () => agent.stream('GET', `/tasks/${json.task.id}:subscribe`);
  const streams = [];
  for (let n = 0; n < 8; n++) streams.push((await subscribe()).all());
  for await (const { statusUpdate } of await subscribe()) if (statusUpdate?.status.state === 'TASK_STATE_INPUT_REQUIRED') break;
  await agent.rest('POST', `/tasks/${json.task.id}:cancel`);
  for (const events of await Promise.all(streams)) {
    const printed = outputOf(events).match(/^line-\d+$/gm) ?? [];
    expect(printed).toEqual(Array.from({ length: 300 }, (_, n) => `line-${n + 1}`));
  }
});

test('a task that is over cannot be subscribed to; the error is no stream', async () => {
  const id = await working();
  await agent.rest('POST', `/tasks/${id}:cancel`);
  const { response } = await agent.stream('GET', `/tasks/${id}:subscribe`);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { details: [{ reason: 'UNSUPPORTED_OPERATION' }] } });
});

test('asking for the head of a stream opens none', async () => {
  const { response } = await agent.stream('HEAD', `/tasks/${await working()}:subscribe`);
  expect(response.status).toBe(404);
});

test('a principal has so many streams at a time, and one that is left makes room for another', async () => {
  const id = await working();
  const token = gateway.token('pty:observe', { sub: 'crowd' });
  const subscribe = () => agent.stream('GET', `/tasks/${id}:subscribe`, undefined, { token });
  const streams = await Promise.all(Array.from({ length: 64 }, subscribe));
  expect(streams.every(({ response }) => response.status === 200)).toBe(true);
  const refused = await subscribe();
  expect(refused.response.status).toBe(429);
  expect(await refused.response.json()).toMatchObject({ error: { status: 'RESOURCE_EXHAUSTED' } });
  streams[0]?.leave();
  await vi.waitFor(async () => expect((await subscribe()).response.status).toBe(200), 10_000);
  for (const { leave } of streams) leave();
});

test('a client that hangs up while it waits for its answer leaves nobody waiting', async () => {
  const { id, frames } = (await gateway.app.sessions.find('free', await working())) as Session;
  const followed = vi.fn();
  const left = vi.fn();
  const follow = frames.follow.bind(frames);
  vi.spyOn(frames, 'follow').mockImplementation((follower) => {
    const stop = follow(follower);
    followed();
    return () => {
      stop();
      left();
    };
  });
  const waiting = unanswered(id);
  await vi.waitFor(() => expect(followed).toHaveBeenCalled(), 10_000);
  waiting.abort();
  await vi.waitFor(() => expect(left).toHaveBeenCalled(), 10_000);
});

test('a client that hangs up before its stream begins is no failure in the log', async () => {
  const quiet = await startGateway({ LOG_LEVEL: 'debug' });
  onTestFinished(() => quiet.close());
  const lines = linesOf(quiet.app.log);
  const arrived = gate();
  const gone = new Promise<void>((resolve) => quiet.app.server.once('connection', (socket) => socket.once('close', () => resolve())));
  const find = quiet.app.sessions.find.bind(quiet.app.sessions);
  vi.spyOn(quiet.app.sessions, 'find').mockImplementation(async (...which) => {
    arrived.open();
    await gone;
    return find(...which);
  });
  const session = await quiet.app.sessions.create(quiet.app.agents.get('free') as Agent, {}, 'alice');
  const headers = { authorization: `Bearer ${quiet.token()}`, 'a2a-version': '1.0', 'content-type': 'application/json' };
  const asked = request(`${quiet.base}/agents/free/a2a/v1/message:stream`, { method: 'POST', agent: false, headers });
  asked.on('error', () => {}).end(JSON.stringify({ message: message('true', { taskId: session.id }) }));
  await arrived.promise;
  asked.destroy();
  await vi.waitFor(
    () => expect(lines).toContainEqual(expect.objectContaining({ level: 20, msg: expect.stringContaining('hung up') })),
    10_000,
  );
  expect(lines.filter((line) => line.level > 30 || 'err' in line)).toEqual([]);
});

/** What is logged from now on, instead of being printed. */
function linesOf(log: FastifyBaseLogger): Array<Record<string, unknown> & { level: number }> {
  const lines: ReturnType<typeof linesOf> = [];
  const output = (log as unknown as Record<symbol, { write(line: string): boolean }>)[pino.symbols.streamSym];
  vi.spyOn(output as NonNullable<typeof output>, 'write').mockImplementation((line) => lines.push(JSON.parse(line)) > 0);
  return lines;
}

/** Asks for an answer that does not come, and can be left. */
function unanswered(taskId: string): AbortController {
  const hangUp = new AbortController();
  fetch(`${gateway.base}/agents/free/a2a/v1/message:send`, {
    method: 'POST',
    signal: hangUp.signal,
    headers: { authorization: `Bearer ${gateway.token()}`, 'a2a-version': '1.0', 'content-type': 'application/json' },
    body: JSON.stringify({ message: message('sleep 1000', { taskId }) }),
  }).catch(() => {}); // it is left
  return hangUp;
}

test('a gateway that shuts down ends its streams in order', async () => {
  const id = await working();
  const events = await agent.stream('GET', `/tasks/${id}:subscribe`);
  gateway.app.endEventStreams();
  expect((await events.all())[0]).toMatchObject({ task: { id } });
});
