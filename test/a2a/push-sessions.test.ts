// Whom sessions tell of their tasks: kept with the session, told in order, and told on by whoever goes on with it.
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { MAX_PUSH_CONFIGS } from '../../src/a2a/push.js';
import { openEmbeddedLog } from '../../src/log/embedded/embedded-log.js';
import { readPayload } from '../../src/protocol/make-frames.js';
import { keptSession } from '../../src/session/record.js';
import type { Session } from '../../src/session/session.js';
import { Telling } from '../../src/session/telling.js';
import { agent, openHouse, Watcher } from '../support/house.js';
import { notifying } from '../support/notifying.js';
import { openReceiver, type Receiver, type ReceiverOptions } from '../support/receiver.js';
import { openStreet, type Street } from '../support/street.js';

const closing: Array<() => Promise<unknown>> = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function receiving(options: ReceiverOptions = {}): Promise<Receiver> {
  const receiver = await openReceiver(options);
  closing.push(() => receiver.close());
  return receiver;
}

async function house(options: { dir?: string; sender?: ReturnType<typeof notifying> } = {}) {
  const opened = await openHouse({ ...options, sender: (options.sender ?? notifying()).notifier });
  const close = onlyOnce(opened.close);
  closing.push(close);
  return { ...opened, close };
}

async function street(ids: readonly string[], agents: Parameters<typeof openStreet>[1] = []): Promise<Street> {
  const opened = await openStreet(ids, agents, () => notifying({ patienceMs: 5000 }).notifier);
  const close = onlyOnce(opened.close);
  closing.push(close);
  return { ...opened, close };
}

function onlyOnce(close: () => Promise<void>): () => Promise<void> {
  let closed: Promise<void> | undefined;
  return () => {
    closed ??= close();
    return closed;
  };
}

const message = (text: string) => ({ messageId: `m-${text}`, role: 'ROLE_USER', parts: [{ text }] });
const say = (session: Session, text: string) => session.task.send(message(text), { author: 'message' });
type Event = ReturnType<Receiver['events']>[number];
const statesOf = (events: readonly Event[]) =>
  events.flatMap(({ statusUpdate }) => (statusUpdate ? [(statusUpdate.status as { state: string }).state.replace('TASK_STATE_', '')] : []));
/** The states that a receiver took, in the order of their coming; artifacts come between them. */
const states = (receiver: Receiver) => statesOf(receiver.events());
/** Without what came again: where a replica dies, what was delivered a moment before may come twice. */
const once = (receiver: Receiver) => statesOf([...new Set(receiver.taken.map(({ text }) => text))].map((text) => JSON.parse(text)));
/** As a client of the stream is told of it, from now on. */
function streamed(session: Session): object[] {
  const events: object[] = [];
  session.frames.follow((entries) => {
    for (const entry of entries.filter(({ kind }) => kind === 'TaskStatusUpdate')) {
      const { delta } = readPayload(entry) as unknown as { delta: object };
      events.push('artifact' in delta ? { artifactUpdate: delta } : { statusUpdate: delta });
    }
  });
  return events;
}
const has = (receiver: Receiver, state: string) => () => states(receiver).includes(state);
const found = async (town: Street, replica: string, { id }: Session) => (await town.sessions(replica).find('inst', id)) as Session;

