// How it goes with a session's connection, and how the session ended, in words. Knows no terminal and no control.
import type { Ended, Notice as Missed, State } from '../../../src/client/index.js';
import type { Closed } from '../../../src/protocol/frames.js';
import { closedText, endedText, missedText } from '../shared/words.js';
import { CatchingUp } from './catching-up.js';
import type { ConnectionLine } from './connection-line.js';
import type { Notice } from './notice.js';

const CUT = 'The connection was lost. What you typed last may not have arrived.';

export interface CourseParts {
  readonly line: ConnectionLine;
  readonly notice: Notice;
  /** Whether this window had control until now. */
  controlled(): boolean;
  /** Who ended the session, if somebody did. */
  whoEndedIt(): Promise<string | undefined>;
  /** The gateway does not take the token. */
  refused(why: string): void;
}

export class Course {
  readonly #parts: CourseParts;
  readonly #caughtUp = new CatchingUp();
  #isLive = false;
  #wasLive = false;
  #closed: Closed | undefined;

  constructor(parts: CourseParts) {
    this.#parts = parts;
    parts.line.show('connecting', 'Connecting…');
  }

  /** Whether what is typed arrives. */
  get isLive(): boolean {
    return this.#isLive;
  }

  /** Whether the session has ended. */
  get isOver(): boolean {
    return this.#closed !== undefined;
  }

  came(bytes: number): void {
    this.#caughtUp.came(bytes);
  }

  missed({ kind }: Missed): void {
    this.#caughtUp.lost();
    this.#parts.notice.tell(missedText[kind]);
  }

  state(state: State): void {
    const { line, notice } = this.#parts;
    if (state.name === 'waiting' && this.#isLive && this.#parts.controlled()) notice.tell(CUT);
    if (this.#isLive && state.name !== 'live') this.#caughtUp.cut();
    this.#isLive = state.name === 'live';
    this.#wasLive ||= this.#isLive;
    if (state.name === 'live') this.#live();
    else if (state.name === 'connecting') line.show('connecting', state.attempt > 1 ? 'Connecting again…' : 'Connecting…');
    else if (state.name === 'waiting') line.waiting(state.retryInMs, state.message);
    else this.#end(state);
  }

  async closed(closed: Closed): Promise<void> {
    this.#closed = closed;
    this.#parts.line.show('ended', closedText(closed));
    const by = closed.reason === 'killed' ? await this.#parts.whoEndedIt() : undefined;
    if (by !== undefined) this.#parts.line.show('ended', closedText(closed, by));
  }

  #live(): void {
    this.#parts.line.show('live', 'Live');
    const news = this.#caughtUp.back();
    if (news) this.#parts.notice.tell(news);
  }

  /** Who is to sign in again is told so above the page, and how the session ended stands in the line already. */
  #end(ended: Ended): void {
    const { line, notice, refused } = this.#parts;
    const isToldElsewhere = this.isOver || ended.reason === 'unauthenticated';
    if (!this.isOver) line.show('ended', 'Not connected');
    notice.tell(isToldElsewhere ? '' : `${endedText(ended, this.#wasLive)}.`, true);
    if (ended.reason === 'unauthenticated') refused(ended.message);
  }
}
