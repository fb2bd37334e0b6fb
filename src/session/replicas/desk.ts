// Where other replicas ask for the sessions that this one owns, and where their members are kept. Knows no bus and no store.
import { Fault, type GoodbyeReason } from '../../errors.js';
import type { Frame } from '../../protocol/frames.js';
import type { PresenceState } from '../../protocol/presence.js';
import type { Delivery, Home, Member, Session } from '../session.js';
import { headOf, type Question, type Questions, type Tiding, type Tidings, type Told, textOf } from './remote-words.js';

/** Tells a replica; in the order of the calls, never rejects. */
export type Tell = <T extends Tiding>(to: string, what: T, head: Tidings[T], bytes?: Uint8Array) => void;

/** A question about one session, from one replica. */
interface Asked<Q extends Question> {
  readonly session: Session;
  readonly from: string;
  readonly ask: Questions[Q]['ask'];
  readonly bytes: Uint8Array;
}

type Answers = { readonly [Q in Question]: (asked: Asked<Q>) => Promise<Told<Questions[Q]['answer']>> };

/** A member on another replica. */
class Distant implements Member {
  readonly session: Session;
  readonly home: Home;
  clientId: string | undefined;
  readonly #tell: <T extends Tiding>(what: T, head: Tidings[T], bytes?: Uint8Array) => void;

  constructor(session: Session, home: Home, tell: Tell) {
    this.session = session;
    this.home = home;
    this.#tell = (what, head, bytes) => tell(home.replicaId, what, head, bytes);
  }

  deliver({ sequence, frame }: Delivery): void {
    const { handle } = this.home;
    const sessionId = this.session.id;
    if (frame instanceof Promise) {
      this.#tell('deliver', { sessionId, handle, sequence });
      this.promise(frame);
    } else this.#tell('deliver', { sessionId, handle, sequence, frame: headOf(frame) }, frame.body);
  }

  /** A frame whose number it knows already. */
  promise(frame: Promise<Frame> | Frame): void {
    void Promise.resolve(frame).then((ready) => this.#tell('ready', { handle: this.home.handle, frame: headOf(ready) }, ready.body));
  }

  tell(state: PresenceState): void {
    this.#tell('presenceState', { handle: this.home.handle, state });
  }

  dismiss(reason: GoodbyeReason, code: number, detail?: string): void {
    this.#tell('sendAway', { handle: this.home.handle, reason, code, ...(detail === undefined ? {} : { detail }) });
  }
}

/** Where the sessions are that others may ask for. */
export interface House {
  /** A session that runs here or has just ended here. */
  here(sessionId: string): Session | undefined;
  /** Resolves when a session is not being taken over here, or not any more. */
  settled(sessionId: string): Promise<void>;
}

export class Desk {
  readonly #house: House;
  readonly #tell: Tell;
  /** By replica, then by handle. */
  readonly #distant = new Map<string, Map<string, Distant>>();

  constructor(house: House, tell: Tell) {
    this.#house = house;
    this.#tell = tell;
  }

