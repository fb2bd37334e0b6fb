// The screens of one worker, folded in turns, so that none waits for another's flood. Knows no thread.
import { Fold } from './fold.js';
import type { Answers, Batch, Order, Pulse, Question, Report } from './screen-messages.js';
import type { Size } from './terminal.js';

/** Milliseconds that one screen may be folded before the next one has its turn. */
const TURN_MS = 4;
/** Bytes fed at once, at most; the emulator's buffers stay small with it. */
const MAX_PIECE = 4096;
/** Bytes of one output from which on it is worth to look what of it need not be drawn. */
const LEAVE_OUT_BYTES = 8192;
/** Cells that one piece may make the emulator touch, at most (about 10 ms): the dearest sequences have few bytes, and clear, fill or shift a screen. */
const CELLS_PER_PIECE = 1_048_576;

/** Answers to the queries in one output; further ones stay unanswered, so that a flood of queries holds no memory. */
export const MAX_REPLIES = 1024;

/** Bytes that may be fed to a screen of this size at once. */
export function pieceFor({ cols, rows }: Size): number {
  // Shifting lines by n costs up to rows × rows, however narrow they are.
  const dearest = cols * rows + 2 * rows * rows;
  return Math.max(16, Math.min(MAX_PIECE, Math.floor((4 * CELLS_PER_PIECE) / dearest)));
}

/** Bytes that come back when the last who reads them is done. */
interface Loan {
  readonly bytes: Uint8Array;
  readers: number;
}

interface Work {
  readonly order: Order;
  readonly bytes: Uint8Array;
  readonly loan: Loan | undefined;
}

interface Place {
  readonly id: number;
  readonly works: Work[];
  fold: Fold | undefined;
  /** Bytes of the first work that are folded. */
  at: number;
  /** Before this place in the first work there is nothing that could be left out. */
  searched: number;
  piece: number;
  /** The number of its last turn. */
  turn: number;
  /** Answered of the first work so far, and what of it was not told yet. */
  replied: number;
  replies: string[];
}

/** Takes orders, does them in turns, and tells what came of them. */
export class Turns {
  readonly #places = new Map<number, Place>();
  readonly #busy = new Set<Place>();
  #turns = 0;
  readonly #pulse: Pulse;
  readonly #tell: (reports: readonly Report[]) => void;

  constructor(pulse: Pulse, tell: (reports: readonly Report[]) => void) {
    this.#pulse = pulse;
    this.#tell = tell;
  }

  take({ orders, bytes, isReturned }: Batch): void {
    const loan = isReturned ? { bytes, readers: 0 } : undefined;
    for (const order of orders) {
      if (order.kind === 'close') this.#close(order.id);
      else if ('bytes' in order) this.#give(order, bytes.subarray(order.bytes.from, order.bytes.to), loan);
      else this.#give(order, EMPTY, undefined);
    }
  }

  get idle(): boolean {
    return this.#busy.size === 0;
  }

  /** One turn of the screen whose last one is longest ago: who asks while another floods is next. */
  turn(): void {
    let place: Place | undefined;
    for (const other of this.#busy) if (!place || other.turn < place.turn) place = other;
    if (!place) return;
    place.turn = ++this.#turns;
    const reports = this.#turnOf(place);
    this.#pulse.rest();
    if (place.works.length === 0) this.#busy.delete(place);
    this.#tell(reports);
  }

  #turnOf(place: Place): Report[] {
    const reports: Report[] = [];
    const end = performance.now() + TURN_MS;
    let folded = 0;
    try {
      do folded += this.#step(place, reports);
      while (place.works.length > 0 && performance.now() < end);
    } catch (error) {
      reports.push({ kind: 'broken', id: place.id, sequence: this.#pulse.sequence, message: String(error) });
      this.#close(place.id);
    }
    if (folded > 0) reports.push({ kind: 'folded', id: place.id, bytes: folded, upTo: place.fold?.anchor ?? 0 });
    return reports;
  }

  #give(order: Order, bytes: Uint8Array, loan: Loan | undefined): void {
    const place = this.#placeOf(order);
    if (!place) return;
    place.works.push({ order, bytes, loan });
    if (loan) loan.readers += 1;
    this.#busy.add(place);
  }

  /** One piece of the first work; returns the bytes that count as folded. */
  #step(place: Place, reports: Report[]): number {
    return this.#leaveOut(place, reports) + this.#first(place, reports);
  }

