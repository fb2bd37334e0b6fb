// What becomes of a session when its replica dies or drains: it goes on elsewhere, or is closed once (I4). Knows no client.
import type { Agent } from '../../agents/agents.js';
import { Fault } from '../../errors.js';
import { LogError, type LogWriter, nextEpoch } from '../../log/log.js';
import type { Size } from '../../terminal/terminal.js';
import { abandonedRecord, closeAbandoned, isCorrupt } from '../abandoned.js';
import { commandOf } from '../command.js';
import type { OwnedSession } from '../owned-session.js';
import type { OwnedSessions } from '../owned-sessions.js';
import { sizeNow } from '../past.js';
import { type KeptSession, keptSession } from '../record.js';
import { canBeInherited } from '../secrecy.js';
import type { SessionsParts } from '../sessions.js';
import type { Telling } from '../telling.js';
import type { Desk } from './desk.js';

/** Sessions that are settled at the same time. */
const SETTLED_AT_ONCE = 8;

/** What goes on with a session: its agent's `policy.reattach`. */
interface Successor {
  readonly agent: Agent;
  readonly argv: readonly string[];
}

/** What becomes of a session whose replica is gone, as the log tells it. */
const told = { continued: 'goes on here', closed: 'was closed', damaged: 'is damaged, and was closed' } as const;
type Outcome = keyof typeof told;

export class Succession {
  readonly #parts: SessionsParts;
  readonly #owned: OwnedSessions;
  readonly #telling: Telling;
  readonly #desk: () => Desk | undefined;
  readonly #settling = new Map<string, Promise<boolean>>();
  #isOpen = true;

  constructor(parts: SessionsParts, owned: OwnedSessions, telling: Telling, desk: () => Desk | undefined) {
    this.#parts = parts;
    this.#owned = owned;
    this.#telling = telling;
    this.#desk = desk;
  }

  /** Takes no session over from now on: others do, or the next life of this replica. */
  stop(): void {
    this.#isOpen = false;
  }

  /**
   * Whoever notices settles it, once. Sessions of an owner that is alive are left alone, and those that run here or are about to.
   * Resolves with whether all are settled; those that are not are to be tried again.
   */
  async settle(isGone: (replicaId: string) => boolean): Promise<boolean> {
    const all = (await this.#parts.log.records()).flatMap(({ record }) => keptSession(record) ?? []);
    const orphans = all.filter(
      ({ session_id, replica_id, state }) => state === 'running' && !this.#owned.has(session_id) && isGone(replica_id),
    );
    let isDone = true;
    await aFewAtATime(orphans, async (kept) => {
      if (!(await this.inherit(kept))) isDone = false;
    });
    const untold = all.filter(({ telling }) => telling !== undefined && isGone(telling));
    await aFewAtATime(untold, (kept) => this.#tell(kept));
    return isDone;
  }

  /** A session whose replica is gone goes on here, where its agent says how; else it is closed. Of all who try, one does. False if it has to be tried again. */
  inherit(kept: KeptSession): Promise<boolean> {
    return this.#once(kept, async () => (await this.#isStillSo(kept)) && !(await this.#lives(kept.replica_id)));
  }

  #once(kept: KeptSession, isDue: () => Promise<boolean>): Promise<boolean> {
    const id = kept.session_id;
    const settling = this.#settling.get(id) ?? this.#inherit(kept, isDue).finally(() => this.#settling.delete(id));
    this.#settling.set(id, settling);
    return settling;
  }

  /** Resolves when that session is not being taken over here, or not any more. */
  async settled(sessionId: string): Promise<void> {
    await this.#settling.get(sessionId);
  }

  async #inherit(kept: KeptSession, isDue: () => Promise<boolean>): Promise<boolean> {
    const { logger } = this.#parts;
    const fields = { session_id: kept.session_id, instance_id: kept.instance_id, owner: kept.replica_id };
    try {
      if (!this.#mayTake()) return !this.#isOpen;
      if (!(await isDue())) return true;
      const outcome = await this.#take(kept);
      this.#count(outcome);
      logger.warn(fields, `a session whose replica is gone ${told[outcome]}`);
      return true;
    } catch (error) {
      if (isFenced(error)) return true; // somebody else has noticed, too
      this.#count('failed');
      logger.error({ ...fields, err: error }, 'a session whose replica is gone could not be settled');
      return false;
    }
  }

  #count(outcome: Outcome | 'failed'): void {
    this.#parts.meter?.count('takeovers_total', 1, { outcome });
  }

