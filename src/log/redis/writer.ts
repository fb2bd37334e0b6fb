// The one who may write to a session in Redis: numbers batches, sends them ahead of their answers, and finds the thread again when one
// fails. Knows no follower.
//
// A batch is sent once. Whatever becomes of it (the connection breaks, Redis refuses, the mark is another's), nothing more is sent until
// all that is under way is answered; then `resume` says what was taken, and from there all the rest goes out again in order.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../../redis/client.js';
import { faultOf } from '../embedded/entry-fault.js';
import {
  type Draft,
  type Entry,
  type Extent,
  isEntry,
  LogError,
  type LogReader,
  type LogWriter,
  placesOf,
  type Retention,
  type SessionRecord,
} from '../log.js';
import {
  type Batch,
  batchOf,
  bytesOf,
  type Call,
  contentOf,
  isAppend,
  isNew,
  nextCalls,
  oldestsOf,
  placed,
  recordAgain,
  touch,
  writeAgain,
} from './batch.js';
import type { SessionKeys } from './keys.js';
import { entriesOf, type Told } from './news.js';
import { FIRST_PAUSE_MS, LONGEST_PAUSE_MS, patiently } from './patience.js';
import * as scripts from './scripts.js';
import { AcknowledgedTail, type TailBudget } from './tail.js';
import type { RedisTroubles } from './troubles.js';

/** Most that is sent ahead of its answer: batches, and bytes of bodies. What comes then waits, and shares the next batch. */
const FLIGHT_BATCHES = 8;
const FLIGHT_BYTES = 4 * 1024 * 1024;
/** Most bytes in one body, and most kinds of entries that one writer may use. */
const MAX_BODY_BYTES = 64 * 1024 * 1024;
const MAX_KINDS = 64;
/** How long a session's keys outlive its retention if nobody writes to it or removes it, in milliseconds. */
export const KEEP_MS = 30 * 86_400_000;
/** How often that time begins anew, in milliseconds. */
const TOUCH_MS = 3_600_000;

/** Where a writer writes. */
export interface Desk {
  readonly id: string;
  readonly keys: SessionKeys;
  readonly client: Client;
  readonly troubles: RedisTroubles;
  readonly tails: TailBudget;
  /** How long the session's keys outlive its retention if nobody writes to it or removes it, in milliseconds. */
  readonly keepMs: number;
  readonly reader: LogReader;
  now(): number;
  /** An append was taken, after all before it. */
  took(told: Told): void;
  /** The store knows this writer again, after it had lost the thread. */
  resumed(): void;
  /** Numbers were lost in the store; they go on above this, and nothing from before is kept. */
  jumped(extent: Extent): void;
  /** This writer will never write again. */
  ended(writer: RedisWriter, reason: LogError): void;
}

/** What a claim gave: the owner that stands in the mark, and what was true when it was claimed. */
export interface Claimed {
  readonly owner: string;
  readonly epoch: number;
  readonly current: number;
  readonly retention: Retention;
  /** As it is written. */
  readonly record: string;
}

/** What the script says of a session. */
type Standing = [verdict: 'ours' | 'jumped', steps: number, current: number, oldest: number] | ['fenced', string, number] | ['unknown'];

export class RedisWriter implements LogWriter {
  readonly reader: LogReader;
  readonly epoch: number;
  readonly #desk: Desk;
  readonly #owner: string;
  readonly #retention: Retention;
  readonly #keepMs: number;
  readonly #tail: AcknowledgedTail;
  readonly #kinds = new Set<string>();
  readonly #ended = new AbortController();
  readonly #whenIdle: Array<() => void> = [];
  #queue: Call[] = [];
  #flight: Batch[] = [];
  #flightBytes = 0;
  /** The last step and number sent; the highest number ever sent; the last step and number known to be taken. */
  #step = 0;
  #current: number;
  #highest: number;
  #takenStep = 0;
  #taken: number;
  #record: string;
  #isOpen = true;
  #isPumping = false;
  #recovering: Promise<void> | undefined;
  /** How often in a row the thread was lost to an error since something was taken. */
  #refusals = 0;
  #touchedAt = performance.now();
  #released: Promise<void> | undefined;

  constructor(desk: Desk, claimed: Claimed) {
    this.#desk = desk;
    this.reader = desk.reader;
    this.epoch = claimed.epoch;
    this.#owner = claimed.owner;
    this.#retention = claimed.retention;
    this.#keepMs = Math.ceil(claimed.retention.seconds * 1000 + desk.keepMs);
    this.#record = claimed.record;
    this.#current = claimed.current;
    this.#highest = claimed.current;
    this.#taken = claimed.current;
    this.#tail = new AcknowledgedTail(desk.tails, claimed.current);
  }

