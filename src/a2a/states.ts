// The states of a task, by what may still come of it (A2A 1.0 §4.1.3). Knows no task.
const over: ReadonlySet<string> = new Set(['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED']);
const interrupted: ReadonlySet<string> = new Set(['TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_AUTH_REQUIRED']);

/** Terminal: it changes no more. */
export const isOver = (state: string): boolean => over.has(state);
/** Terminal, or waiting for its client: nothing comes of itself. */
export const isAtRest = (state: string): boolean => isOver(state) || interrupted.has(state);
