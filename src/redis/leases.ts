// Who is alive: this replica's own lease, and what it believes of the others. Knows no message and no session.
//
// A replica that lives beats: it changes its sign in the directory. One whose sign did not change for a lease, while the looker could
// beat all that time, is buried: its death is written, in the same step in which it is seen that it did not beat after all. Everybody,
// the dead one included, learns of deaths and births by looking. So no two disagree, clocks of machines do not matter, and while Redis is
// away nobody dies.
import { bounded } from '../session/bounded.js';
import type { Leases, Now } from '../session/replicas/cluster.js';
import type { Logger } from '../session/sessions.js';
import { Alarm } from './alarm.js';
import { another, type Client, ready } from './client.js';
import { type Answer, Directory, FORGET_MS, type Life, type Sign } from './directory.js';
import { Listeners } from './listeners.js';
import { type Look, type News, Peers } from './peers.js';
import { refusalOf } from './refusal.js';
import { Trouble } from './trouble.js';

/** Beats in the time of a lease; the time in which all must have seen a death is one lease and two beats. */
const BEATS_PER_LEASE = 6;
/** Looks that are further apart than so many beats make everyone's lease full again. */
const BLIND_BEATS = 2;
/** How long Redis is waited for when the lease is taken, beside the lease of a former life, in milliseconds. */
const OPEN_PATIENCE_MS = 10_000;
/** How long Redis may take to answer a beat, where a beat's time is less, in milliseconds. */
const ANSWER_MS = 1000;
/** How long the release may take, in milliseconds. */
const RELEASE_PATIENCE_MS = 1000;
/** What a replica and its incarnation may be called: they are written between spaces, and inside keys. */
const NAME = /^[A-Za-z0-9._-]{1,64}$/;

export interface LeasesOptions {
  /** Not closed here. */
  readonly client: Client;
  readonly prefix: string;
  /** 1 to 64 characters of A-Z a-z 0-9 . _ - */
  readonly replicaId: string;
  readonly leaseSeconds: number;
  /** Another for each process, of the same characters. */
  readonly incarnation: string;
  readonly logger: Logger;
}

/**
 * Takes the lease. Where a process of the same id was killed, that takes as long as its lease; where it still runs, this rejects with an
 * error that says so, as it does when Redis does not answer.
 */
export async function openLeases(options: LeasesOptions): Promise<RedisLeases> {
  for (const name of ['replicaId', 'incarnation'] as const) {
    if (!NAME.test(options[name])) throw new Error(`${name} is ${JSON.stringify(options[name])}; expected 1 to 64 of A-Z a-z 0-9 . _ -`);
  }
  const leases = new RedisLeases(options);
  try {
    await leases.open();
    return leases;
  } catch (error) {
    await leases.release();
    throw error;
  }
}

export class RedisLeases implements Leases {
  readonly replicaId: string;
  readonly #options: LeasesOptions;
  readonly #leaseMs: number;
  readonly #beatMs: number;
  readonly #directory: Directory;
  readonly #subscriber: Client;
  readonly #peers: Peers;
  readonly #alarm = new Alarm();
  readonly #trouble: Trouble;
  readonly #deaths: Listeners<[replicaId: string]>;
  readonly #births: Listeners<[replicaId: string]>;
  readonly #losses: Listeners<[]>;
  readonly #gains: Listeners<[life: 'same' | 'new']>;
  readonly #rivals: Listeners<[]>;
  #generation = 0;
  #beats = 0;
  /** When the last beat that was taken was sent; others count from later. */
  #renewedAt = Number.NEGATIVE_INFINITY;
  /** Redis' clock less ours, as far as the last beat tells: it was taken at some time between its question and its answer. */
  #ahead: Now = { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY };
  /** The life in which the lease was held last. */
  #heldLife: Life | undefined;
  #isHeld = false;
  #isOpen = true;
  /** Why Redis did not take the last beat. */
  #refusal: string | undefined;
  /** The sign of another process that was seen under this replica's id. */
  #rival: string | undefined;
  #lossTimer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #askers: Array<(error: Error | undefined) => void> = [];

