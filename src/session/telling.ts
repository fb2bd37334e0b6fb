// Tells receivers what they were not told when their session ended, here or on a replica that is gone. Knows no HTTP and no terminal.
import type { PushSender } from '../a2a/push.js';
import type { Log } from '../log/log.js';
import { type Keep, Pushes } from './pushes.js';
import type { KeptSession } from './record.js';
import { rewrite } from './rewrite.js';

export interface TellingParts {
  readonly log: Log;
  readonly sender: PushSender;
  readonly replicaId: string;
  readonly logger: { warn(fields: object, message: string): void };
}

export class Telling {
  readonly #parts: TellingParts;
  /** By session. */
  readonly #busy = new Map<string, Promise<void>>();

  constructor(parts: TellingParts) {
    this.#parts = parts;
  }

  /** The session has ended here, and its record says so. */
  finish(sessionId: string, pushes: Pushes): void {
    const done = pushes.finish(this.#keeper(sessionId)).catch((error) => this.failed(sessionId, error));
    this.#busy.set(
      sessionId,
      done.finally(() => this.#busy.delete(sessionId)),
    );
  }

  /** Of all who try, one does. */
  async takeOver({ session_id: id, telling }: KeptSession): Promise<void> {
    if (telling === undefined || this.#busy.has(id)) return;
    const { log, sender, replicaId } = this.#parts;
    const kept = await rewrite(log, id, (now) => (now.telling === telling ? { ...now, telling: replicaId } : undefined));
    if (!kept) return;
    const parts = { taskId: id, frames: await log.reader(id), sender, keep: this.#keeper(id) };
    this.finish(id, new Pushes({ ...parts, failed: (error) => this.failed(id, error) }, kept.push));
  }

  failed(sessionId: string, error: unknown): void {
    this.#parts.logger.warn({ session_id: sessionId, err: error }, 'the receivers of a session may not have been told all');
  }

  /** Resolves when nothing is to be told any more, or can be. */
  async settled(): Promise<void> {
    await Promise.all(this.#busy.values());
  }

  /** Of those that are still there, the places alone are changed. */
  #keeper(sessionId: string): Keep {
    return async (pushes, isTold) => {
      const places = new Map(pushes.map(({ config, after }) => [config.id, after]));
      await rewrite(this.#parts.log, sessionId, ({ push = [], telling, ...kept }) => ({
        ...kept,
        push: push.map((one) => ({ ...one, after: places.get(one.config.id) ?? one.after })),
        ...(isTold || telling === undefined ? {} : { telling }),
      }));
    };
  }
}
