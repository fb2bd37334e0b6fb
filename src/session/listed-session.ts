// A session in a list: what its record says of it, and a way to the rest. Knows no log and no record.
import { Fault } from '../errors.js';
import type { Session, SessionDescription, SessionTask, TaskJson } from './session.js';

export interface ListedSessionParts {
  readonly about: Pick<SessionDescription, 'session_id' | 'context_id' | 'created_by' | 'state'>;
  /** Of one that has ended: as it was kept. */
  readonly task?: Pick<SessionTask, 'snapshot'> | undefined;
  open(): Promise<Session | undefined>;
}

/** Nobody opens a session to list it: that of one that has ended is a look through its files. */
export class ListedSession {
  readonly id: string;
  readonly contextId: string;
  readonly createdBy: string;
  readonly state: SessionDescription['state'];
  readonly #parts: ListedSessionParts;

  constructor(parts: ListedSessionParts) {
    const { session_id, context_id, created_by, state } = parts.about;
    this.id = session_id;
    this.contextId = context_id;
    this.createdBy = created_by;
    this.state = state;
    this.#parts = parts;
  }

  /** Undefined if it cannot be read, or nothing is left of it. */
  open(): Promise<Session | undefined> {
    return this.#parts.open();
  }

  /** Its task now; asks whoever runs it. Rejects where that one does not answer. */
  async snapshot(historyLength?: number): Promise<TaskJson> {
    const task = this.#parts.task ?? (await this.open())?.task;
    if (!task) throw new Fault('TASK_NOT_FOUND', 'nothing is left of this session, or it cannot be read');
    return task.snapshot(historyLength);
  }
}
