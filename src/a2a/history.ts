// How much of a task's history is told (A2A 1.0 §3.2.4). Knows no request.

import type { Task } from './task-host.js';

/** At most so many of the newest messages, all that the host keeps if undefined; where there are none the member is left out. */
export function withHistory(task: Task, historyLength?: number): Task {
  const { history = [], ...bare } = task;
  const told = historyLength === undefined ? history : history.slice(Math.max(0, history.length - historyLength));
  return told.length === 0 ? bare : { ...bare, history: told };
}
