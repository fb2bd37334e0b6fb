// The A2A operations on a connection: messages, updates, and who may what.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXTENSION_URI } from '../../src/protocol/names.js';
import { type AttachServer, type Client, nameOf, startAttachServer, type Told } from '../support/attach-server.js';

let server: AttachServer;
beforeAll(async () => {
  server = await startAttachServer();
});
afterAll(() => server.close());

const message = (text: string, more: object = {}, parts: object[] = [{ text }]) => ({
  message: { messageId: text, role: 'ROLE_USER', parts, ...more },
});
const stateOf = (frame: Told) => (frame.payload.task as { status: { state: string } }).status.state;
const updates = (client: Client) => client.frames.filter((frame): frame is Told => nameOf(frame) === 'TaskStatusUpdate');

describe('SendMessage', () => {
  it('answers when the task rests, or at once if asked to', async () => {
    const session = server.newSession();
    const client = await server.greet(session);
    const now = client.say('SendMessage', { ...message('a'), configuration: { returnImmediately: true } });
    expect(stateOf(await client.answer(now))).toBe('TASK_STATE_WORKING');
    const later = client.say('SendMessage', message('b'));
    const answer = await client.answer(later);
    expect([answer.op, stateOf(answer)]).toEqual(['SendMessage.Response', 'TASK_STATE_INPUT_REQUIRED']);
    expect(session.typed).toEqual(['a\r', 'b\r']);
  });

  it('needs control: the lease of this connection, or a free one', async () => {
    const session = server.newSession();
    const controller = await server.greet(session);
    await controller.attach();
    const other = await server.greet(session);
    expect((await other.answer(other.say('SendMessage', message('no')))).payload.code).toBe('PERMISSION_DENIED');
    const mine = controller.say('SendMessage', { ...message('yes'), configuration: { returnImmediately: true } });
    expect((await controller.answer(mine)).op).toBe('SendMessage.Response');
    const observer = await server.greet(session, { scope: 'pty:observe' });
    expect((await observer.answer(observer.say('SendMessage', message('no')))).payload.code).toBe('PERMISSION_DENIED');
    expect(session.typed).toEqual(['yes\r']);
  });

  it('types data as its JSON and files of text as their text, and refuses what is neither by its name in A2A', async () => {
    const session = server.newSession();
    const client = await server.greet(session);
    const say = (parts: object[]) => client.answer(client.say('SendMessage', message('m', {}, parts)));
    const metadata = { a: { b: [1] } };
    const answer = await say([{ text: 'x', metadata }, { data: [1] }, { raw: 'w6k=', mediaType: 'text/markdown' }]);
    expect(session.typed).toEqual(['x\r[1]\ré\r']);
    expect(answer).toMatchObject({ payload: { task: { history: [{ parts: [{ metadata }, { data: [1] }, {}] }] } } });
    for (const part of [{ url: 'https://example.com/a' }, { raw: 'AAAA' }, { raw: 'AAAA', mediaType: 'application/json' }]) {
      const { payload } = await say([part]);
      expect(payload).toMatchObject({
        code: 'INVALID_REQUEST',
        message: expect.stringMatching(/^ContentTypeNotSupported: message\.parts/),
      });
    }
  });

  it('for another task is TASK_NOT_FOUND', async () => {
    const client = await server.greet(server.newSession());
    expect((await client.answer(client.say('SendMessage', message('no', { taskId: 'other' })))).payload.code).toBe('TASK_NOT_FOUND');
  });
});

describe('SendStreamingMessage', () => {
  it('is accepted first, then tells of the task until it rests, and no further', async () => {
    const session = server.newSession();
    const client = await server.greet(session);
    const id = client.say('SendStreamingMessage', message('a'));
    expect(await client.frame()).toMatchObject({ op: 'SendStreamingMessage.Accepted', id, payload: { task_id: session.id } });
    expect([stateOf((await client.frame()) as Told), stateOf((await client.frame()) as Told)]).toEqual([
      'TASK_STATE_WORKING',
      'TASK_STATE_INPUT_REQUIRED',
    ]);
    await session.task.cancel();
    session.close('killed');
    expect(await client.next()).toBe('binding_goodbye');
    expect(updates(client).length).toBe(2);
  });

  it('that is refused leaves no subscription behind', async () => {
    const session = server.newSession();
    await (await server.greet(session)).attach();
    const other = await server.greet(session);
    expect((await other.answer(other.say('SendStreamingMessage', message('no')))).payload.code).toBe('PERMISSION_DENIED');
    session.close();
    expect(await other.next()).toBe('binding_goodbye');
  });
});

