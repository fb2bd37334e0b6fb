// A2A through whichever replica a client comes to. Knows no session but by its task.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Gateways, type Replica, startGateways, tokenFor } from '../support/gateways.js';
import { needs } from '../support/needs.js';
import { message } from './speaker.js';

// Several processes start, and the machine may be busy with others.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 120_000 });

needs('redis-server', 'redis-cli')('two replicas', () => {
  let gateways: Gateways;
  beforeAll(async () => {
    gateways = await startGateways();
  });
  afterAll(() => gateways.dispose());

  const ask = (to: Replica, method: string, path: string, body?: object) =>
    fetch(`http://127.0.0.1:${to.port}/agents/shell/a2a/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${tokenFor('alice', 'pty:control')}`,
        'a2a-version': '1.0',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  // biome-ignore lint/suspicious/noExplicitAny: an answer may be anything; the test says what it expects.
  const json = async (response: Promise<Response>): Promise<any> => (await response).json();
  const events = async (response: Response) =>
    (await response.text()).split('\n\n').flatMap((event) => (event.startsWith('data: ') ? [JSON.parse(event.slice(6))] : []));

  it('tell of a task alike, whichever of them runs it, and stream what a message makes of it to the end', async () => {
    const [one, two] = [gateways.at(0), gateways.at(1)];
    const { task } = await json(ask(one, 'POST', '/message:send', { message: message('echo one-$((1+1))') }));
    const own = await json(ask(one, 'GET', `/tasks/${task.id}`));
    expect(await json(ask(two, 'GET', `/tasks/${task.id}`))).toEqual(own);
    const streamed = await events(
      await ask(two, 'POST', '/message:stream', { message: message('echo two-$((1+1))', { taskId: task.id }) }),
    );
    expect(streamed[0].task).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_WORKING' } });
    expect(streamed.at(-1).statusUpdate.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(JSON.stringify(streamed)).toContain('two-2');
    const subscribed = await ask(two, 'GET', `/tasks/${task.id}:subscribe`);
    expect((await json(ask(two, 'POST', `/tasks/${task.id}:cancel`))).status.state).toBe('TASK_STATE_CANCELED');
    expect((await events(subscribed)).at(-1)).toMatchObject({ statusUpdate: { status: { state: 'TASK_STATE_CANCELED' } } });
    expect((await json(ask(two, 'GET', '/tasks'))).tasks).toEqual((await json(ask(one, 'GET', '/tasks'))).tasks);
  });
});
