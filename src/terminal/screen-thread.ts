// One worker thread of the screens, seen from the main thread: sends orders in batches, watches that it lives, and replaces it. Knows screens by number only.
import type { Worker } from 'node:worker_threads';
import { type Batch, type Order, Pulse, type Report, type Slice } from './screen-messages.js';
import { startThread, workerBeside } from './thread.js';

/** Milliseconds between two looks at the worker's pulse. */
const LOOK_MS = 250;
/** Milliseconds that a worker may take to start. */
const START_MS = 30_000;
/** Milliseconds before a worker that did not start is tried again; doubles each time. */
const RESTART_MS = 100;
const MAX_RESTART_MS = 30_000;
/** MiB of heap; beyond it the worker ends, and the process does not. */
const MAX_HEAP_MB = 512;
/** Bytes of one buffer that goes to the worker and comes back. */
const BUFFER_BYTES = 256 * 1024;
/** Buffers that are kept while nothing is sent. */
const MAX_SPARE = 4;
/** Bytes of one turn that are part of a flood, and the milliseconds for which they wait for more of it: what a flood pushes off the screen is not drawn. */
const FLOOD_BYTES = 16 * 1024;
const FLOOD_MS = 8;

export interface ThreadOptions {
  /** The worker's file; by default the one beside this. */
  readonly script?: URL | undefined;
  /** Milliseconds without progress, with work to do, after which a worker is taken to hang. */
  readonly stallMs: number;
}

export interface ThreadEvents {
  report(report: Exclude<Report, { kind: 'spent' }>): void;
  /** It is gone with all that it knew, and a new one takes orders from now on. `id` was being folded at `sequence`; 0 if none was. */
  died(id: number, sequence: number, cause: 'hung' | 'ended'): void;
  /** Whether anything is expected of the worker. */
  owes(): boolean;
}

/** An order, its bytes still with the caller. */
export type Draft = { [K in Order['kind']]: Omit<Extract<Order, { kind: K }>, 'bytes'> }[Order['kind']];

export class ScreenThread {
  /** What ended the last worker, if it said so. */
  trouble = '';
  readonly #options: ThreadOptions;
  readonly #events: ThreadEvents;
  #worker: Worker | undefined;
  #pulse = new Pulse();
  /** Orders of this turn, and their bytes up to `#end`. */
  #orders: Order[] = [];
  #bytes: Uint8Array | undefined;
  #end = 0;
  /** Something waits for what was given, or for the answer to it. */
  #isUrgent = false;
  #flooded: NodeJS.Timeout | undefined;
  #looking: NodeJS.Timeout | undefined;
  #seenBeats = 0;
  #still = 0;
  /** It made no progress, and was ended for it. */
  #hung = false;
  #failedStarts = 0;
  #closed = false;
  /** What came back from the worker. */
  #spare: Uint8Array[] = [];

  constructor(options: ThreadOptions, events: ThreadEvents) {
    this.#options = options;
    this.#events = events;
  }

