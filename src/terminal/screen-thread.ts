// One worker thread of the screens, seen from the main thread: sends orders in batches, watches that it lives, and replaces it. Knows screens by number only.
import type { Worker } from 'node:worker_threads';
import { type Batch, type Order, Pulse, type Report } from './screen-messages.js';
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

export interface ThreadOptions {
  /** The worker's file; by default the one beside this. */
  readonly script?: URL | undefined;
  /** Milliseconds without progress, with work to do, after which a worker is taken to hang. */
  readonly stallMs: number;
}

export interface ThreadEvents {
  report(report: Report): void;
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
  #drafts: { draft: Draft; bytes: Uint8Array | undefined }[] = [];
  #looking: NodeJS.Timeout | undefined;
  #seenBeats = 0;
  #still = 0;
  /** It made no progress, and was ended for it. */
  #hung = false;
  #failedStarts = 0;
  #closed = false;

  constructor(options: ThreadOptions, events: ThreadEvents) {
    this.#options = options;
    this.#events = events;
  }

  /** Copies the bytes at once; what is given in one turn of the event loop goes as one message. */
  send(draft: Draft, bytes?: Uint8Array): void {
    if (this.#closed) return;
    if (this.#drafts.length === 0) queueMicrotask(() => this.#flush());
    this.#drafts.push({ draft, bytes: bytes?.slice() });
    this.#look();
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#looking);
    await this.#worker?.terminate();
  }

  #flush(): void {
    const batch = batchOf(this.#drafts);
    this.#drafts = [];
    if (this.#closed) return;
    this.#worker ??= this.#start();
    this.#worker.postMessage(batch, [batch.bytes.buffer as ArrayBuffer]);
  }

  #start(): Worker {
    this.#pulse = new Pulse();
    const worker = startWorker(this.#options.script, this.#pulse);
    worker.unref();
    worker.on('message', (reports: Report[]) => {
      if (worker === this.#worker) for (const report of reports) this.#events.report(report);
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

  #ended(worker: Worker): void {
    if (worker !== this.#worker || this.#closed) return;
    const { id, sequence, beats } = this.#pulse;
    this.#failedStarts = beats === 0 ? this.#failedStarts + 1 : 0;
    this.#drafts = [];
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

/** One buffer for the bytes of all orders. */
function batchOf(drafts: ReadonlyArray<{ draft: Draft; bytes: Uint8Array | undefined }>): Batch {
  const bytes = new Uint8Array(drafts.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0), 0));
  let at = 0;
  const orders = drafts.map(({ draft, bytes: own }) => {
    if (!own) return draft as Order;
    bytes.set(own, at);
    const slice = { from: at, to: at + own.length };
    at = slice.to;
    return { ...draft, bytes: slice } as Order;
  });
  return { orders, bytes };
}

function startWorker(script: URL | undefined, pulse: Pulse): Worker {
  const url = script ?? workerBeside(import.meta.url, 'screen-worker');
  return startThread(url, { workerData: pulse.cells.buffer, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
}
