// A session whose terminal runs on another replica: its verbs go to the owner, its frames come from the log. Knows no bus and no store.
import type { PushConfigs } from '../../a2a/push.js';
import { Fault } from '../../errors.js';
import type { LogReader } from '../../log/log.js';
import type { ClosedReason, Frame, Role } from '../../protocol/frames.js';
import { newId } from '../../protocol/ids.js';
import { readPayload } from '../../protocol/make-frames.js';
import type { PresenceAct } from '../../protocol/names.js';
import type { ScreenView, Size, Snapshot } from '../../terminal/terminal.js';
import { bounded } from '../bounded.js';
import type {
  Author,
  Joined,
  JoinRequest,
  Member,
  MessageJson,
  PlacedTask,
  Sender,
  Session,
  SessionDescription,
  SessionTask,
  TaskJson,
} from '../session.js';
import { isResting } from '../task/updates.js';
import type { Away } from './away.js';
import { frameOf, type Question, type Questions, type Told } from './remote-words.js';

/** How long frames that the owner has told of may take to come through the log, in milliseconds. */
const FRAMES_PATIENCE_MS = 5000;

/** Asks the owner, within a bound; rejects with the Fault that it answered, or a retryable one if it did not. */
export type Ask = <Q extends Question>(question: Q, ask: Questions[Q]['ask'], bytes?: Uint8Array) => Promise<Told<Questions[Q]['answer']>>;

export interface RemoteSessionParts {
  /** As its owner told it a moment ago. */
  readonly description: SessionDescription;
  readonly reader: LogReader;
  readonly away: Away;
  readonly ask: Ask;
  /** The owner is told, now or when it can be, that nobody is there any more. */
  forget(handle: string): void;
}

export class RemoteSession implements Session {
  readonly id: string;
  readonly instanceId: string;
  readonly frames: LogReader;
  readonly task: SessionTask;
  readonly #parts: RemoteSessionParts;
  readonly #ask: Ask;
  /** By client id. */
  readonly #handles = new Map<string, string>();

  constructor(parts: RemoteSessionParts) {
    this.#parts = parts;
    this.#ask = parts.ask;
    this.id = parts.description.session_id;
    this.instanceId = parts.description.instance_id;
    this.frames = parts.reader;
    this.task = new RemoteTask(parts.ask, parts.reader);
  }