describe('The receivers of a task', () => {
  it('are told of each of its updates, in order and once', async () => {
    const { sessions } = await house();
    const session = await sessions.create(agent(), {}, 'someone');
    const [one, other] = [await receiving(), await receiving()];
    await session.task.push.set({ url: one.url });
    await session.task.push.set({ url: other.url });
    const events = streamed(session);
    await say(session, 'echo hello');
    await one.until(has(one, 'INPUT_REQUIRED'));
    await say(session, 'exit 0');
    for (const receiver of [one, other]) {
      await receiver.until(has(receiver, 'COMPLETED'));
      expect(states(receiver)).toEqual(['WORKING', 'INPUT_REQUIRED', 'WORKING', 'COMPLETED']);
      expect(receiver.events()).toEqual(events);
      expect(receiver.events()[0]?.statusUpdate).toMatchObject({ taskId: session.id, contextId: session.describe().context_id });
    }
  });

  it('are told of what happens after they were set, and of nothing after they were removed', async () => {
    const { sessions } = await house();
    const session = await sessions.create(agent(), {}, 'someone');
    const [early, late] = [await receiving(), await receiving()];
    await session.task.push.set({ id: 'early', url: early.url });
    await say(session, 'echo one');
    await early.until(has(early, 'INPUT_REQUIRED'));
    await session.task.push.remove('early');
    await session.task.push.set({ url: late.url });
    await say(session, 'exit 3');
    await late.until(has(late, 'FAILED'));
    expect([states(early), states(late)]).toEqual([
      ['WORKING', 'INPUT_REQUIRED'],
      ['WORKING', 'FAILED'],
    ]);
  });

  it('have ids, are replaced by the same id, and are shown in order without their credentials', async () => {
    const { sessions } = await house();
    const { id: taskId, task } = await sessions.create(agent(), {}, 'someone');
    const authentication = { scheme: 'Bearer', credentials: 'secret' };
    const first = await task.push.set({ url: 'https://a.example/', token: 'seen', authentication });
    expect(first).toEqual({
      id: expect.any(String),
      taskId,
      url: 'https://a.example/',
      token: 'seen',
      authentication: { scheme: 'Bearer' },
    });
    await task.push.set({ id: 'b', url: 'https://b.example/' });
    await task.push.set({ id: first.id, url: 'https://c.example/' });
    expect(await task.push.list()).toEqual([
      { id: first.id, taskId, url: 'https://c.example/' },
      { id: 'b', taskId, url: 'https://b.example/' },
    ]);
    expect(await task.push.get('b')).toEqual({ id: 'b', taskId, url: 'https://b.example/' });
    expect(await task.push.get('c')).toBeUndefined();
    await task.push.remove('b');
    await task.push.remove('b');
    expect(await task.push.get('b')).toBeUndefined();
  });

  it('are so many, and no more', async () => {
    const { sessions } = await house();
    const { task } = await sessions.create(agent(), {}, 'someone');
    const ids = Array.from({ length: MAX_PUSH_CONFIGS }, (_, n) => `${n}`);
    await Promise.all(ids.map((id) => task.push.set({ id, url: 'https://a.example/' })));
    await expect(task.push.set({ url: 'https://a.example/' })).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('10'),
    });
    await expect(task.push.set({ id: '3', url: 'https://b.example/' })).resolves.toMatchObject({ id: '3' });
  });

  it('are refused where nothing may be sent to, and for another task', async () => {
    const { sessions } = await house();
    const { task } = await sessions.create(agent(), {}, 'someone');
    const refused = (words: string) => ({ code: 'INVALID_REQUEST', message: expect.stringContaining(words) });
    await expect(task.push.set({ url: 'https://169.254.169.254/' })).rejects.toMatchObject(
      refused('pushNotificationConfig.url: 169.254.169.254'),
    );
    await expect(task.push.set({ url: 'https://a.example/', taskId: 'x' })).rejects.toMatchObject(refused('pushNotificationConfig.taskId'));
    expect(await task.push.list()).toEqual([]);
  });
});

/** A session that has ended with its gateway, and what is left of both: one receiver was not told the end. */
async function untold() {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'push-'));
  closing.push(() => rm(dir, { recursive: true, force: true }));
  let isUp = true;
  const [receiver, witness] = [await receiving({ reply: () => (isUp ? 200 : 503) }), await receiving()];
  const { sessions, close } = await house({ dir, sender: notifying({ attempts: 1000, patienceMs: 500 }) });
  const session = await sessions.create(agent(), {}, 'someone');
  for (const { url } of [receiver, witness]) await session.task.push.set({ url });
  await say(session, 'echo one');
  await receiver.until(has(receiver, 'INPUT_REQUIRED'));
  isUp = false;
  await close();
  isUp = true;
  return { dir, session, receiver, witness };
}

