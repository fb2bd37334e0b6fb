// The sessions that have ended and are kept: opened for their late readers, a bounded number at a time. Knows no terminal process.
import type { PushSender } from '../a2a/push.js';
import type { Log, LogReader } from '../log/log.js';
import type { ScreenHost } from '../terminal/terminal.js';
import { ClosedSession, taskOf } from './closed-session.js';
import { EndedPushes } from './ended-pushes.js';
import type { KeptSession } from './record.js';
import type { EndedTask } from './task/ended.js';

/** Ended sessions that are open at once; the one that was not used for longest is let go of. */
const OPEN_LIMIT = 64;

export class ClosedSessions {
  readonly #log: Log;
  readonly #screens: ScreenHost;
  readonly #sender: PushSender;
  /** In the order of their last use. */
  readonly #open = new Map<string, ClosedSession>();

  constructor(log: Log, screens: ScreenHost, sender: PushSender) {
    this.#log = log;
    this.#screens = screens;
    this.#sender = sender;
  }

  get(sessionId: string): ClosedSession | undefined {
    return this.#open.get(sessionId);
  }

  async open(kept: KeptSession): Promise<ClosedSession> {
    const id = kept.session_id;
    const reader = await this.#log.reader(id);
    const session = this.#open.get(id) ?? this.#fresh(kept, reader);
    this.keep(session);
    return session;
  }

  keep(session: ClosedSession): void {
    this.#open.delete(session.id);
    this.#open.set(session.id, session);
    const [longestUnused] = this.#open.values();
    if (this.#open.size > OPEN_LIMIT && longestUnused) void this.letGo(longestUnused.id);
  }

  /** The task of one that nobody need open for it. */
  taskOf(kept: KeptSession): EndedTask {
    return taskOf(kept, this.#pushOf(kept));
  }

  #fresh(kept: KeptSession, reader: LogReader): ClosedSession {
    const claim = () => this.#log.claim(kept.session_id);
    return new ClosedSession({ kept, reader, screens: this.#screens, claim, push: this.#pushOf(kept) });
  }

  #pushOf({ session_id }: KeptSession): EndedPushes {
    return new EndedPushes(session_id, this.#log, this.#sender);
  }

  async letGo(sessionId: string): Promise<void> {
    const session = this.#open.get(sessionId);
    this.#open.delete(sessionId);
    await session?.release().catch(() => {});
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((id) => this.letGo(id)));
  }
}