  describe(): SessionDescription {
    const { current, oldest } = this.frames.extent();
    return { ...this.#parts.description, current_sequence: current, oldest_sequence: oldest };
  }

  async join(request: JoinRequest, member: Member): Promise<Joined> {
    const { away, description } = this.#parts;
    const handle = newId();
    away.enter(handle, member, description.replica_id);
    try {
      const { head } = await this.#ask('join', { handle, request });
      const keyframe = { sequence: head.keyframe, frame: away.expect(handle, head.keyframe) };
      await this.#reach(head.keyframe);
      this.#handles.set(head.clientId, handle);
      const { clientId, role, oldest } = head;
      const closed = head.closed ? { closed: frameOf(head.closed) } : {};
      return {
        clientId,
        role,
        oldest,
        keyframe,
        roleAssigned: frameOf(head.roleAssigned),
        membership: frameOf(head.membership),
        ...closed,
      };
    } catch (error) {
      away.leave(handle);
      this.#parts.forget(handle);
      throw error;
    }
  }

  async leave(clientId: string): Promise<number | undefined> {
    const handle = this.#handles.get(clientId);
    this.#handles.delete(clientId);
    try {
      const { head } = await this.#ask('leave', { clientId });
      return head.told ?? undefined;
    } catch (error) {
      if (handle !== undefined) this.#parts.forget(handle);
      throw error;
    } finally {
      if (handle !== undefined) this.#parts.away.leave(handle);
    }
  }

  async input(author: Author, bytes: Uint8Array, answerTo?: readonly number[]): Promise<void> {
    await this.#ask('input', { author, ...(answerTo && { answerTo }) }, bytes);
  }

  async resize(clientId: string, size: Size): Promise<void> {
    await this.#ask('resize', { clientId, size });
  }

  async requestRole(clientId: string, role: Role): Promise<void> {
    await this.#ask('requestRole', { clientId, role });
  }

  async requestKeyframe(clientId: string): Promise<void> {
    await this.#ask('requestKeyframe', { clientId });
  }

  async lagged(clientId: string): Promise<void> {
    await this.#ask('lagged', { clientId });
  }

  async presence(clientId: string, act: PresenceAct, target?: string): Promise<void> {
    await this.#ask('presence', { clientId, act, ...(target !== undefined && { target }) });
  }

  async moveControl(clientId: string | null): Promise<void> {
    await this.#ask('moveControl', { clientId });
  }

  async dismiss(clientId: string): Promise<void> {
    await this.#ask('dismiss', { clientId });
  }

  async end(reason: ClosedReason, by?: string): Promise<void> {
    await this.#ask('end', { reason, ...(by !== undefined && { by }) });
  }

  async conceal(text: string): Promise<string> {
    return (await this.#ask('conceal', { text })).head.text;
  }

  async view(): Promise<ScreenView> {
    return (await this.#ask('view', {})).head;
  }

  async snapshot(): Promise<Snapshot> {
    const { head, bytes = new Uint8Array() } = await this.#ask('snapshot', {});
    return { ...head, bytes };
  }

  /** Resolves when this replica knows of that number, so that nothing below it is still on the way. */
  #reach(sequence: number): Promise<void> {
    return bounded(
      heard(this.frames, (_, current) => current >= sequence, this.frames.extent().current >= sequence),
      FRAMES_PATIENCE_MS,
      () => new Fault('INTERNAL', 'the frames of this session do not come through at the moment; try again', { status: 503 }),
    );
  }
}

class RemoteTask implements SessionTask {
  readonly push: PushConfigs;
  readonly #ask: Ask;
  readonly #frames: LogReader;

  constructor(ask: Ask, frames: LogReader) {
    this.#ask = ask;
    this.#frames = frames;
    this.push = remotePushes(ask);
  }

  async snapshot(historyLength?: number): Promise<TaskJson> {
    return (await this.placed(historyLength)).task;
  }

  async placed(historyLength?: number): Promise<PlacedTask> {
    return (await this.#ask('task', historyLength === undefined ? {} : { historyLength })).head;
  }

  async send(message: MessageJson, from: Sender): Promise<TaskJson> {
    return (await this.#ask('message', { message, ...from })).head;
  }

  async rest(): Promise<TaskJson> {
    const rested = heard(this.#frames, (frames) => frames.some(isRest), false);
    const now = await this.snapshot();
    if (!isResting(now.status.state)) await rested;
    return this.snapshot();
  }

  async cancel(serviceParameters?: Record<string, unknown>): Promise<TaskJson> {
    return (await this.#ask('cancel', serviceParameters === undefined ? {} : { serviceParameters })).head;
  }
}

function remotePushes(ask: Ask): PushConfigs {
  const list = async () => (await ask('listPushes', {})).head;
  return {
    set: async (config) => (await ask('setPush', { config })).head,
    get: async (id) => (await list()).find((config) => config.id === id),
    list,
    remove: async (id) => void (await ask('removePush', { id })),
  };
}

function isRest(frame: Frame): boolean {
  if (frame.kind !== 'TaskStatusUpdate') return frame.kind === 'Closed';
  const payload = readPayload(frame);
  return payload.kind === 'TaskStatusUpdate' && isResting(payload.task.status.state);
}

/** Resolves when an append is of the kind; at once if `already`. */
function heard(frames: LogReader, isIt: (entries: readonly Frame[], current: number) => boolean, already: boolean): Promise<void> {
  if (already) return Promise.resolve();
  return new Promise((resolve) => {
    const stop = frames.follow((entries, { current }) => {
      if (!isIt(entries, current)) return;
      stop();
      resolve();
    });
  });
}