  #first(place: Place, reports: Report[]): number {
    const work = place.works[0] as Work;
    const { order, bytes } = work;
    this.#pulse.begin(place.id, 'sequence' in order ? order.sequence : 0);
    if (order.kind === 'open' || order.kind === 'restore') this.#begin(place, order.size);
    if (order.kind === 'output' || order.kind === 'restore') return this.#piece(place, order, bytes, reports);
    place.works.shift();
    const fold = place.fold as Fold;
    if (order.kind === 'resize') {
      fold.resize(order.sequence, order.size);
      place.piece = pieceFor(order.size);
    } else if (order.kind === 'ask') {
      reports.push({ kind: 'answer', id: place.id, ticket: order.ticket, value: answer(fold, order) });
    } else if (order.kind === 'mark') {
      if (order.at) fold.mark(order.at);
      else fold.unmark();
    }
    return 0;
  }

  #piece(place: Place, order: Order & { kind: 'output' | 'restore' }, bytes: Uint8Array, reports: Report[]): number {
    const fold = place.fold as Fold;
    const piece = bytes.subarray(place.at, place.at + place.piece);
    place.at += piece.length;
    const isLast = place.at >= bytes.length;
    if (isLast) fold.output(order.kind === 'output' ? order.sequence : order.anchor, piece);
    else fold.piece(piece);
    this.#reply(place, order, reports);
    if (isLast) this.#done(place, reports);
    return order.kind === 'output' ? piece.length : 0;
  }

  /** The first work is done: its bytes are given back. */
  #done(place: Place, reports: Report[]): void {
    const work = place.works.shift();
    const length = work?.bytes.length ?? 0;
    place.at = Math.max(0, place.at - length);
    place.searched = Math.max(0, place.searched - length);
    place.replied = 0;
    repay(work?.loan, reports);
  }

  /** Of a flood only its end is drawn, however many outputs it is: what is left out asks nothing. Returns the bytes left out. */
  #leaveOut(place: Place, reports: Report[]): number {
    if (place.at < place.searched) return 0;
    const flood = floodOf(place);
    if (flood.length < LEAVE_OUT_BYTES) return 0;
    const { left, searched } = (place.fold as Fold).leaveOut(flood);
    place.searched = place.at + searched;
    place.at += left;
    // Of the last output something is always drawn.
    while (place.at >= (place.works[0] as Work).bytes.length) this.#done(place, reports);
    return left;
  }

  /** A snapshot asks nothing. */
  #reply(place: Place, order: Order & { kind: 'output' | 'restore' }, reports: Report[]): void {
    const { id, replied: from, replies } = place;
    place.replies = [];
    if (order.kind === 'restore' || replies.length === 0) return;
    const texts = replies.slice(0, MAX_REPLIES - from);
    place.replied += texts.length;
    reports.push({ kind: 'replies', id, sequence: order.sequence, from, texts });
  }

  #begin(place: Place, size: Size): void {
    if (place.at > 0) return;
    place.fold?.dispose();
    place.fold = new Fold(size, (text) => place.replies.push(text));
    place.piece = pieceFor(size);
  }

  /** Nothing for a screen that broke: what was on its way to it is dropped. */
  #placeOf({ id, kind }: Order): Place | undefined {
    const known = this.#places.get(id);
    if (known || (kind !== 'open' && kind !== 'restore')) return known;
    const place: Place = { id, works: [], fold: undefined, at: 0, searched: 0, piece: MAX_PIECE, turn: 0, replied: 0, replies: [] };
    this.#places.set(id, place);
    return place;
  }

  #close(id: number): void {
    const place = this.#places.get(id);
    if (!place) return;
    place.works.length = 0;
    place.fold?.dispose();
    this.#places.delete(id);
    this.#busy.delete(place);
  }
}

/** What is still to be folded of the first output, with those behind it that lie behind it in memory as well. */
function floodOf({ works, at }: Place): Uint8Array {
  const [first] = works as [Work, ...Work[]];
  const { buffer, byteOffset } = first.bytes;
  let end = byteOffset;
  for (const { order, bytes } of works) {
    if (order.kind !== 'output' || bytes.buffer !== buffer || bytes.byteOffset !== end) break;
    end += bytes.length;
  }
  return new Uint8Array(buffer, byteOffset, end - byteOffset).subarray(at);
}

/** One reads it no more. Of a screen that is closed before, nothing comes back. */
function repay(loan: Loan | undefined, reports: Report[]): void {
  if (!loan) return;
  loan.readers -= 1;
  if (loan.readers === 0) reports.push({ kind: 'spent', bytes: loan.bytes });
}

function answer(fold: Fold, { id, question, after }: Order & { kind: 'ask' }): Answers[Question] {
  if (question === 'look') return { ...fold.look(after), fold: id };
  return question === 'snapshot' ? fold.snapshot() : fold.view();
}

const EMPTY = new Uint8Array(0);
