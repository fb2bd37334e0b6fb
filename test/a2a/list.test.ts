// Pages of tasks: each task once, the most recently changed first, whatever the size of a page.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { listTasks } from '../../src/a2a/list.js';
import type { HostedTask, Task, TaskHost } from '../../src/a2a/task-host.js';

const states = ['TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_COMPLETED'] as const;
const tasks = fc.uniqueArray(
  fc.record({
    id: fc.uuid(),
    contextId: fc.constantFrom('a', 'b'),
    // Few moments, so that many tasks share one.
    status: fc.record({
      state: fc.constantFrom(...states),
      timestamp: fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'),
    }),
  }),
  { selector: ({ id }) => id, maxLength: 30 },
);

function hostOf(all: readonly Task[]): TaskHost {
  const hosted = all.map(
    (task) => ({ ...task, snapshot: async () => ({ ...task, history: [], artifacts: [{}] }) }) as unknown as HostedTask,
  );
  return { list: async () => hosted } as unknown as TaskHost;
}

const askerOf = (all: readonly Task[]) => ({
  host: hostOf(all),
  principal: { name: 'alice', scope: 'pty:observe', instances: undefined, sessions: undefined } as const,
  from: { author: 'message' } as const,
});

test('the pages together are all tasks that are asked for, once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      tasks,
      fc.integer({ min: 1, max: 7 }),
      fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
      async (all, pageSize, contextId) => {
        const wanted = all.filter((task) => contextId === undefined || task.contextId === contextId);
        const found: Task[] = [];
        let pageToken = '';
        do {
          const page = await listTasks(askerOf(all), { pageSize, ...(contextId && { contextId }), ...(pageToken && { pageToken }) });
          expect([page.pageSize, page.totalSize, page.tasks.length <= pageSize]).toEqual([pageSize, wanted.length, true]);
          found.push(...page.tasks);
          pageToken = page.nextPageToken;
        } while (pageToken !== '');
        expect(found.map(({ id }) => id).sort()).toEqual(wanted.map(({ id }) => id).sort());
        const moments = found.map(({ status }) => status.timestamp);
        expect(moments).toEqual([...moments].sort().reverse());
      },
    ),
  );
});

test('a state and a moment narrow the list, artifacts are there if asked for, and a token that is none is refused', async () => {
  const at = (id: string, timestamp: string): Task => ({ id, contextId: 'a', status: { state: 'TASK_STATE_WORKING', timestamp } });
  const asker = askerOf([at('old', '2026-01-01T00:00:00.000Z'), at('new', '2026-01-02T00:00:00.000Z')]);
  const ids = async (request: Parameters<typeof listTasks>[1]) => (await listTasks(asker, request)).tasks.map(({ id }) => id);
  expect(await ids({ statusTimestampAfter: '2026-01-02T01:00:00+01:00' })).toEqual(['new']);
  expect(await ids({ status: 'TASK_STATE_COMPLETED' })).toEqual([]);
  expect(await ids({ status: 'TASK_STATE_UNSPECIFIED' })).toEqual(['new', 'old']);
  expect((await listTasks(asker, {})).tasks[0]).not.toHaveProperty('artifacts');
  expect((await listTasks(asker, { includeArtifacts: true })).tasks[0]).toHaveProperty('artifacts', [{}]);
  await expect(listTasks(asker, { pageToken: 'bm9uZQ' })).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
    message: expect.stringContaining('pageToken'),
  });
});
