// What is on its way to one receiver: in order, one at a time, and bounded. Knows no HTTP.
import type { PushOutcome, StreamResponse } from '../push.js';

/** Most events that wait for one receiver, and bytes of them. */
export const MAX_WAITING_EVENTS = 256;
export const MAX_WAITING_BYTES = 1024 * 1024;

export interface Letter {
  readonly event: StreamResponse;
  readonly body: Buffer;
}

interface Waiting extends Letter {
  settle(outcome: PushOutcome): void;
}

export interface OutboxParts {
  /** Tries until it is delivered or given up; undefined if it was canceled before. Never rejects. */
  deliver(letter: Letter, canceled: AbortSignal): Promise<'delivered' | 'failed' | undefined>;
  /** Whether all outboxes together hold too much. */
  isFull(): boolean;
  /** Bytes came or went. */
  weigh(bytes: number): void;
  /** Nothing is on its way any more. */
  empty(): void;
}

/** The first of those who wait is the one that is being delivered; it leaves when that is settled. */
export class Outbox {
  readonly #parts: OutboxParts;
  readonly #waiting: Waiting[] = [];
  readonly #canceling = new AbortController();
  #canceledAs: PushOutcome | undefined;
  #bytes = 0;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  put(letter: Letter): Promise<PushOutcome> {
    return new Promise((settle) => {
      this.#waiting.push({ ...letter, settle });
      this.#weigh(letter.body.length);
      this.#makeRoom();
      if (this.#waiting.length === 1) void this.#deliver();
    });
  }

  /** Nothing more goes there: what waits has this outcome. */
  cancel(as: PushOutcome): void {
    this.#canceledAs ??= as;
    this.#canceling.abort();
  }

  async #deliver(): Promise<void> {
    for (let letter = this.#waiting[0]; letter; letter = this.#waiting[0]) {
      const outcome = this.#canceledAs ?? (await this.#parts.deliver(letter, this.#canceling.signal));
      this.#take(0)?.settle(outcome ?? this.#canceledAs ?? 'failed');
    }
    this.#parts.empty();
  }

  /** The oldest artifact update goes first, then the oldest status; how the task ended never does. */
  #makeRoom(): void {
    while (this.#isOver()) {
      const victim = this.#oldest(isArtifact) ?? this.#oldest(isPassing);
      if (victim === undefined) return;
      this.#take(victim)?.settle('dropped');
    }
  }

  #isOver(): boolean {
    return this.#waiting.length > MAX_WAITING_EVENTS || this.#bytes > MAX_WAITING_BYTES || this.#parts.isFull();
  }

  #oldest(isIt: (event: StreamResponse) => boolean): number | undefined {
    const found = this.#waiting.findIndex(({ event }, i) => i > 0 && isIt(event));
    return found < 0 ? undefined : found;
  }

  #take(index: number): Waiting | undefined {
    const [taken] = this.#waiting.splice(index, 1);
    if (taken) this.#weigh(-taken.body.length);
    return taken;
  }

  #weigh(bytes: number): void {
    this.#bytes += bytes;
    this.#parts.weigh(bytes);
  }
}

const isArtifact = (event: StreamResponse) => 'artifactUpdate' in event;
const lastStates = ['TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED', 'TASK_STATE_REJECTED'];

function isPassing(event: StreamResponse): boolean {
  if (!('statusUpdate' in event)) return true;
  const { status } = event.statusUpdate as { readonly status?: { readonly state?: string } };
  return !lastStates.includes(status?.state ?? '');
}
