// The task of a session whose replica is gone: what was kept of it, and how it ended.
import { expect, it } from 'vitest';
import { endedTask } from '../../src/session/abandoned.js';
import type { KeptSession } from '../../src/session/record.js';

const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'make' }] };
const kept = { session_id: 's', context_id: 'c' } as KeptSession;
const taskIn = (state: string) => ({
  id: 's',
  contextId: 'c',
  status: { state, timestamp: '2026-01-01T00:00:00.000Z' },
  history: [message],
});
const lost = { exit_code: null, reason: 'agent_disconnect' } as const;

it.each(['WORKING', 'INPUT_REQUIRED'])('that was %s has failed, keeps its messages, and says why', (state) => {
  expect(endedTask({ ...kept, task: taskIn(`TASK_STATE_${state}`) as never }, lost)).toMatchObject({
    history: [message],
    status: { state: 'TASK_STATE_FAILED', message: { role: 'ROLE_AGENT', taskId: 's', metadata: { reason: 'agent_disconnect' } } },
  });
});

it('of which nothing was kept has failed, too; one whose last word is in the log has ended as that says', () => {
  expect(endedTask(kept, lost)).toMatchObject({ id: 's', contextId: 'c', history: [], status: { state: 'TASK_STATE_FAILED' } });
  expect(endedTask(kept, { exit_code: 0, reason: 'command_result' }).status.state).toBe('TASK_STATE_COMPLETED');
});

it('of which nothing was kept ended when its session did, whenever somebody looks', () => {
  const closed_at = '2026-01-01T00:00:00.000Z';
  expect(endedTask({ ...kept, closed_at }, lost).status.timestamp).toBe(closed_at);
});

it('that was canceled before stays so', () => {
  const task = taskIn('TASK_STATE_CANCELED') as never;
  expect(endedTask({ ...kept, task }, lost)).toBe(task);
});
