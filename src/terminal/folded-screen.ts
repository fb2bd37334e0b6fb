// One screen, folded in a worker thread. Knows its session by its steps, and how to get its past ones again; no other screen.
import { type Meter, secondsSince } from '../metrics/meter.js';
import type { Answers, Question, Report } from './screen-messages.js';
import type { ScreenThread } from './screen-thread.js';
import {
  type Answering,
  type Look,
  type MarkAt,
  type Past,
  type PrintedPlace,
  type Screen,
  type ScreenStep,
  ScreenUnavailable,
  type ScreenView,
  type Size,
  type Snapshot,
} from './terminal.js';

/** Bytes of output given and not yet folded, per screen. What comes beyond it is not held here, but read again from the past. */
export const MAX_BACKLOG = 16 * 1024 * 1024;
/** Bytes of the past on their way to the worker at a time. */
const WINDOW = 1024 * 1024;
/** Times that one screen may end a worker, wherever; twice at the same step is enough, too. */
const MAX_DEATHS = 3;
/** Milliseconds before a past that could not be read is tried again. */
const RETRY_MS = 1000;

/** The thread that it shares with others, and where it has its number from. */
export interface ScreenCrew {
  readonly thread: Pick<ScreenThread, 'send' | 'trouble'>;
  /** Its number from now on; one that begins anew gets a new one. */
  enter(screen: FoldedScreen): number;
  leave(id: number): void;
  readonly lost: Set<FoldedScreen>;
}

interface Ask {
  readonly question: Question;
  /** What was printed up to this place is known to who asks. */
  readonly place: PrintedPlace | undefined;
  readonly resolve: (value: Answers[Question]) => void;
  readonly reject: (reason: ScreenUnavailable) => void;
  readonly timer: NodeJS.Timeout;
  sent: boolean;
}

/** A mark, and the number of the last step before it. */
interface Mark {
  readonly at: MarkAt;
  readonly behind: number;
  /** Whether the fold has it. */
  isSet: boolean;
}

type Step = Exclude<ScreenStep, { kind: 'snapshot' }>;

interface FoldedScreenParts {
  readonly size: Size;
  readonly past: Past;
  readonly answering: Answering | undefined;
  readonly name: string | undefined;
  readonly answerMs: number;
  readonly meter: Meter;
}

/**
 * Either it is abreast of the stream and passes every step on to the worker, or it is behind: then it reads the past, in the worker's
 * pace, and keeps what comes meanwhile, as long as there is room for it; what there was no room for is read from the past as well.
 */
export class FoldedScreen implements Screen {
  readonly name: string | undefined;
  readonly #crew: ScreenCrew;
  readonly #past: Past;
  readonly #answerMs: number;
  readonly #size: Size;
  readonly #answering: Answering | undefined;
  readonly #meter: Meter;
  readonly #asks = new Map<number, Ask>();
  #id: number;
  #state: 'abreast' | 'behind' | 'lost' = 'abreast';
  /** Bytes that the worker has and did not fold yet. */
  #unfolded = 0;
  /** The number of the last step that the worker was given. */
  #given = 0;
  /** The number of the last step of which it is known that it was folded, and so answered. */
  #folded: number;
  /** The number of the last step that was taken. */
  #taken = 0;
  #mark: Mark | undefined;
  #waiting: Step[] = [];
  #waitingBytes = 0;
  #missed = false;
  #drained: (() => void) | undefined;
  #ticket = 0;
  #deaths: number[] = [];
  #lostBecause = '';
  /** The last output of which queries were answered, and how many of them. */
  #answeredAt: { readonly sequence: number; readonly count: number };

