// A stream of what becomes of a task: its order, its end, and its bounds.
import { expect, test } from 'vitest';
import { isAtRest } from '../../src/a2a/states.js';
import type { HostedTask, Placed, StatusUpdate, Task, TaskDelta } from '../../src/a2a/task-host.js';
import { TaskStream } from '../../src/a2a/task-stream.js';
import type { TaskState } from '../../src/session/session.js';

const status = (state: TaskState): Task['status'] => ({ state, timestamp: new Date().toISOString() });

/** A task that does what the test says. */
function toldTask() {
  const followers = new Set<(delta: TaskDelta, sequence: number) => void>();
  const names = { taskId: 't', contextId: 'c' };
  let sequence = 0;
  const task = {
    id: 't',
    contextId: 'c',
    follow: (follower: (delta: TaskDelta, sequence: number) => void) => {
      followers.add(follower);
      return () => followers.delete(follower);
    },
  } as unknown as HostedTask;
  const tell = (delta: object) => {
    sequence += 1;
    for (const follower of followers) follower({ ...names, ...delta } as TaskDelta, sequence);
  };
  return {
    task,
    followers,
    at: (now: Task['status']): Placed => ({ task: { id: 't', contextId: 'c', status: now }, sequence }),
    status: (now: Task['status']) => tell({ status: now }),
    text: (text: string) => tell({ artifact: { artifactId: 'a', parts: [{ text }] }, append: true }),
  };
}

async function all(stream: TaskStream): Promise<string[]> {
  const found: string[] = [];
  for await (const event of stream) found.push(word(event));
  return found;
}

function word(event: object): string {
  if ('task' in event) return `task ${(event.task as Task).status.state}`;
  if ('statusUpdate' in event) return (event.statusUpdate as StatusUpdate).status.state;
  return 'artifact';
}

test('it begins with the task, goes on in order, and ends with the last state; then nobody follows', async () => {
  const told = toldTask();
  const stream = await TaskStream.open(told.task, async () => told.at(status('TASK_STATE_WORKING')));
  told.text('a');
  told.status(status('TASK_STATE_INPUT_REQUIRED'));
  told.status(status('TASK_STATE_COMPLETED'));
  told.text('too late');
  expect(await all(stream)).toEqual(['task TASK_STATE_WORKING', 'artifact', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_COMPLETED']);
  expect(told.followers.size).toBe(0);
});

test('what is in the first task already is not told again, whether it is heard of before that or after', async () => {
  const told = toldTask();
  const early = status('TASK_STATE_WORKING');
  const stream = await TaskStream.open(
    told.task,
    async () => {
      told.text('in it');
      told.status(early);
      // Another replica has gone on, and its news come later than its answer.
      return { ...told.at(early), sequence: 4 };
    },
    isAtRest,
  );
  told.status(status('TASK_STATE_INPUT_REQUIRED'));
  told.text('in it too');
  told.text('news');
  told.status(status('TASK_STATE_INPUT_REQUIRED'));
  expect(await all(stream)).toEqual(['task TASK_STATE_WORKING', 'artifact', 'TASK_STATE_INPUT_REQUIRED']);
});

test('a task that is at rest already is all that there is', async () => {
  const told = toldTask();
  const stream = await TaskStream.open(told.task, async () => told.at(status('TASK_STATE_INPUT_REQUIRED')), isAtRest);
  expect(await all(stream)).toEqual(['task TASK_STATE_INPUT_REQUIRED']);
});

test('what fails at the beginning leaves nobody behind', async () => {
  const told = toldTask();
  const opened = TaskStream.open(told.task, async () => {
    throw new Error('no');
  });
  await expect(opened).rejects.toThrow('no');
  expect(told.followers.size).toBe(0);
});

test.each([
  ['many changes', 2000, 'x'],
  ['large ones', 30, 'x'.repeat(50_000)],
])('a reader too slow for %s is told so, and holds nothing any more', async (_what, times, text) => {
  const told = toldTask();
  const stream = await TaskStream.open(told.task, async () => told.at(status('TASK_STATE_WORKING')));
  for (let n = 0; n < times; n++) told.text(text);
  expect(told.followers.size).toBe(0);
  await expect(stream.next()).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  expect(await stream.next()).toEqual({ done: true, value: undefined });
});

test('who leaves while waiting is let go', async () => {
  const told = toldTask();
  const stream = await TaskStream.open(told.task, async () => told.at(status('TASK_STATE_WORKING')));
  await stream.next();
  const waiting = stream.next();
  await stream.return();
  expect(await waiting).toEqual({ done: true, value: undefined });
  expect(told.followers.size).toBe(0);
});
