// A page of tasks: filtered, the most recently changed first (A2A 1.0 §3.1.4). Knows no binding.
import { violated } from './errors.js';
import { withHistory } from './history.js';
import { type ListTasksRequest, PAGE_SIZE } from './requests.js';
import type { Asker } from './send.js';
import type { ListedTask, Task } from './task-host.js';

export interface TaskPage {
  readonly tasks: readonly Task[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
  readonly pageSize: number;
  /** Of all pages. */
  readonly totalSize: number;
}

interface Row {
  readonly hosted: ListedTask;
  readonly task: Task;
}

/** Where a page begins: behind this task, as it was when the page before was made. */
interface Place {
  readonly at: string;
  readonly id: string;
}

export async function listTasks({ host, principal }: Asker, request: ListTasksRequest): Promise<TaskPage> {
  const after = request.pageToken === undefined ? undefined : readToken(request.pageToken);
  const pageSize = request.pageSize ?? PAGE_SIZE.default;
  const hosted = await host.list(principal);
  const rows = (await Promise.all(hosted.map(look))).filter((row) => row !== undefined).filter(({ task }) => isWanted(task, request));
  const rest = rows.sort((a, b) => order(placeOf(a), placeOf(b))).filter((row) => !after || order(after, placeOf(row)) < 0);
  const shown = rest.slice(0, pageSize);
  const last = shown.at(-1);
  return {
    tasks: await Promise.all(shown.map((row) => show(row, request))),
    nextPageToken: last && rest.length > pageSize ? writeToken(placeOf(last)) : '',
    pageSize,
    totalSize: rows.length,
  };
}

/** A task whose replica does not answer is left out rather than making the list fail. */
async function look(hosted: ListedTask): Promise<Row | undefined> {
  const task = await hosted.snapshot(0).catch(() => undefined);
  return task && { hosted, task };
}

function isWanted(task: Task, { contextId, status, statusTimestampAfter }: ListTasksRequest): boolean {
  if (contextId !== undefined && task.contextId !== contextId) return false;
  if (status !== undefined && status !== 'TASK_STATE_UNSPECIFIED' && task.status.state !== status) return false;
  return statusTimestampAfter === undefined || Date.parse(task.status.timestamp) >= Date.parse(statusTimestampAfter);
}

/** Without history unless some is asked for; without the member `artifacts` unless they are. */
async function show({ hosted, task }: Row, { historyLength = 0, includeArtifacts = false }: ListTasksRequest): Promise<Task> {
  const whole = historyLength === 0 ? task : await hosted.snapshot(historyLength).catch(() => task);
  const { artifacts = [], ...bare } = withHistory(whole, historyLength);
  return includeArtifacts ? { ...bare, artifacts } : bare;
}

const placeOf = ({ task }: Row): Place => ({ at: task.status.timestamp, id: task.id });

/** The newest first; ids tell those of one moment apart. */
function order(a: Place, b: Place): number {
  const late = Date.parse(b.at) - Date.parse(a.at);
  return late !== 0 ? late : a.id < b.id ? 1 : a.id > b.id ? -1 : 0;
}

function writeToken({ at, id }: Place): string {
  return Buffer.from(JSON.stringify([at, id])).toString('base64url');
}

function readToken(token: string): Place {
  try {
    const [at, id] = JSON.parse(Buffer.from(token, 'base64url').toString());
    if (typeof at === 'string' && !Number.isNaN(Date.parse(at)) && typeof id === 'string') return { at, id };
  } catch {
    // It is none of ours.
  }
  throw violated([{ field: 'pageToken', description: 'expected the nextPageToken of an earlier answer' }]);
}
