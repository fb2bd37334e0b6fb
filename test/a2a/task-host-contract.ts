// What every host of A2A tasks must do, as tests that each implementation runs. Knows none of them.
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { HostedTask, TaskDelta, TaskHost } from '../../src/a2a/task-host.js';
import type { Principal } from '../../src/access/principal.js';
import type { Fault } from '../../src/errors.js';
import type { MessageJson } from '../../src/session/session.js';

/** Messages to a host, by what their task does then. */
export interface Words {
  /** It rests, and takes more. */
  rest(): Partial<MessageJson>;
  /** It completes. */
  end(): Partial<MessageJson>;
}

const alice: Principal = { name: 'alice', scope: 'pty:control', instances: undefined, sessions: undefined };
const from = { author: 'message' } as const;
const nothing = async () => {};

function say(words: Partial<MessageJson>): MessageJson {
  return { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }], ...words };
}

export function taskHostContract(host: () => TaskHost, words: Words): void {
  const begin = async (what: Partial<MessageJson>, prepare: (task: HostedTask) => Promise<void> = nothing): Promise<HostedTask> => {
    const begun = await host().begin(say(what), alice, from, prepare);
    if (!('task' in begun)) throw new Error('the host answered with a message');
    return begun.task;
  };

  /** The first status change to this state, from now on. */
  const until = (task: HostedTask, state: string): Promise<TaskDelta> =>
    new Promise((resolve) => {
      const stop = task.follow((delta) => {
        if (!('status' in delta) || delta.status.state !== state) return;
        stop();
        resolve(delta);
      });
    });

  test('a message begins a task, in the context that it names or in a new one', async () => {
    const [named, fresh] = [await begin({ ...words.rest(), contextId: 'mine' }), await begin(words.rest())];
    expect(named.contextId).toBe('mine');
    expect(await named.snapshot()).toMatchObject({ id: named.id, contextId: 'mine', history: [{ role: 'ROLE_USER', taskId: named.id }] });
    expect(fresh.contextId).not.toBe('mine');
  });

  test('what is prepared is prepared before the message is told, and a task that cannot be is not kept', async () => {
    let history: unknown;
    await begin(words.rest(), async (task) => {
      history = (await task.snapshot()).history;
    });
    expect(history).toEqual([]);
    let id = '';
    const failing = begin(words.rest(), async (task) => {
      id = task.id;
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    const left = await host().find(id, alice);
    expect(left === undefined || (await left.snapshot()).status.state).toEqual(left === undefined ? true : 'TASK_STATE_CANCELED');
  });

  /** What is not to be seen is not there; the host may say of it that it was denied. */
  const found = (id: string, principal: Principal) =>
    host()
      .find(id, principal)
      .catch((error: Fault) => {
        expect(error).toMatchObject({ code: 'TASK_NOT_FOUND', message: 'there is no such task' });
        return undefined;
      });

  test('a task is found by those whose token is good for it, and listed for them alone', async () => {
    const { id } = await begin(words.rest());
    expect((await host().find(id, alice))?.id).toBe(id);
    expect((await host().list(alice)).map((task) => task.id)).toContain(id);
    for (const stranger of [
      { ...alice, sessions: ['another'] },
      { ...alice, instances: ['another'] },
    ]) {
      expect(await found(id, stranger)).toBeUndefined();
      expect(await host().list(stranger)).toEqual([]);
    }
    for (const unknown of [randomUUID(), '', 'x'.repeat(200), '__proto__']) expect(await host().find(unknown, alice)).toBeUndefined();
  });

  test('followers are told of each change in order, the last one as the task then is; who has stopped is told nothing', async () => {
    const task = await begin(words.rest());
    const [told, deaf]: [TaskDelta[], TaskDelta[]] = [[], []];
    task.follow((delta) => told.push(delta));
    task.follow((delta) => deaf.push(delta))();
    const ended = until(task, 'TASK_STATE_COMPLETED');
    await task.send(say(words.end()), from);
    await ended;
    const statuses = told.flatMap((delta) => ('status' in delta ? [delta.status] : []));
    expect(statuses.map(({ state }) => state).slice(-1)).toEqual(['TASK_STATE_COMPLETED']);
    expect(statuses.at(-1)).toEqual((await task.snapshot()).status);
    expect(statuses.map(({ timestamp }) => timestamp)).toEqual(statuses.map(({ timestamp }) => timestamp).sort());
    expect(deaf).toEqual([]);
    expect(told.every(({ taskId, contextId }) => taskId === task.id && contextId === task.contextId)).toBe(true);
  });

  test('a snapshot has at most so many of the newest messages', async () => {
    const task = await begin(words.rest());
    await task.send(say({ ...words.rest(), parts: [{ text: 'second' }] }), from);
    expect((await task.snapshot(1)).history).toMatchObject([{ parts: [{ text: 'second' }] }]);
    expect((await task.snapshot(0)).history ?? []).toEqual([]);
    expect((await task.snapshot()).history).toHaveLength(2);
  });

  test('a task is canceled once, and then takes no more messages', async () => {
    const task = await begin(words.rest());
    const told = until(task, 'TASK_STATE_CANCELED');
    expect((await task.cancel()).status.state).toBe('TASK_STATE_CANCELED');
    await told;
    await expect(task.cancel()).rejects.toMatchObject({ code: 'TASK_NOT_CANCELABLE' });
    await expect(task.send(say(words.rest()), from)).rejects.toMatchObject({ code: 'UNSUPPORTED_OPERATION' });
    expect((await task.snapshot()).status.state).toBe('TASK_STATE_CANCELED');
  });
}
