// A session that has ended: history, last screen and Closed, served from the log alone. Knows no terminal process.
import type { PushConfigs } from '../a2a/push.js';
import { Fault } from '../errors.js';
import { type Draft, LogError, type LogReader, type LogWriter } from '../log/log.js';
import type { Frame } from '../protocol/frames.js';
import { newId } from '../protocol/ids.js';
import { entry, type Unnumbered } from '../protocol/make-frames.js';
import { HAS_ENDED } from '../protocol/names.js';
import { Redaction } from '../redaction/redaction.js';
import type { Screen, ScreenHost, ScreenView, Snapshot } from '../terminal/terminal.js';
import { endedTask } from './abandoned.js';
import { past, refold } from './past.js';
import { keyframeOf } from './picture.js';
import { describe, type KeptSession } from './record.js';
import type { Joined, JoinRequest, Member, Session, SessionDescription, SessionTask } from './session.js';
import { EndedTask } from './task/ended.js';

/** How often a session is taken over again when others do so at the same time. */
const CLAIM_TRIES = 5;
/** How often the last screen is tried again while the log cannot be read: each try is as patient as the log itself. */
const PICTURE_TRIES = 6;

export interface ClosedSessionParts {
  readonly kept: KeptSession;
  readonly reader: LogReader;
  readonly screens: ScreenHost;
  /** For the numbers of what late readers alone are sent: the one that is there, and how to get another if it is fenced. */
  readonly writer?: LogWriter;
  claim(): Promise<LogWriter>;
  readonly push: PushConfigs;
}

/** Its task, for which nothing has to be opened. */
export function taskOf(kept: KeptSession, push: PushConfigs): EndedTask {
  const { exit_code = null, reason = 'agent_disconnect' } = kept;
  return new EndedTask(endedTask(kept, { exit_code, reason }), push);
}

export class ClosedSession implements Session {
  readonly id: string;
  readonly instanceId: string;
  readonly frames: LogReader;
  readonly task: SessionTask;
  readonly #parts: ClosedSessionParts;
  #writer: Promise<LogWriter> | undefined;
  #picture: Promise<Snapshot> | undefined;

  constructor(parts: ClosedSessionParts) {
    const { kept, reader } = parts;
    this.#parts = parts;
    this.#writer = parts.writer && Promise.resolve(parts.writer);
    this.id = kept.session_id;
    this.instanceId = kept.instance_id;
    this.frames = reader;
    this.task = taskOf(kept, parts.push);
  }

  describe(): SessionDescription {
    return describe(this.#parts.kept, this.frames);
  }

  /** What was leased to it is not known any more: what can be known by its shape is concealed. */
  async conceal(text: string): Promise<string> {
    return new Redaction([], []).text(text);
  }

  /** Everyone is an observer here, and alone (protocol R10). */
  async join(request: JoinRequest, _member: Member): Promise<Joined> {
    const clientId = newId();
    const downgrade = request.role === 'controller' && { downgraded: true as const };
    const self = request.label === undefined ? { client_id: clientId } : { client_id: clientId, label: request.label };
    const role = entry('RoleAssigned', { role: 'observer', client_id: clientId, ...downgrade, reason: HAS_ENDED });
    const membership = entry('MembershipChanged', { controllers: [], observers: [self] });
    // Before the places, should it have to be written again: then its number is below theirs, and nobody is told of it as news.
    const closed = await this.#closed();
    const first = await this.#take([{ to: clientId }, { to: clientId }, { to: clientId }]);
    const numbered = (frame: Unnumbered, sequence: number): Frame => ({ ...frame, sequence });
    return {
      clientId,
      role: 'observer',
      roleAssigned: numbered(role, first),
      membership: numbered(membership, first + 1),
      keyframe: { sequence: first + 2, frame: keyframeOf(this, first + 2) },
      oldest: this.frames.extent().oldest,
      closed,
    };
  }

  async leave(): Promise<undefined> {
    return undefined;
  }

  input = over;
  resize = over;
  requestRole = over;
  requestKeyframe = over;
  presence = over;
  moveControl = over;
  dismiss = over;

  async lagged(): Promise<void> {
    // Nothing is live here.
  }

  async end(): Promise<never> {
    throw new Fault('TASK_NOT_CANCELABLE', 'the session has ended');
  }

  async view(): Promise<ScreenView> {
    return this.#withScreen((screen) => screen.view());
  }

  snapshot(): Promise<Snapshot> {
    this.#picture ??= this.#takePicture();
    this.#picture.catch(() => {
      this.#picture = undefined;
    });
    return this.#picture;
  }

  /** No other Keyframe follows in a session that has ended, so this one is worth waiting for. */
  async #takePicture(triesLeft = PICTURE_TRIES): Promise<Snapshot> {
    try {
      return await this.#withScreen((screen) => screen.snapshot());
    } catch (error) {
      if (triesLeft === 0 || !(error instanceof LogError && error.failure === 'unavailable')) throw error;
      return this.#takePicture(triesLeft - 1);
    }
  }

  /** Lets go of what late readers made it hold. */
  async release(): Promise<void> {
    const writer = await this.#writer;
    this.#writer = undefined;
    await writer?.release();
  }

  /** The one Closed. If damage took it from the log, it is written again from what the record says. */
  async #closed(): Promise<Frame> {
    const kept = await this.frames.latest('Closed');
    if (kept) return kept;
    const { exit_code = null, reason = 'agent_disconnect' } = this.#parts.kept;
    const again = entry('Closed', { exit_code, reason });
    return { ...again, sequence: await this.#take([again]) };
  }

  /** Every replica serves late readers, and each takes the session over from the one before. */
  async #take(drafts: readonly Draft[], triesLeft = CLAIM_TRIES): Promise<number> {
    this.#writer ??= this.#parts.claim();
    const writer = this.#writer;
    try {
      return await (await writer).append(drafts);
    } catch (error) {
      if (this.#writer === writer) this.#writer = undefined;
      if (triesLeft === 0 || !(error instanceof LogError && error.failure === 'fenced')) throw error;
      return this.#take(drafts, triesLeft - 1);
    }
  }

  async #withScreen<T>(look: (screen: Screen) => Promise<T>): Promise<T> {
    const screen = this.#parts.screens.open(this.#parts.kept, () => past(this.frames));
    try {
      await refold(screen, past(this.frames));
      return await look(screen);
    } finally {
      screen.dispose();
    }
  }
}

async function over(): Promise<never> {
  throw new Fault('INVALID_REQUEST', 'the session has ended');
}