  constructor(options: LeasesOptions) {
    this.#options = options;
    this.replicaId = options.replicaId;
    this.#leaseMs = options.leaseSeconds * 1000;
    this.#beatMs = this.#leaseMs / BEATS_PER_LEASE;
    this.#directory = new Directory(options.client, options.prefix, Math.max(this.#beatMs, ANSWER_MS));
    this.#subscriber = another(options.client);
    this.#peers = new Peers(BLIND_BEATS * this.#beatMs);
    this.#trouble = new Trouble(options.logger, 'the lease of this replica');
    const failed = (error: unknown) => options.logger.error({ err: error }, 'a listener to the lives of replicas has failed');
    this.#deaths = new Listeners(failed);
    this.#births = new Listeners(failed);
    this.#losses = new Listeners(failed);
    this.#gains = new Listeners(failed);
    this.#rivals = new Listeners(failed);
  }

  alive(): readonly string[] {
    const others = this.#peers.ids().filter((id) => id !== this.replicaId);
    return this.#holds() ? [this.replicaId, ...others].sort() : others.sort();
  }

  isAlive(replicaId: string): boolean {
    return replicaId === this.replicaId ? this.#holds() : this.#peers.lifeOf(replicaId) !== undefined;
  }

  /** The life of a replica that is believed alive. */
  lifeOf(replicaId: string): Life | undefined {
    if (replicaId === this.replicaId) return this.#holds() ? this.#life : undefined;
    return this.#peers.lifeOf(replicaId);
  }

