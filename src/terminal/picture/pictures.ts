// Pictures of screens, drawn in a thread of their own and kept for a while. Knows no session and no HTTP.
import type { Worker } from 'node:worker_threads';
import { startThread, workerBeside } from '../thread.js';
import type { PictureOrder } from './draw.js';
import { Kept } from './kept.js';
import type { Drawn, Studio, Told } from './picture-worker.js';

/** Milliseconds that one picture may take to be drawn. */
export const DRAW_MS = 10_000;
/** Pictures that may wait for the one that is being drawn. */
export const MAX_WAITING = 16;
/** Bytes of pictures that are kept. */
export const MAX_KEPT_BYTES = 32 * 1024 * 1024;
/** MiB of heap of the thread. */
const MAX_HEAP_MB = 256;

/** `busy`: too many wait; `slow`: it took too long; `failed`: it cannot be drawn, and the message says why. */
export type PictureFailure = 'busy' | 'slow' | 'failed';

export class PictureError extends Error {
  override readonly name = 'PictureError';
  readonly failure: PictureFailure;
  constructor(failure: PictureFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

interface Job {
  readonly order: PictureOrder;
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: PictureError) => void;
}

export interface PicturesOptions {
  readonly drawMs?: number;
  /** A folder of fonts for scripts that the gateway's own do not have, in place of the system's. */
  readonly fonts?: string | undefined;
  /** For tests: another worker. */
  readonly script?: URL;
}

export class Pictures {
  readonly #options: PicturesOptions;
  readonly #kept = new Kept(MAX_KEPT_BYTES);
  /** Those that are asked for and not there yet, by their keys. */
  readonly #coming = new Map<string, Promise<Uint8Array>>();
  readonly #waiting: Job[] = [];
  #drawing: Job | undefined;
  #worker: Worker | undefined;
  #timer: NodeJS.Timeout | undefined;
  #next = 1;
  #closed = false;

  constructor(options: PicturesOptions = {}) {
    this.#options = options;
  }

  /** The same key is the same picture: it is drawn once, and then kept as long as there is room. Rejects with PictureError. */
  draw(key: string, order: PictureOrder): Promise<Uint8Array> {
    const known = this.#kept.get(key);
    if (known) return Promise.resolve(known);
    const coming = this.#coming.get(key) ?? this.#order(order).then((bytes) => this.#kept.put(key, bytes));
    this.#coming.set(key, coming);
    const over = () => this.#coming.delete(key);
    coming.then(over, over);
    return coming;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const job of this.#waiting.splice(0)) job.reject(new PictureError('busy', 'the gateway is shutting down'));
    this.#settle(({ reject }) => reject(new PictureError('busy', 'the gateway is shutting down')));
    await this.#worker?.terminate();
  }

  #order(order: PictureOrder): Promise<Uint8Array> {
    if (this.#closed || this.#waiting.length >= MAX_WAITING)
      return Promise.reject(new PictureError('busy', `${this.#waiting.length} pictures are being waited for already; try again`));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ order, resolve, reject });
      this.#go();
    });
  }

  #go(): void {
    // A thread that is being ended is waited for, so that there is never more than one.
    if (this.#drawing || this.#closed) return;
    const job = this.#waiting.shift();
    if (!job) return;
    this.#drawing = job;
    this.#worker ??= this.#start();
    this.#worker.postMessage({ id: ++this.#next, order: job.order } satisfies Told);
    this.#timer = setTimeout(() => this.#late(), this.#options.drawMs ?? DRAW_MS).unref();
  }

  #start(): Worker {
    const script = this.#options.script ?? workerBeside(import.meta.url, 'picture-worker');
    const workerData: Studio = { fonts: this.#options.fonts };
    const worker = startThread(script, { workerData, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
    worker.unref();
    worker.on('message', (drawn: Drawn) => drawn.id === this.#next && this.#drawn(drawn));
    // The exit follows every error.
    worker.on('error', () => this.#settle(({ reject }) => reject(new PictureError('failed', 'it stopped its thread'))));
    worker.on('exit', () => this.#ended());
    return worker;
  }

  #drawn(drawn: Drawn): void {
    this.#settle(({ resolve, reject }) => ('bytes' in drawn ? resolve(drawn.bytes) : reject(new PictureError('failed', drawn.trouble))));
    this.#drawing = undefined;
    this.#go();
  }

  /** The thread stays the drawing one until it is gone: native code ends when it is done. */
  #late(): void {
    this.#settle(({ reject }) => reject(new PictureError('slow', 'it took too long to draw')));
    void this.#worker?.terminate();
  }

  #ended(): void {
    this.#settle(({ reject }) => reject(new PictureError('failed', 'its thread ended')));
    this.#worker = undefined;
    this.#drawing = undefined;
    this.#go();
  }

  /** To settle twice does nothing. */
  #settle(how: (job: Job) => void): void {
    clearTimeout(this.#timer);
    if (this.#drawing) how(this.#drawing);
  }
}