  /**
   * Copies the bytes at once; what is given in one turn of the event loop goes as one message, or few, in the turn after it: whoever watches is sent
   * first what they see, since waking the thread costs as much. Output that is part of a flood waits for more, unless anything else is ordered.
   */
  send(draft: Draft, bytes?: Uint8Array): void {
    if (this.#closed) return;
    const order = bytes ? { ...draft, bytes: this.#copy(bytes) } : draft;
    const isUrgent = draft.kind !== 'output';
    if (this.#orders.length === 0 || (isUrgent && !this.#isUrgent)) setImmediate(() => setImmediate(() => this.#due()));
    this.#isUrgent ||= isUrgent;
    this.#orders.push(order as Order);
    this.#look();
  }

  #due(): void {
    if (this.#isUrgent || this.#end < FLOOD_BYTES) this.#flush();
    else this.#flooded ??= setTimeout(() => this.#flush(), FLOOD_MS);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#looking);
    clearTimeout(this.#flooded);
    await this.#worker?.terminate();
  }

  /** Into the buffer of this turn; if they do not fit, what was given so far goes first. */
  #copy(bytes: Uint8Array): Slice {
    if (this.#bytes && this.#end + bytes.length > this.#bytes.length) this.#flush();
    const buffer = this.#roomFor(bytes.length);
    const from = this.#end;
    buffer.set(bytes, from);
    this.#end = from + bytes.length;
    return { from, to: this.#end };
  }

  /** The buffer of this turn; one of its own for what is larger than any that is kept. */
  #roomFor(length: number): Uint8Array {
    if (this.#bytes && length > this.#bytes.length) {
      this.#keep(this.#bytes);
      this.#bytes = undefined;
    }
    this.#bytes ??= length > BUFFER_BYTES ? new Uint8Array(length) : (this.#spare.pop() ?? new Uint8Array(BUFFER_BYTES));
    return this.#bytes;
  }

  #keep(buffer: Uint8Array): void {
    if (buffer.length === BUFFER_BYTES && this.#spare.length < MAX_SPARE) this.#spare.push(buffer);
  }

  #flush(): void {
    const orders = this.#orders;
    const bytes = this.#handOver();
    this.#forget();
    if (this.#closed || orders.length === 0) return;
    this.#worker ??= this.#start();
    this.#worker.postMessage({ orders, bytes, isReturned: bytes.length === BUFFER_BYTES } satisfies Batch, [bytes.buffer as ArrayBuffer]);
  }

  #forget(): void {
    this.#orders = [];
    this.#end = 0;
    this.#isUrgent = false;
    clearTimeout(this.#flooded);
    this.#flooded = undefined;
  }

  /** A buffer that is half empty stays: so many small pieces on their way take no more than twice their size. */
  #handOver(): Uint8Array {
    const bytes = this.#bytes;
    if (bytes && this.#end >= bytes.length / 2) {
      this.#bytes = undefined;
      return bytes;
    }
    return bytes ? bytes.slice(0, this.#end) : new Uint8Array(0);
  }

  #start(): Worker {
    this.#pulse = new Pulse();
    const worker = startWorker(this.#options.script, this.#pulse);
    worker.unref();
    worker.on('message', (reports: Report[]) => {
      if (worker === this.#worker) for (const report of reports) this.#told(report);
    });
    // The exit follows every error.
    worker.on('error', (error) => {
      this.trouble = `${error}`;
    });
    worker.on('exit', () => this.#ended(worker));
    this.#seenBeats = 0;
    this.#still = 0;
    this.#hung = false;
    return worker;
  }

  #told(report: Report): void {
    if (report.kind !== 'spent') this.#events.report(report);
    else this.#keep(report.bytes);
  }

  #ended(worker: Worker): void {
    if (worker !== this.#worker || this.#closed) return;
    const { id, sequence, beats } = this.#pulse;
    this.#failedStarts = beats === 0 ? this.#failedStarts + 1 : 0;
    this.#forget();
    this.#worker = undefined;
    const pause = this.#failedStarts === 0 ? 0 : Math.min(MAX_RESTART_MS, RESTART_MS * 2 ** this.#failedStarts);
    const cause = this.#hung ? 'hung' : 'ended';
    setTimeout(() => !this.#closed && this.#events.died(id, sequence, cause), pause).unref();
  }

  /** Looks are counted, not the time between them: while the main thread itself stood still, nobody was late. */
  #look(): void {
    this.#looking ??= setInterval(() => this.#judge(), LOOK_MS).unref();
  }

  #judge(): void {
    if (!this.#events.owes()) {
      clearInterval(this.#looking);
      this.#looking = undefined;
      this.#still = 0;
      return;
    }
    const { beats } = this.#pulse;
    this.#still = beats === this.#seenBeats ? this.#still + LOOK_MS : 0;
    this.#seenBeats = beats;
    if (this.#still >= (beats === 0 ? START_MS : this.#options.stallMs)) {
      this.#still = 0;
      this.#hung = true;
      void this.#worker?.terminate();
    }
  }
}

function startWorker(script: URL | undefined, pulse: Pulse): Worker {
  const url = script ?? workerBeside(import.meta.url, 'screen-worker');
  return startThread(url, { workerData: pulse.cells.buffer, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
}