  /** Its end is told from here to whom its owner could not tell it. */
  async #tell(kept: KeptSession): Promise<void> {
    await this.#telling.takeOver(kept).catch((error) => this.#telling.failed(kept.session_id, error));
  }

  /** Whoever may be believed dead leaves them alone: what was its own may be another's, of the same id even. */
  #mayTake(): boolean {
    const { neighbours, replicaId } = this.#parts;
    return this.#isOpen && (neighbours?.isAlive(replicaId) ?? true);
  }

  /** It may have ended, or have been taken, since its record was read. */
  async #isStillSo({ session_id, replica_id }: KeptSession): Promise<boolean> {
    const now = keptSession(await this.#parts.log.record(session_id));
    return now?.state === 'running' && now.replica_id === replica_id && !this.#owned.has(session_id);
  }

  /** To be asked after the record was read: whoever was born since settles what an earlier life of the same id has left. */
  async #lives(owner: string): Promise<boolean> {
    const { neighbours, replicaId } = this.#parts;
    return owner !== replicaId && neighbours !== undefined && (await neighbours.isAliveNow(owner));
  }

  /** Returns what has become of it. Whoever takes it says so in the same step: if that one dies before it is settled, the next who notices takes it. */
  async #take(kept: KeptSession): Promise<Outcome> {
    const { log, replicaId } = this.#parts;
    try {
      const ours = { ...kept, replica_id: replicaId, ...(kept.epoch === undefined ? {} : { epoch: nextEpoch(kept.epoch) }) };
      const writer = await log.claim(kept.session_id, kept.epoch, ours);
      if (await this.#goOn(ours, writer)) return 'continued';
      const ended = await closeAbandoned(kept, writer).finally(() => writer.release());
      this.#closed(ended);
      await this.#tell(ended);
      return 'closed';
    } catch (error) {
      if (!isCorrupt(error)) throw error;
      await this.#endDamaged(kept);
      return 'damaged';
    }
  }

  /** Nobody can write to it: its record alone tells that it has ended, and goes when its retention is over. */
  async #endDamaged(kept: KeptSession): Promise<void> {
    const { log } = this.#parts;
    const ended = abandonedRecord(kept);
    try {
      await log.amendDamaged?.(kept.session_id, ended);
      this.#closed(ended);
    } catch (error) {
      if (!(error instanceof LogError && error.failure === 'unknown_session')) throw error;
      await log.remove(kept.session_id);
    }
  }

  /** It is as if it had ended here. */
  #closed(ended: KeptSession): void {
    this.#parts.quota?.give(ended.instance_id, ended.session_id);
    this.#parts.onClosed?.(ended);
  }

  /** Its owner has let go of it in order. */
  async adopt(sessionId: string): Promise<void> {
    const record = keptSession(await this.#parts.log.record(sessionId));
    if (record) await this.#once(record, () => this.#isStillSo(record));
    if (!this.#owned.get(sessionId)) throw new Fault('INTERNAL', 'this replica does not go on with the session');
  }

  /** Lets others go on with the sessions that can. */
  async handOver(): Promise<void> {
    const { neighbours } = this.#parts;
    const others = neighbours?.others() ?? [];
    if (others.length === 0) return;
    const movable = this.#owned.all().filter((session) => session.canBeInherited && this.#successorOf(session.instanceId));
    await Promise.all(movable.map((session, i) => this.#moveTo(others[i % others.length] as string, session)));
  }

  /** This replica was believed dead for a while: the terminals of sessions that others have taken end, and nothing of them is written. */
  async giveUpLost(): Promise<void> {
    const { log, replicaId } = this.#parts;
    for (const session of this.#owned.all()) {
      const record = (await log.record(session.id).catch(() => undefined)) as KeptSession | undefined;
      const isLost = record && (record.state === 'closed' || record.replica_id !== replicaId);
      if (isLost) session.giveUp(new LogError('fenced', 'another replica has it'));
    }
  }

  /** Another process is this replica now: the terminals end, and nothing of them is written. */
  giveUpAll(): void {
    for (const session of this.#owned.all()) session.giveUp(new LogError('fenced', 'another process has the id of this replica'));
  }

  /** If that one does not go on with it, the first does that finds this replica gone. */
  async #moveTo(to: string, session: OwnedSession): Promise<void> {
    await session.handOver();
    await this.#parts.neighbours?.handOver(to, session.id).catch((error) => {
      this.#parts.logger.warn({ session_id: session.id, to, err: error }, 'a session could not be handed over');
    });
  }

  #successorOf(instanceId: string): Successor | undefined {
    const agent = this.#parts.agents?.get(instanceId);
    return agent?.policy.reattach && { agent, argv: agent.policy.reattach };
  }

  async #goOn(kept: KeptSession, writer: LogWriter): Promise<boolean> {
    const successor = this.#successorOf(kept.instance_id);
    // Without its secrets nobody could conceal them.
    const size = successor && canBeInherited(kept) ? await sizeToGoOnWith(writer, kept) : undefined;
    if (!successor || !size) return false;
    const session = this.#owned.on(successor.agent, kept, writer);
    await this.#start(session, kept, { ...successor, size }).then(
      () => session.welcomeBack(),
      () => session.cannotGoOn(),
    );
    return true;
  }

  async #start(session: OwnedSession, kept: KeptSession, { agent, argv, size }: Successor & { readonly size: Size }): Promise<void> {
    void this.#parts.quota?.hold(agent.id, kept.session_id);
    await session.resume(size, this.#present(session, kept));
    await this.#owned.run(session, { ...(await commandOf(agent, {})), ...size, argv });
  }

  /** The members whose replicas are alive. */
  #present(session: OwnedSession, { members = [] }: KeptSession): Parameters<OwnedSession['resume']>[1] {
    const { neighbours, replicaId } = this.#parts;
    const desk = this.#desk();
    if (!desk) return [];
    return members
      .filter(({ home }) => home.replicaId === replicaId || neighbours?.isAlive(home.replicaId))
      .map(({ home, label, hearsPresence = false, ...member }) => ({
        ...member,
        label,
        hearsPresence,
        member: desk.adopt(session, member.clientId, home),
      }));
  }
}

async function aFewAtATime(kept: readonly KeptSession[], settle: (one: KeptSession) => Promise<void>): Promise<void> {
  const left = [...kept];
  const lane = async () => {
    for (let one = left.shift(); one; one = left.shift()) await settle(one);
  };
  await Promise.all(Array.from({ length: SETTLED_AT_ONCE }, lane));
}

/** Undefined if it cannot go on: its owner wrote the Closed, or what it wrote cannot be read. */
async function sizeToGoOnWith({ reader }: LogWriter, kept: KeptSession): Promise<Size | undefined> {
  try {
    return (await reader.latest('Closed', 'log')) ? undefined : await sizeNow(reader, kept);
  } catch (error) {
    if (isCorrupt(error)) return undefined;
    throw error;
  }
}

const isFenced = (error: unknown) => error instanceof LogError && error.failure === 'fenced';
