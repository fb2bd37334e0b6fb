// The record of a session that runs here, as it is now and as it will be when it has ended. Knows no log and no member.
import type { Closed } from '../protocol/frames.js';
import type { Size } from '../terminal/terminal.js';
import { type KeptSession, withoutSecrets } from './record.js';

/** How a session was when it ended. */
interface Last {
  /** Who ended it; undefined if nobody did who has a name. */
  readonly by: string | undefined;
  readonly size: Size;
  readonly task: NonNullable<KeptSession['task']>;
  /** Receivers that are still to be told of the end. */
  readonly push: NonNullable<KeptSession['push']>;
}

export class RunningRecord {
  readonly #amend: (record: KeptSession) => Promise<void>;
  #now: KeptSession;

  constructor(kept: KeptSession, amend: (record: KeptSession) => Promise<void>) {
    this.#now = kept;
    this.#amend = amend;
  }

  get now(): KeptSession {
    return this.#now;
  }

  /** Resolves when the log has it. */
  keep(changes: Pick<Partial<KeptSession>, 'members' | 'task' | 'push' | 'awaits_controller'>): Promise<void> {
    this.#now = { ...this.#now, ...changes };
    return this.#amend(this.#now);
  }

  /** To be kept once the Closed is in the log. Its receivers are told of the end when its record tells of it. */
  closed({ exit_code, reason }: Pick<Closed, 'exit_code' | 'reason'>, { by, size, task, push }: Last): KeptSession {
    return {
      ...withoutSecrets(this.#now),
      members: [],
      awaits_controller: false,
      state: 'closed',
      closed_at: new Date().toISOString(),
      exit_code,
      reason,
      ...(by !== undefined && { closed_by: by }),
      last_size: size,
      ...(push.length > 0 && { push, telling: this.#now.replica_id }),
      task,
    };
  }
}