  constructor(crew: ScreenCrew, { size, past, answering, name, answerMs, meter }: FoldedScreenParts) {
    this.#crew = crew;
    this.name = name;
    this.#size = size;
    this.#past = past;
    this.#answerMs = answerMs;
    this.#answering = answering;
    this.#meter = meter;
    this.#answeredAt = { sequence: answering?.after ?? 0, count: Number.POSITIVE_INFINITY };
    this.#folded = answering ? answering.after : Number.POSITIVE_INFINITY;
    this.#id = crew.enter(this);
    crew.thread.send({ kind: 'open', id: this.#id, size });
  }

  get backlog(): number {
    return this.#unfolded + this.#waitingBytes;
  }

  get isLost(): boolean {
    return this.#state === 'lost';
  }

  /** Whether the worker owes it anything. */
  get waits(): boolean {
    return this.#unfolded > 0 || [...this.#asks.values()].some(({ sent }) => sent);
  }

  output(sequence: number, bytes: Uint8Array): void {
    this.#take({ kind: 'output', sequence, bytes });
  }

  resize(sequence: number, size: Size): void {
    this.#take({ kind: 'resize', sequence, size });
  }

  async snapshot(): Promise<Snapshot> {
    const asked = performance.now();
    try {
      const snapshot = await this.#ask('snapshot');
      this.#meter.observe('keyframe_seconds', secondsSince(asked));
      this.#meter.observe('keyframe_bytes', snapshot.bytes.length);
      return snapshot;
    } catch (error) {
      this.#meter.count('keyframe_failures_total');
      throw error;
    }
  }

  view(): Promise<ScreenView> {
    return this.#ask('view');
  }

  look(place?: PrintedPlace): Promise<Look> {
    return this.#ask('look', place);
  }

  mark(at: MarkAt): void {
    this.#mark = { at, behind: this.#taken, isSet: false };
    if (this.#state === 'abreast') this.#setMark(at);
  }

  unmark(): void {
    if (this.#mark?.isSet) this.#crew.thread.send({ kind: 'mark', id: this.#id, at: undefined });
    this.#mark = undefined;
  }

  dispose(): void {
    this.#lose('the session has let go of it');
    this.#crew.lost.delete(this);
  }

  /** From the worker. */
  told(report: Exclude<Report, { kind: 'spent' }>): void {
    if (report.kind === 'broken') this.failed(report.sequence, report.message);
    else if (report.kind === 'answer') this.#answered(report.ticket, report.value);
    else if (report.kind === 'replies') this.#reply(report.sequence, report.from, report.texts);
    else {
      this.#unfolded -= report.bytes;
      this.#folded = Math.max(this.#folded, report.upTo);
      if (this.#unfolded <= WINDOW) this.#drained?.();
    }
  }

  /** The worker has nothing of it any more. `at` is the step that was being folded, if it was this screen's. */
  failed(at: number | undefined, message = 'its output stopped the worker'): void {
    if (this.#state === 'lost') return;
    if (at !== undefined && (this.#deaths.includes(at) || this.#deaths.push(at) >= MAX_DEATHS)) {
      this.#lose(`output ${at} cannot be shown (${message})`);
      return;
    }
    this.#crew.leave(this.#id);
    this.#id = this.#crew.enter(this);
    this.#unfolded = 0;
    this.#given = 0;
    if (this.#mark) this.#mark.isSet = false;
    for (const ask of this.#asks.values()) ask.sent = false;
    this.#drained?.();
    void this.#catchUp(true);
  }

  /** What is folded again gives the same answers again, in the same order: none of them is passed on twice. */
  #reply(sequence: number, from: number, texts: readonly string[]): void {
    const { sequence: last, count } = this.#answeredAt;
    if (sequence < last) return;
    const known = sequence === last ? count : 0;
    this.#answeredAt = { sequence, count: Math.max(known, from + texts.length) };
    for (const text of texts.slice(Math.max(0, known - from))) this.#answering?.answer(text, sequence);
  }

  #take(step: Step): void {
    if (this.#state === 'lost') return;
    this.#taken = step.sequence;
    const room = step.kind === 'resize' || this.backlog + step.bytes.length <= MAX_BACKLOG;
    if (this.#state === 'abreast' && room) {
      this.#give(step);
      return;
    }
    if (this.#state === 'abreast') void this.#catchUp(false);
    if (room && !this.#missed) this.#keep(step);
    else this.#missed = true;
  }

  #keep(step: Step): void {
    if (step.kind === 'resize') this.#waiting.push(step);
    else {
      this.#waiting.push({ ...step, bytes: step.bytes.slice() });
      this.#waitingBytes += step.bytes.length;
    }
  }

  #give(step: ScreenStep): void {
    const { thread } = this.#crew;
    const id = this.#id;
    if (step.kind === 'snapshot') {
      const { cols, rows, anchor, bytes } = step.snapshot;
      thread.send({ kind: 'restore', id, size: { cols, rows }, anchor }, bytes);
      this.#given = anchor;
      if (this.#mark && this.#mark.behind < anchor) this.#setMark('late');
      return;
    }
    this.#markBefore(step.sequence);
    if (step.kind === 'output') {
      thread.send({ kind: 'output', id, sequence: step.sequence }, step.bytes);
      this.#unfolded += step.bytes.length;
    } else thread.send(step.kind === 'resize' ? { kind: 'resize', id, sequence: step.sequence, size: step.size } : step);
    this.#given = step.sequence;
  }

  /** A fold that begins anew gets its mark where it was. */
  #markBefore(sequence: number): void {
    const mark = this.#mark;
    if (mark && !mark.isSet && mark.behind < sequence) this.#setMark(mark.at);
  }

  #setMark(at: MarkAt): void {
    if (this.#mark) this.#mark.isSet = true;
    this.#crew.thread.send({ kind: 'mark', id: this.#id, at });
  }

  /** Reads the past until nothing is missing, then goes on with what waited. Ends without a word when a newer one has begun. */
  async #catchUp(anew: boolean): Promise<void> {
    const id = this.#id;
    const over = () => this.#state === 'lost' || this.#id !== id;
    this.#state = 'behind';
    if (anew) this.#crew.thread.send({ kind: 'open', id, size: this.#size });
    do {
      this.#forgetWaiting();
      await this.#readPast(over).catch(() => this.#pauseBeforeRetry());
      if (over()) return;
    } while (this.#missed);
    this.#state = 'abreast';
    const waited = this.#waiting;
    this.#forgetWaiting();
    for (const step of waited) if (step.sequence > this.#given) this.#give(step);
    this.#markBefore(Number.POSITIVE_INFINITY);
    for (const [ticket, ask] of this.#asks) this.#send(ticket, ask);
  }

  async #readPast(over: () => boolean): Promise<void> {
    for await (const step of this.#past(this.#given || this.#folded)) {
      const number = step.kind === 'snapshot' ? step.snapshot.anchor : step.sequence;
      // Number 0 is the beginning: a snapshot of a screen on which nothing was written yet.
      if (over()) return;
      if (number <= this.#given && !(step.kind === 'snapshot' && this.#given === 0)) continue;
      this.#give(step);
      if (this.#unfolded > WINDOW) await this.#drain();
      if (over()) return;
    }
  }

  #drain(): Promise<void> {
    return new Promise((resolve) => {
      this.#drained = () => {
        this.#drained = undefined;
        resolve();
      };
    });
  }

  #pauseBeforeRetry(): Promise<void> {
    this.#missed = true;
    return new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
  }

  #forgetWaiting(): void {
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#missed = false;
  }

  #ask<Q extends Question>(question: Q, place?: PrintedPlace): Promise<Answers[Q]> {
    if (this.#state === 'lost') return Promise.reject(new ScreenUnavailable(`there is no screen: ${this.#lostBecause}`));
    return new Promise<Answers[Q]>((resolve, reject) => {
      const ticket = ++this.#ticket;
      const timer = setTimeout(() => this.#refuse(ticket, this.#late()), this.#answerMs).unref();
      const ask: Ask = { question, place, resolve: resolve as Ask['resolve'], reject, timer, sent: false };
      this.#asks.set(ticket, ask);
      if (this.#state === 'abreast') this.#send(ticket, ask);
    });
  }

  #late(): string {
    const { trouble } = this.#crew.thread;
    return `the screen was not ready within ${this.#answerMs} ms${trouble && ` (its worker: ${trouble})`}`;
  }

  #send(ticket: number, ask: Ask): void {
    ask.sent = true;
    const { question, place } = ask;
    const after = place?.fold === this.#id ? place.until : 0;
    this.#crew.thread.send({ kind: 'ask', id: this.#id, ticket, question, after });
  }

  #answered(ticket: number, value: Answers[Question]): void {
    const ask = this.#asks.get(ticket);
    if (!ask) return;
    this.#asks.delete(ticket);
    clearTimeout(ask.timer);
    ask.resolve(value);
  }

  #refuse(ticket: number, message: string): void {
    const ask = this.#asks.get(ticket);
    if (!ask) return;
    this.#asks.delete(ticket);
    clearTimeout(ask.timer);
    ask.reject(new ScreenUnavailable(message));
  }

  #lose(because: string): void {
    if (this.#state === 'lost') return;
    this.#state = 'lost';
    this.#lostBecause = because;
    this.#crew.leave(this.#id);
    this.#crew.lost.add(this);
    this.#unfolded = 0;
    this.#forgetWaiting();
    this.#drained?.();
    for (const ticket of [...this.#asks.keys()]) this.#refuse(ticket, `there is no screen: ${because}`);
  }
}
