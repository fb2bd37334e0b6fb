// What the main thread and a screen worker say to each other. Knows neither.
import type { Look, MarkAt, ScreenView, Size, Snapshot } from './terminal.js';

/** What a screen is asked, and what it answers. */
export interface Answers {
  snapshot: Snapshot;
  view: ScreenView;
  look: Look;
}
export type Question = keyof Answers;

/** Bytes of an output, as a part of the batch's one buffer. */
export interface Slice {
  readonly from: number;
  readonly to: number;
}

/** To the worker, about one screen (`id`), carried out in this order for each screen. */
export type Order =
  | { readonly kind: 'open'; readonly id: number; readonly size: Size }
  | { readonly kind: 'restore'; readonly id: number; readonly size: Size; readonly anchor: number; readonly bytes: Slice }
  | { readonly kind: 'output'; readonly id: number; readonly sequence: number; readonly bytes: Slice }
  | { readonly kind: 'resize'; readonly id: number; readonly sequence: number; readonly size: Size }
  | { readonly kind: 'ask'; readonly id: number; readonly ticket: number; readonly question: Question; readonly after: number }
  | { readonly kind: 'mark'; readonly id: number; readonly at: MarkAt | undefined }
  | { readonly kind: 'close'; readonly id: number };

/** All orders of one turn of the event loop. `bytes` is handed over, not copied; where it is to be used again it comes back as `spent`. */
export interface Batch {
  readonly orders: readonly Order[];
  readonly bytes: Uint8Array;
  readonly isReturned: boolean;
}

/** From the worker. */
export type Report =
  /** So many bytes more; `upTo` is the last step that was folded in whole. */
  | { readonly kind: 'folded'; readonly id: number; readonly bytes: number; readonly upTo: number }
  | { readonly kind: 'answer'; readonly id: number; readonly ticket: number; readonly value: Answers[Question] }
  /** What the terminal answered to the queries in output `sequence`: the answers from number `from` (counted from 0) on. */
  | { readonly kind: 'replies'; readonly id: number; readonly sequence: number; readonly from: number; readonly texts: readonly string[] }
  /** Nothing of a batch is read any more. */
  | { readonly kind: 'spent'; readonly bytes: Uint8Array }
  /** The emulator threw; the worker has forgotten this screen. */
  | { readonly kind: 'broken'; readonly id: number; readonly sequence: number; readonly message: string };

/**
 * What both threads see at any time: which screen the worker is busy with (0 for none) at which step, and a count that rises with
 * every piece of work. The main thread finds out by it who was being folded when a worker hung or died.
 */
export class Pulse {
  readonly cells: Float64Array;

  constructor(memory: SharedArrayBuffer = new SharedArrayBuffer(3 * Float64Array.BYTES_PER_ELEMENT)) {
    this.cells = new Float64Array(memory);
  }

  begin(id: number, sequence: number): void {
    this.cells[1] = sequence;
    this.cells[0] = id;
    this.cells[2] = this.beats + 1;
  }

  rest(): void {
    this.cells[0] = 0;
    this.cells[2] = this.beats + 1;
  }

  get id(): number {
    return this.cells[0] as number;
  }

  get sequence(): number {
    return this.cells[1] as number;
  }

  get beats(): number {
    return this.cells[2] as number;
  }
}