describe('SubscribeToTask', () => {
  it('brings each update once, however often it was asked for, until Unsubscribe', async () => {
    const session = server.newSession();
    const client = await server.greet(session);
    await client.answer(client.say('SubscribeToTask', { task_id: session.id }));
    await client.answer(client.say('SubscribeToTask', { task_id: session.id }));
    await client.answer(client.say('SendMessage', message('a')));
    await expect.poll(() => updates(client).map(stateOf)).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED']);
    await client.answer(client.say('Unsubscribe', { task_id: session.id }));
    await client.answer(client.say('SendMessage', message('b')));
    expect(updates(client).length).toBe(2);
  });

  it('with replay_from brings the updates after it again', async () => {
    const session = server.newSession();
    const first = await server.greet(session);
    await first.answer(first.say('SendMessage', message('a')));
    const late = await server.greet(session);
    const accepted = await late.answer(late.say('SubscribeToTask', { task_id: session.id }, { replay_from: 0 }));
    expect(accepted.payload.current_sequence).toBe(session.frames.extent().current);
    expect([stateOf((await late.frame()) as Told), stateOf((await late.frame()) as Told)]).toEqual([
      'TASK_STATE_WORKING',
      'TASK_STATE_INPUT_REQUIRED',
    ]);
    const tooLate = late.say('SubscribeToTask', { task_id: session.id }, { replay_from: 999 });
    await late.answer(tooLate);
    expect(await late.next()).toBe('REPLAY_OUT_OF_RANGE');
  });

  it('goes on over a join, in the order of the numbers', async () => {
    const session = server.newSession();
    const client = await server.greet(session);
    await client.answer(client.say('SubscribeToTask', { task_id: session.id }, { extensions: [EXTENSION_URI] }));
    client.say('SendMessage', message('a'));
    client.join();
    await client.until('Keyframe');
    while (updates(client).length < 2) await client.frame();
    const numbers = client.frames.map((frame) => (frame as Told).sequence).filter((n) => n !== undefined);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
  });
});

describe('service parameters', () => {
  it('of the first frame go with every update to this connection, and are replaced by UpdateServiceParameters', async () => {
    const session = server.newSession();
    const client = await server.greet(session);
    const other = await server.greet(session);
    await other.answer(other.say('SubscribeToTask', { task_id: session.id }));
    await client.answer(client.say('SubscribeToTask', { task_id: session.id }, { service_parameters: { trace_id: 'mine' } }));
    await client.answer(client.say('SendMessage', message('a')));
    for (const update of updates(client))
      expect(update).toMatchObject({ service_parameters: { trace_id: 'mine' }, payload: { delta: { metadata: { trace_id: 'mine' } } } });
    await other.until('TaskStatusUpdate');
    expect(updates(other)[0]?.service_parameters).toBeUndefined();
    await client.answer(client.say('UpdateServiceParameters', { service_parameters: { trace_id: 'new' } }));
    await session.task.cancel();
    expect((await client.until('TaskStatusUpdate')).service_parameters).toEqual({ trace_id: 'new' });
    expect(server.audit.find((line) => line.event === 'message' && line.session_id === session.id)?.trace_id).toBe('mine');
  });
});

describe('reading tasks', () => {
  it('is for observers too; another id is TASK_NOT_FOUND', async () => {
    const session = server.newSession();
    const client = await server.greet(session, { scope: 'pty:observe' });
    const list = await client.answer(client.say('ListTasks', { page_size: 10, page_token: null, filter: null }));
    expect(list.payload).toMatchObject({ tasks: [{ id: session.id }], next_page_token: null });
    expect((await client.answer(client.say('ListTasks', { filter: { state: 'TASK_STATE_FAILED' } }))).payload.tasks).toEqual([]);
    for (const op of ['GetTask', 'SubscribeToTask', 'Unsubscribe']) {
      expect((await client.answer(client.say(op, { task_id: 'other' }))).payload.code).toBe('TASK_NOT_FOUND');
    }
    expect((await client.answer(client.say('CancelTask', { task_id: session.id }))).payload.code).toBe('PERMISSION_DENIED');
  });

  it('CancelTask is answered before the goodbye, with the update before it', async () => {
    const session = server.newSession();
    const client = await server.greet(session);
    await client.answer(client.say('SubscribeToTask', { task_id: session.id }));
    const answer = await client.answer(client.say('CancelTask', { task_id: session.id }));
    expect(stateOf(answer)).toBe('TASK_STATE_CANCELED');
    await client.until('binding_goodbye');
    expect(updates(client).map(stateOf)).toEqual(['TASK_STATE_CANCELED']);
    const late = await server.greet(session);
    expect((await late.answer(late.say('CancelTask', { task_id: session.id }))).payload.code).toBe('TASK_NOT_CANCELABLE');
  });
});