  /** The same, after another look where it is unknown: it may have been born just now. Rejects while Redis is away. */
  async findLife(replicaId: string): Promise<Life | undefined> {
    if (this.lifeOf(replicaId) === undefined && this.#isOpen) await this.#lookAgain();
    return this.lifeOf(replicaId);
  }

  async isAliveNow(replicaId: string): Promise<boolean> {
    return (await this.findLife(replicaId)) !== undefined;
  }

  onDeath(listener: (replicaId: string) => void): () => void {
    return this.#deaths.add(listener);
  }

  onBirth(listener: (replicaId: string) => void): () => void {
    return this.#births.add(listener);
  }

  onLost(listener: () => void): () => void {
    return this.#losses.add(listener);
  }

  onRegained(listener: (life: 'same' | 'new') => void): () => void {
    return this.#gains.add(listener);
  }

  onUsurped(listener: () => void): () => void {
    return this.#rivals.add(listener);
  }

  now(): Now {
    const here = performance.now();
    return { from: this.#ahead.from + here, to: this.#ahead.to + here };
  }

  trouble(): string | undefined {
    if (this.#refusal) return `Redis takes no sign of life from this replica: ${this.#refusal}; it is tried again`;
    return this.#holds() ? undefined : 'this replica is cut off from the others';
  }

  async open(): Promise<void> {
    const { client, replicaId, logger } = this.#options;
    await ready(client, OPEN_PATIENCE_MS);
    await this.#listen();
    const first = (await this.#beat()).signs.get(replicaId);
    if (!this.#isHeld) logger.info({}, 'the lease of another process of this id is waited for');
    while (!this.#isHeld) {
      await this.#alarm.pause(this.#beatMs);
      const now = (await this.#beat()).signs.get(replicaId);
      if (!this.#isHeld && now && !now.isDead && now.text !== first?.text) {
        throw new Error(`REPLICA_ID ${replicaId} is in use: another process renews its lease; give each replica an id of its own`);
      }
    }
    this.#running = this.#live();
  }

  async release(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#isHeld = false;
    clearTimeout(this.#lossTimer);
    this.#alarm.ring();
    this.#subscriber.disconnect();
    await this.#leave().catch((error) =>
      this.#options.logger.warn({ err: error }, 'the lease was not released; others wait until it runs out'),
    );
  }

  get #life(): Life {
    return `${this.#options.incarnation}.${this.#generation}`;
  }

  /** Subscribes again whenever the connection is new, and then looks for what it may have missed. */
  async #listen(): Promise<void> {
    const subscribe = () => this.#subscriber.subscribe(this.#directory.channel);
    this.#subscriber.on('message', () => this.#alarm.ring());
    await ready(this.#subscriber, OPEN_PATIENCE_MS);
    await subscribe();
    this.#subscriber.on('ready', () => {
      subscribe().then(
        () => this.#alarm.ring(),
        () => {},
      );
    });
  }

  /** Beats, one after the other, until the release; what waits for a look gets the next one that begins. */
  async #live(): Promise<void> {
    for (;;) {
      await this.#alarm.pause(this.#beatMs);
      if (!this.#isOpen) break;
      const askers = this.#askers.splice(0);
      const error = await this.#beat().then(() => undefined, asError);
      this.#refusal = refusalOf(error);
      for (const asker of askers) asker(error);
      if (!this.#isOpen) break;
      this.#trouble.note(error);
    }
    for (const asker of this.#askers.splice(0)) asker(new Error('the lease is released'));
  }

  #lookAgain(): Promise<void> {
    this.#alarm.ring();
    return new Promise((resolve, reject) => this.#askers.push((error) => (error ? reject(error) : resolve())));
  }

  async #leave(): Promise<void> {
    await bounded(this.#running, RELEASE_PATIENCE_MS, () => new Error('Redis did not answer'));
    if (this.#heldLife === undefined) return;
    await ready(this.#options.client, RELEASE_PATIENCE_MS);
    await this.#directory.leave(this.replicaId, this.#life);
  }

  /** Renews, looks, and buries whose lease has run out. Listeners are told in the order: own loss, deaths, births, own gain. */
  async #beat(): Promise<Answer> {
    this.#holds();
    await ready(this.#options.client, this.#beatMs);
    if (this.#wasForgotten()) await this.#beginLifeAfter(this.#life);
    const askedAt = performance.now();
    const answer = await this.#directory.beat(this.replicaId, this.#life, this.#beats++, this.#leaseMs);
    const seenAt = performance.now();
    this.#ahead = { from: answer.at - seenAt, to: answer.at - askedAt };
    this.#holds();
    if (!this.#isOpen) return answer;
    const news = this.#look({ askedAt, seenAt, signs: answer.signs });
    this.#renew(answer, askedAt);
    for (const { id, life, sign } of news.overdue) await this.#directory.bury(id, life, sign);
    if (news.overdue.length > 0) this.#alarm.ring();
    return answer;
  }

  /** Silent for so long that the note of its death could be gone: it begins another life rather than go on with one that may be over. */
  #wasForgotten(): boolean {
    return this.#heldLife === this.#life && performance.now() - this.#renewedAt > FORGET_MS / 2;
  }

  async #beginLifeAfter(former: Life): Promise<void> {
    await this.#directory.leave(this.replicaId, former);
    this.#beginLife();
  }

  #look(look: Look): News {
    const news = this.#peers.look({ ...look, signs: this.#ofOthers(look.signs) });
    const isOther = (id: string) => id !== this.replicaId;
    for (const id of news.died.filter(isOther)) this.#deaths.tell(id);
    for (const id of news.born.filter(isOther)) this.#births.tell(id);
    return news;
  }

  /** Under this replica's own id there may be the sign of another process: that one is looked at like any other. */
  #ofOthers(signs: Answer['signs']): Answer['signs'] {
    if (signs.get(this.replicaId)?.life !== this.#life) return signs;
    return new Map([...signs].filter(([id]) => id !== this.replicaId));
  }

  #renew({ outcome, signs }: Answer, askedAt: number): void {
    if (outcome === 'held') {
      this.#rival = undefined;
      this.#hold(askedAt);
      return;
    }
    this.#lose();
    this.#beginLife();
    if (outcome === 'dead') this.#alarm.ring();
    else this.#face(signs.get(this.replicaId));
  }

  /** Where Redis lost something, the sign may be one of this process's own former lives, or of one that is dead: only who beats is a rival. */
  #face(sign: Sign | undefined): void {
    if (!sign || sign.life.startsWith(`${this.#options.incarnation}.`)) return;
    if (this.#rival !== undefined && this.#rival !== sign.text) this.#rivals.tell();
    this.#rival = sign.text;
  }

  #beginLife(): void {
    this.#generation++;
    this.#beats = 0;
  }

  #hold(askedAt: number): void {
    this.#renewedAt = askedAt;
    const left = askedAt + this.#leaseMs - performance.now();
    clearTimeout(this.#lossTimer);
    if (left <= 0) return;
    this.#lossTimer = setTimeout(() => this.#holds(), left);
    if (this.#isHeld) return;
    this.#isHeld = true;
    const former = this.#heldLife;
    this.#heldLife = this.#life;
    if (former === undefined) return;
    this.#options.logger.info({}, 'this replica has renewed its lease');
    this.#gains.tell(former === this.#life ? 'same' : 'new');
  }

  /** Whether the lease is held now; notices by the clock that it is not, before any timer does. */
  #holds(): boolean {
    if (this.#isHeld && performance.now() >= this.#renewedAt + this.#leaseMs) this.#lose();
    return this.#isHeld;
  }

  #lose(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    clearTimeout(this.#lossTimer);
    this.#options.logger.warn({}, 'this replica could not renew its lease: others may believe it dead');
    this.#losses.tell();
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