  append(drafts: readonly Draft[]): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#demandOpen();
      for (const draft of drafts) if (isEntry(draft)) this.#check(draft);
      this.#enqueue({ drafts, bytes: bytesOf(drafts), what: 'append', resolve, reject });
    });
  }

  amend(record: SessionRecord): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#demandOpen();
      this.#enqueue({ drafts: [], bytes: 0, what: 'record', record: JSON.stringify(record), resolve: () => resolve(), reject });
    });
  }

  release(): Promise<void> {
    this.#released ??= this.#release();
    return this.#released;
  }

  /** Resolves when nothing waits to be taken. */
  async drained(): Promise<void> {
    while (this.#queue.length > 0 || this.#flight.length > 0 || this.#recovering) {
      await new Promise<void>((idle) => this.#whenIdle.push(idle));
    }
  }

  /** The last number that is known to be taken. */
  get taken(): number {
    return this.#taken;
  }

  /**
   * Done now and then, with what the store says and the number that was taken before it was asked: finds out that another claimed the
   * session or that the store lost something, keeps the keys alive, and lets go of what is old.
   */
  look(found: { readonly epoch: number; readonly current: number } | undefined, taken: number): void {
    if (this.#ended.signal.aborted || this.#recovering) return;
    if (found?.epoch === this.epoch && found.current >= taken) this.#keepUp();
    else this.#recover();
  }

  #keepUp(): void {
    if (performance.now() - this.#touchedAt > TOUCH_MS) this.#enqueue(touch);
    this.#tail.prune();
  }

  /** What is not taken yet never will be. */
  end(reason: LogError): void {
    if (this.#ended.signal.aborted) return;
    this.#isOpen = false;
    this.#ended.abort(reason);
    this.#tail.forget();
    this.#desk.troubles.takes(this.#desk.id);
    for (const call of [...this.#flight.flatMap(({ calls }) => calls), ...this.#queue]) call.reject(reason);
    this.#queue = [];
    this.#flight = [];
    this.#rest();
    this.#desk.ended(this, reason);
  }

  async #release(): Promise<void> {
    this.#isOpen = false;
    await this.drained();
    if (this.#ended.signal.aborted) return;
    const { client, keys, troubles, id } = this.#desk;
    // A session that is not let go in order is taken for one that was lost, if Redis is lost, too: nothing worse.
    await patiently(`session ${id}`, troubles, () =>
      scripts.release.run(client, [keys.meta, keys.log, keys.times], [this.#owner, this.#keepMs]),
    ).catch(() => {});
    this.end(this.#fenced());
  }

  #fenced(): LogError {
    return new LogError(
      'fenced',
      `this writer may no longer write to session ${this.#desk.id}: it released the session, or another writer claimed it`,
    );
  }

  #demandOpen(): void {
    this.#ended.signal.throwIfAborted();
    if (!this.#isOpen) throw this.#fenced();
  }

  #check(draft: Entry): void {
    const isNew = !this.#kinds.has(draft.kind);
    const tooMany = isNew && this.#kinds.size >= MAX_KINDS ? `its kind is one more than ${MAX_KINDS}` : undefined;
    const fault = faultOf(draft, MAX_BODY_BYTES) ?? tooMany;
    if (fault) throw new LogError('unavailable', `an entry for session ${this.#desk.id} cannot be taken: ${fault}`);
    this.#kinds.add(draft.kind);
  }

  /** What is asked for in one turn of its caller goes out together. */
  #enqueue(call: Call): void {
    this.#queue.push(call);
    if (this.#isPumping) return;
    this.#isPumping = true;
    queueMicrotask(() => {
      this.#isPumping = false;
      this.#pump();
    });
  }

  #pump(): void {
    while (!this.#recovering && this.#queue.length > 0 && this.#flight.length < FLIGHT_BATCHES && this.#flightBytes < FLIGHT_BYTES) {
      this.#send(batchOf(nextCalls(this.#queue), this.#current + 1));
    }
    this.#rest();
  }

  #rest(): void {
    if (this.#queue.length > 0 || this.#flight.length > 0 || this.#recovering) return;
    for (const idle of this.#whenIdle.splice(0)) idle();
  }

  #send(batch: Batch): void {
    this.#flight.push(batch);
    this.#flightBytes += batch.bytes;
    this.#current = batch.last;
    this.#highest = Math.max(this.#highest, batch.last);
    batch.answered = this.#run(batch).then(
      (reply) => this.#answered(batch, reply as number[]),
      (error) => this.#recover(error),
    );
  }

  #run(batch: Batch): Promise<unknown> {
    const { client, keys, now } = this.#desk;
    const { news, bodies, record, isAnnounced } = contentOf(batch);
    const marks = [this.#mark(this.#step), this.#mark(++this.#step)];
    const args = [...marks, now(), isAnnounced ? keys.live : '', this.#keep(), record, news, ...bodies];
    return scripts.append.run(client, [keys.meta, keys.log, keys.times], args);
  }

  #mark(step: number): string {
    return `${this.#owner}:${step}`;
  }

  #keep(): number | '' {
    if (performance.now() - this.#touchedAt < TOUCH_MS && this.#step > 1) return '';
    this.#touchedAt = performance.now();
    return this.#keepMs;
  }

  #answered(batch: Batch, [isTaken, ...oldests]: readonly number[]): void {
    if (isTaken) {
      batch.oldests = oldests;
      this.#calm();
    } else this.#recover();
    this.#settleTaken();
    this.#pump();
  }

  /** What was taken is told in order, whatever the order of the answers. */
  #settleTaken(): void {
    for (let batch = this.#flight[0]; batch?.oldests; batch = this.#flight[0]) {
      this.#flight.shift();
      this.#flightBytes -= batch.bytes;
      this.#takenStep++;
      this.#settle(batch, batch.oldests);
    }
  }

  #settle(batch: Batch, oldests: readonly number[]): void {
    let index = 0;
    for (const { call, first, last } of placed(batch)) {
      const oldest = isAppend(call) ? (oldests[index++] ?? 1) : 1;
      if (call.record !== undefined) this.#record = call.record;
      if (call.what === 'append') this.#tell(call.drafts, first, { oldest, current: last });
      call.resolve(first);
    }
    this.#taken = Math.max(this.#taken, batch.last);
  }

  #tell(drafts: readonly Draft[], first: number, extent: Extent): void {
    this.#tail.push(first, drafts);
    this.#desk.took({ entries: entriesOf(drafts, first), extent, places: placesOf(drafts, first) });
  }

  /** Nothing is sent until it is known what was taken. `error`: what failed; none where the mark was another. */
  #recover(error?: unknown): void {
    if (this.#ended.signal.aborted) return;
    if (error !== undefined) this.#desk.troubles.refuses(this.#desk.id, error);
    this.#recovering ??= this.#findThread(error === undefined ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** this.#refusals++, LONGEST_PAUSE_MS));
  }

  async #findThread(firstPause: number): Promise<void> {
    const { signal } = this.#ended;
    for (let pause = firstPause; !signal.aborted; pause = Math.min(Math.max(2 * pause, FIRST_PAUSE_MS), LONGEST_PAUSE_MS)) {
      await sleep(pause, undefined, { signal }).catch(() => {});
      await Promise.allSettled(this.#flight.map(({ answered }) => answered));
      if (signal.aborted) break;
      try {
        const standing = await this.#ask();
        if (!signal.aborted) this.#resume(standing);
        break;
      } catch (error) {
        this.#desk.troubles.refuses(this.#desk.id, error);
      }
    }
    this.#recovering = undefined;
    // A store that is nearly full finds the thread, and refuses the next entry again: until one is taken the trouble is the same.
    if (!signal.aborted && this.#queue.length === 0) this.#calm();
    this.#pump();
  }

  #calm(): void {
    this.#refusals = 0;
    this.#desk.troubles.takes(this.#desk.id);
  }

  #ask(): Promise<Standing> {
    const { client, keys } = this.#desk;
    const { frames, seconds } = this.#retention;
    const mine = [this.#owner, this.epoch, ++this.#step, this.#tail.after, this.#highest];
    const args = [...mine, frames, seconds, this.#keepMs, this.#record];
    return scripts.resume.run(client, [keys.meta, keys.log, keys.times, keys.gone], args) as Promise<Standing>;
  }

  #resume(standing: Standing): void {
    if (standing[0] === 'unknown') this.end(new LogError('unknown_session', `the session ${this.#desk.id} was removed`));
    else if (standing[0] === 'fenced') this.#leave(standing[1], standing[2]);
    else this.#goOn(standing);
  }

  /** What was lost goes out again, then what was not taken, then what waits. */
  #goOn([verdict, steps, current, oldest]: Extract<Standing, ['ours' | 'jumped', ...unknown[]]>): void {
    const isWhole = verdict === 'ours';
    const rest = isWhole ? this.#settleUpTo(current, oldest) : this.#takeBack();
    const again = isWhole ? this.#tail.above(current).map(writeAgain) : [];
    const record = steps < this.#takenStep ? [recordAgain(this.#record)] : [];
    this.#queue = [...again, ...record, ...rest, ...this.#queue.filter(isNew)];
    this.#current = current;
    this.#takenStep = this.#step;
    this.#touchedAt = Number.NEGATIVE_INFINITY;
    this.#desk.resumed();
    if (!isWhole) this.#jump({ oldest, current });
  }

  #jump(extent: Extent): void {
    this.#tail.forget(extent.current);
    this.#highest = extent.current;
    this.#taken = extent.current;
    this.#desk.jumped(extent);
  }

  /** Another writer has the session. What it found there was taken, and the rest never will be. */
  #leave(mark: string, current: number): void {
    if (mark.startsWith(`${this.#owner}:`)) this.#queue.unshift(...this.#settleUpTo(current, 1));
    this.end(this.#fenced());
  }

  /** Tells what was taken of what was under way; returns the calls that were not, in order. */
  #settleUpTo(current: number, oldest: number): Call[] {
    const rest: Call[] = [];
    for (const batch of this.#flight.splice(0)) {
      // One without numbers leaves no trace in them: its record is written again.
      const isTaken = batch.last >= batch.first && batch.last <= current;
      if (isTaken) this.#settle(batch, oldestsOf(batch, oldest));
      else rest.push(...batch.calls.filter(isNew));
    }
    this.#flightBytes = 0;
    return rest;
  }

  #takeBack(): Call[] {
    this.#flightBytes = 0;
    return this.#flight.splice(0).flatMap(({ calls }) => calls.filter(isNew));
  }
}
