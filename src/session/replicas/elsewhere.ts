// Sessions that other replicas run, and what other replicas ask of ours. Knows no bus and no store.
import { Fault } from '../../errors.js';
import type { Log, LogReader } from '../../log/log.js';
import { describe, type KeptSession } from '../record.js';
import type { Session, SessionDescription } from '../session.js';
import { Away } from './away.js';
import { Desk, type Tell } from './desk.js';
import type { Neighbours } from './neighbours.js';
import { type Ask, RemoteSession } from './remote-session.js';
import type { Tiding, Tidings } from './remote-words.js';
import { type Notice, ToldAgain } from './told-again.js';

export interface ElsewhereParts {
  readonly log: Log;
  readonly replicaId: string;
  readonly neighbours: Neighbours;
  /** A session that runs here or has just ended here. */
  here(sessionId: string): Session | undefined;
  /** Resolves when a session is not being taken over here, or not any more. */
  settled(sessionId: string): Promise<void>;
  /** Goes on with a session that its owner has let go of. */
  adopt(sessionId: string): Promise<void>;
}

export class Elsewhere {
  /** Where the members are kept that are connected to other replicas. */
  readonly desk: Desk;
  readonly #parts: ElsewhereParts;
  readonly #away = new Away();
  /** Members that have left while the owner of their session could not be told. */
  readonly #departures = new ToldAgain();

  constructor(parts: ElsewhereParts) {
    const { neighbours, replicaId, here, settled, adopt } = parts;
    this.#parts = parts;
    const tell: Tell = (to, what, head, bytes) => {
      if (to === replicaId) this.#tellHere(what, head, bytes);
      else neighbours.tell(to, what, head, bytes);
    };
    this.desk = new Desk({ here, settled }, tell);
    neighbours.serve({ desk: this.desk, away: this.#away, adopt });
  }

  /** Rejects with a retryable Fault if the owner does not answer. */
  async session(kept: KeptSession): Promise<Session> {
    const [reader, { head }] = await Promise.all([this.#parts.log.reader(kept.session_id), this.#asker(kept)('describe', {})]);
    return this.#remote(kept, head, reader);
  }

  /** As its record tells of it, which does not know who is attached: for when its owner does not answer. */
  async unasked(kept: KeptSession): Promise<Session> {
    const reader = await this.#parts.log.reader(kept.session_id);
    return this.#remote(kept, describe(kept, reader), reader);
  }

  #remote(kept: KeptSession, description: SessionDescription, reader: LogReader): Session {
    const forget = (handle: string) => void this.#departures.tell(this.#departure(kept, handle));
    return new RemoteSession({ description, reader, away: this.#away, ask: this.#asker(kept), forget });
  }

  close(): void {
    this.#departures.close();
  }

  /** A replica is dead: its members have left, and what it had promised will not come. */
  forsake(replicaId: string): void {
    this.desk.forsake(replicaId);
    this.#away.forsake(replicaId);
  }

  /** This replica was believed dead for a while: its clients are members no longer, and must join again. */
  sendBack(): void {
    this.#away.sendBack();
  }

  /** Asks the owner, whoever it is by now. What may have been done already is not asked again. */
  #asker({ session_id, replica_id }: KeptSession): Ask {
    const { neighbours, replicaId } = this.#parts;
    let owner = replica_id;
    const askOwner: Ask = async (question, asked, bytes = new Uint8Array()) => {
      if (owner === replicaId) return this.desk.answer(owner, session_id, question, asked, bytes);
      return neighbours.asker(owner, session_id)(question, asked, bytes);
    };
    const findOwner = async () => {
      owner = (await this.#ownerOf(session_id)) ?? owner;
    };
    return async (question, asked, bytes) => {
      if (owner !== replicaId && !neighbours.isAlive(owner)) await findOwner();
      const asking = owner;
      return askOwner(question, asked, bytes).catch(async (error) => {
        if (!hasMoved(error)) throw error;
        await findOwner();
        if (owner === asking) throw error;
        return askOwner(question, asked, bytes);
      });
    };
  }

  #departure(kept: KeptSession, handle: string): Notice {
    const ask = this.#asker(kept);
    const record = () => this.#parts.log.record(kept.session_id) as Promise<KeptSession | undefined>;
    return {
      tell: () => ask('forget', { handle }),
      isOver: () =>
        record().then(
          (now) => now?.state !== 'running',
          () => false,
        ),
    };
  }

  async #ownerOf(sessionId: string): Promise<string | undefined> {
    const record = await this.#parts.log.record(sessionId).catch(() => undefined);
    return (record as KeptSession | undefined)?.replica_id;
  }

  /** A session that was taken over may have members who have been here all the time, as guests of its former owner. */
  #tellHere<T extends Tiding>(what: T, head: Tidings[T], bytes: Uint8Array | undefined): void {
    const { replicaId } = this.#parts;
    if (this.#away.hear(replicaId, what, { head, ...(bytes && { bytes }) }) || !('sessionId' in head)) return;
    this.desk.answer(replicaId, head.sessionId, 'forget', { handle: head.handle }, new Uint8Array()).catch(() => {});
  }
}

/** Nothing was done: whoever was asked does not own the session. */
const hasMoved = (error: unknown) => error instanceof Fault && error.details?.moved === true;