describe('When the session has ended', () => {
  it('its configs are still there, and can be changed', async () => {
    const { sessions } = await house();
    const session = await sessions.create(agent(), {}, 'someone');
    const receiver = await receiving();
    await session.task.push.set({ id: 'a', url: receiver.url, authentication: { scheme: 'Bearer', credentials: 'secret' } });
    await say(session, 'exit 0');
    await receiver.until(has(receiver, 'COMPLETED'));
    const { task } = (await sessions.find('inst', session.id)) as Session;
    expect(await task.push.list()).toEqual([{ id: 'a', taskId: session.id, url: receiver.url, authentication: { scheme: 'Bearer' } }]);
    const added = await task.push.set({ url: 'https://b.example/' });
    expect((await task.push.list()).map(({ id }) => id)).toEqual(['a', added.id]);
    await expect(task.push.set({ url: 'https://127.0.0.1/' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await task.push.remove('a');
    await task.push.remove('a');
    expect((await task.push.list()).map(({ id }) => id)).toEqual([added.id]);
    expect(states(receiver)).toEqual(['WORKING', 'COMPLETED']);
  });

  it('who changes them in the moment in which it ends changes those of the ended one', async () => {
    const { sessions } = await house();
    const session = await sessions.create(agent(), {}, 'someone');
    await session.task.push.set({ id: 'a', url: 'https://a.example/' });
    const changed = new Promise((resolve) => {
      session.frames.follow((entries) => {
        if (!entries.some(({ kind }) => kind === 'Closed')) return;
        const { push } = session.task;
        resolve(Promise.all([push.set({ id: 'b', url: 'https://b.example/' }), push.remove('a')]));
      });
    });
    await session.end('killed');
    await changed;
    const after = (await sessions.find('inst', session.id)) as Session;
    expect((await after.task.push.list()).map(({ id }) => id)).toEqual(['b']);
  });

  it('those who were not told are told by the next life of the gateway, from where they were', async () => {
    const { dir, session, receiver, witness } = await untold();
    const next = await house({ dir, sender: notifying({ patienceMs: 5000 }) });
    await receiver.until(has(receiver, 'FAILED'));
    expect(await ((await next.sessions.find('inst', session.id)) as Session).task.push.list()).toHaveLength(2);
    await next.close();
    for (const each of [receiver, witness]) expect(states(each)).toEqual(['WORKING', 'INPUT_REQUIRED', 'FAILED']);
  });

  it('of several who would tell those who were not told, one does', async () => {
    const { dir, session, receiver } = await untold();
    const log = await openEmbeddedLog({ dir });
    closing.push(() => log.close());
    const kept = keptSession(await log.record(session.id)) ?? expect.fail('nothing is kept');
    const tellings = ['a', 'b', 'c'].map(
      (replicaId) => new Telling({ log, replicaId, sender: notifying().notifier, logger: { warn: expect.fail } }),
    );
    await Promise.all(tellings.map((one) => one.takeOver(kept)));
    await Promise.all(tellings.map((one) => one.settled()));
    expect(states(receiver)).toEqual(['WORKING', 'INPUT_REQUIRED', 'FAILED']);
    expect(await log.record(session.id)).not.toHaveProperty('telling');
  });

  it('and all were told, the next life of the gateway tells nobody anything', async () => {
    const dir = await mkdtemp(path.join(os.tmpdir(), 'push-'));
    closing.push(() => rm(dir, { recursive: true, force: true }));
    const [receiver, witness] = [await receiving(), await receiving()];
    const before = await house({ dir });
    const session = await before.sessions.create(agent(), {}, 'someone');
    await session.task.push.set({ url: receiver.url });
    await say(session, 'exit 0');
    await receiver.until(has(receiver, 'COMPLETED'));
    await before.close();
    const { sessions, log } = await house({ dir });
    expect(await log.record(session.id)).not.toHaveProperty('telling');
    const next = await sessions.create(agent(), {}, 'someone');
    await next.task.push.set({ url: witness.url });
    await say(next, 'exit 0');
    await witness.until(has(witness, 'COMPLETED'));
    expect(states(receiver)).toEqual(['WORKING', 'COMPLETED']);
  });
});

describe('Through any replica', () => {
  it('receivers are set, shown and removed, and the owner tells them', async () => {
    const town = await street(['owner', 'other']);
    const session = await town.sessions('owner').create(agent(), {}, 'someone');
    const { push } = (await found(town, 'other', session)).task;
    const receiver = await receiving();
    const set = await push.set({ url: receiver.url, authentication: { scheme: 'Bearer', credentials: 'secret' } });
    expect([set.authentication, await push.get(set.id), await push.list()]).toEqual([{ scheme: 'Bearer' }, set, [set]]);
    await expect(push.set({ url: 'https://10.0.0.1/' })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    await say(session, 'exit 0');
    await receiver.until(has(receiver, 'COMPLETED'));
    expect(receiver.got[0]?.headers.authorization).toBe('Bearer secret');
    const ended = (await found(town, 'other', session)).task.push;
    await ended.remove(set.id);
    expect(await (await found(town, 'owner', session)).task.push.list()).toEqual([]);
  });

  it('receivers are told of the end of a session whose replica died, by one of the others', async () => {
    const town = await street(['doomed', 'b', 'c']);
    const session = await town.sessions('doomed').create(agent(), {}, 'someone');
    const receiver = await receiving();
    await session.task.push.set({ url: receiver.url });
    const watcher = await Watcher.join(await found(town, 'b', session));
    town.kill('doomed');
    await receiver.until(has(receiver, 'FAILED'));
    await watcher.until(() => watcher.kinds().includes('Closed'));
    await town.close();
    expect(once(receiver)).toEqual(['FAILED']);
  });

  it.each([
    ['dies', false, (town: Street) => town.kill('first')],
    ['drains', true, (town: Street) => town.sessions('first').close()],
  ])('receivers are told by whoever goes on with the session when its replica %s, from where they were', async (_, isOrderly, end) => {
    const lasting = agent({ policy: { reattach: ['/bin/bash', '--noprofile', '--norc'] } });
    const town = await street(['first', 'second'], [lasting]);
    let isUp = true;
    const receiver = await receiving({ reply: () => (isUp ? 200 : 'silence') });
    const session = await town.sessions('first').create(lasting, {}, 'someone');
    await session.task.push.set({ url: receiver.url });
    await say(session, 'echo one');
    await receiver.until(has(receiver, 'INPUT_REQUIRED'));
    isUp = false;
    await say(session, 'echo two');
    await receiver.until(() => receiver.got.filter(({ text }) => text.includes('WORKING')).length === 2);
    isUp = true;
    await end(town);
    await receiver.until(() => states(receiver).length >= 3);
    const second = await found(town, 'second', session);
    await say(second, 'exit 0');
    await receiver.until(has(receiver, 'COMPLETED'));
    if (isOrderly) expect(states(receiver).slice(0, 3)).toEqual(['WORKING', 'INPUT_REQUIRED', 'WORKING']);
    const told = once(receiver);
    expect(told.slice(0, 3)).toEqual(['WORKING', 'INPUT_REQUIRED', 'WORKING']);
    expect(told.slice(-2)).toEqual(['WORKING', 'COMPLETED']);
  });
});
