// Has a PTY that prints without end read by a thread of its own, which waits for the kernel where the event loop should not. Knows no process.
import type { Worker } from 'node:worker_threads';
import { MAX_JOINED_BYTES } from './coalesce.js';
import { startThread, workerBeside } from './thread.js';

/** Bytes of a block: what is taken in of all floods in one turn of the event loop. */
const BLOCK_BYTES = MAX_JOINED_BYTES;
/** Blocks that are asked for ahead, so that the thread reads the next while this one is taken in. */
const AHEAD = 2;
/** While somebody types, floods have what is left: blocks of so many bytes, each asked for when the last is taken in, so many milliseconds after it came. */
const SMALL_BLOCK_BYTES = 32 * 1024;
const PAUSE_MS = 1;
/** Milliseconds after a key during which another is expected. */
const TYPING_MS = 500;

/** To the thread: at most so many bytes of this descriptor. */
export interface Request {
  readonly loan: number;
  readonly descriptor: number;
  readonly bytes: number;
}

/** From the thread, for each request. `isDry`: there is no more at this moment. */
export interface Block {
  readonly loan: number;
  readonly block: Uint8Array<ArrayBuffer>;
  readonly isDry: boolean;
}

/** Who lends a descriptor, and neither reads nor closes it until it is returned. */
export interface Lender {
  /** The next bytes, which are the lender's from now on. Returns whether it wants more. */
  readonly block: (bytes: Uint8Array) => boolean;
  /** Nobody reads it any more. `isDry`: it gave no more. */
  readonly returned: (isDry: boolean) => void;
}

interface Loan extends Lender {
  readonly descriptor: number;
  asked: number;
  isOver: boolean;
  isDry: boolean;
}

/** One thread for all floods of the process; it is started by the first. It ends with the process, and does not keep it alive. */
export class FloodThread {
  readonly #startWorker: () => Worker;
  readonly #loans = new Map<number, Loan>();
  readonly #blocks: Block[] = [];
  #worker: Worker | undefined;
  #lastLoan = 0;
  #isBroken = false;
  #typedAt = Number.NEGATIVE_INFINITY;

  constructor(startWorker: () => Worker = startFloodWorker) {
    this.#startWorker = startWorker;
  }

  /** Reads a descriptor that does not block, in order, until the lender wants no more or there is no more. */
  lend(descriptor: number, lender: Lender): void {
    const id = ++this.#lastLoan;
    const loan = { ...lender, descriptor, asked: 0, isOver: false, isDry: false };
    this.#loans.set(id, loan);
    if (!this.#worker && !this.#isBroken) this.#start();
    if (this.#isBroken) this.#returnAll();
    else this.#ask(id, loan);
  }

  /** Somebody types, anywhere: floods are slowed down for a while. */
  hurry(): void {
    this.#typedAt = performance.now();
  }

  get #isTyping(): boolean {
    return performance.now() - this.#typedAt < TYPING_MS;
  }

  #ask(id: number, loan: Loan): void {
    const [ahead, bytes] = this.#isTyping ? [1, SMALL_BLOCK_BYTES] : [AHEAD, BLOCK_BYTES];
    for (; loan.asked < ahead; loan.asked++) this.#worker?.postMessage({ loan: id, descriptor: loan.descriptor, bytes } satisfies Request);
  }

  #start(): void {
    try {
      this.#worker = this.#startWorker();
    } catch (error) {
      this.#failed(error as Error);
      return;
    }
    this.#worker.unref();
    this.#worker.on('error', (error) => this.#failed(error as Error));
    this.#worker.on('exit', () => this.#failed(new Error('it has ended')));
    this.#worker.on('message', (block: Block) => {
      this.#blocks.push(block);
      if (this.#blocks.length === 1) this.#takeSoon();
    });
  }

  /** One block a turn. A port gives all that comes while it is being emptied: taken in at once, they would leave no turn to anybody else. */
  #takeSoon(): void {
    if (this.#isTyping) setTimeout(this.#takeNext, PAUSE_MS);
    else setImmediate(this.#takeNext);
  }

  readonly #takeNext = (): void => {
    const next = this.#blocks.shift();
    if (this.#blocks.length > 0) this.#takeSoon();
    if (next) this.#take(next);
  };

  #take({ loan: id, block, isDry }: Block): void {
    const loan = this.#loans.get(id);
    if (!loan) return;
    loan.asked--;
    loan.isDry ||= isDry;
    const wantsMore = block.length === 0 || loan.block(block);
    loan.isOver ||= loan.isDry || !wantsMore;
    if (!loan.isOver) this.#ask(id, loan);
    else if (loan.asked === 0 && this.#loans.delete(id)) loan.returned(loan.isDry);
  }

  /** Whoever lent goes on alone, for good: a thread that cannot do so little would not a second time. */
  #failed(error: Error): void {
    if (this.#isBroken) return;
    const warning = `The thread that reads terminals which print much has failed, and what it had read is lost: ${error.message}`;
    process.emitWarning(warning, { code: 'FLOOD_THREAD' });
    this.#isBroken = true;
    for (const block of this.#blocks.splice(0)) this.#take(block);
    this.#returnAll();
  }

  #returnAll(): void {
    const loans = [...this.#loans.values()];
    this.#loans.clear();
    for (const loan of loans) loan.returned(true);
  }
}

const startFloodWorker = (): Worker => startThread(workerBeside(import.meta.url, 'flood-worker'), {});

/** That of the process. */
export const floods = new FloodThread();