  knows(question: string): question is Question {
    return Object.hasOwn(this.#answers, question);
  }

  /** Rejects with a Fault that travels back to the client. */
  async answer<Q extends Question>(
    from: string,
    sessionId: string,
    question: Q,
    ask: Questions[Q]['ask'],
    bytes: Uint8Array,
  ): Promise<Told<Questions[Q]['answer']>> {
    const { here, settled } = this.#house;
    // Whoever asks while it is taken over here has read that it is: it is there in a moment.
    const session = here(sessionId) ?? (await settled(sessionId).then(() => here(sessionId)));
    if (!session) throw new Fault('INTERNAL', 'this session has just ended or moved; try again', { status: 503, details: { moved: true } });
    return this.#answers[question]({ session, from, ask, bytes });
  }

  /** A replica is dead: its members have left, and their leases are free (I4). */
  forsake(replicaId: string): void {
    const gone = this.#distant.get(replicaId);
    this.#distant.delete(replicaId);
    for (const { session, clientId } of gone?.values() ?? []) if (clientId !== undefined) void session.leave(clientId).catch(() => {});
  }

  readonly #answers: Answers = {
    describe: async ({ session }) => ({ head: session.describe() }),
    join: (asked) => this.#join(asked),
    leave: async ({ session, from, ask }) => {
      this.#strike(from, ({ clientId }) => clientId === ask.clientId);
      return { head: { told: (await session.leave(ask.clientId)) ?? null } };
    },
    forget: async ({ session, from, ask }) => {
      const distant = this.#distant.get(from)?.get(ask.handle);
      this.#distant.get(from)?.delete(ask.handle);
      if (distant?.clientId !== undefined) await session.leave(distant.clientId);
      return { head: {} };
    },
    input: ({ session, ask, bytes }) => done(session.input(ask.author, bytes, ask.answerTo)),
    resize: ({ session, ask }) => done(session.resize(ask.clientId, ask.size)),
    requestRole: ({ session, ask }) => done(session.requestRole(ask.clientId, ask.role)),
    requestKeyframe: ({ session, ask }) => done(session.requestKeyframe(ask.clientId)),
    lagged: ({ session, ask }) => done(session.lagged(ask.clientId)),
    moveControl: ({ session, ask }) => done(session.moveControl(ask.clientId)),
    presence: ({ session, ask }) => done(session.presence(ask.clientId, ask.act, ask.target)),
    dismiss: ({ session, ask }) => done(session.dismiss(ask.clientId)),
    end: ({ session, ask }) => done(session.end(ask.reason, ask.by)),
    conceal: async ({ session, ask }) => ({ head: { text: await session.conceal(ask.text) } }),
    view: async ({ session }) => ({ head: await session.view() }),
    snapshot: async ({ session }) => {
      const { bytes, ...head } = await session.snapshot();
      return { head, bytes };
    },
    task: async ({ session, ask }) => ({ head: await session.task.placed(ask.historyLength) }),
    message: async ({ session, ask: { message, ...from } }) => ({ head: await session.task.send(message, from) }),
    setPush: async ({ session, ask }) => ({ head: await session.task.push.set(ask.config) }),
    listPushes: async ({ session }) => ({ head: await session.task.push.list() }),
    removePush: ({ session, ask }) => done(session.task.push.remove(ask.id)),
    cancel: async ({ session, ask }) => ({ head: await session.task.cancel(ask.serviceParameters) }),
  };

  async #join({ session, from, ask: { handle, request } }: Asked<'join'>): Promise<Told<Questions['join']['answer']>> {
    const distant = new Distant(session, { replicaId: from, handle }, this.#tell);
    const those = this.#seat(distant);
    try {
      const { clientId, role, oldest, roleAssigned, membership, keyframe, closed } = await session.join(request, distant);
      distant.clientId = clientId;
      distant.promise(keyframe.frame);
      // Given up while it was on its way (`forget`), or its replica is gone.
      if (this.#distant.get(from)?.get(handle) !== distant) void session.leave(clientId).catch(() => {});
      const told = closed ? { closed: textOf(closed) } : {};
      const frames = { roleAssigned: textOf(roleAssigned), membership: textOf(membership), keyframe: keyframe.sequence };
      return { head: { clientId, role, oldest, ...frames, ...told } };
    } catch (error) {
      those.delete(handle);
      throw error;
    }
  }

  /** A member of a session that was taken over. */
  adopt(session: Session, clientId: string, home: Home): Member {
    const distant = new Distant(session, home, this.#tell);
    distant.clientId = clientId;
    this.#seat(distant);
    return distant;
  }

  #seat(distant: Distant): Map<string, Distant> {
    const { replicaId, handle } = distant.home;
    const those = this.#distant.get(replicaId) ?? new Map<string, Distant>();
    this.#distant.set(replicaId, those.set(handle, distant));
    return those;
  }

  #strike(from: string, isIt: (distant: Distant) => boolean): void {
    const those = this.#distant.get(from);
    for (const [handle, distant] of those ?? []) if (isIt(distant)) those?.delete(handle);
  }
}

async function done(work: Promise<void>): Promise<Told<object>> {
  await work;
  return { head: {} };
}
