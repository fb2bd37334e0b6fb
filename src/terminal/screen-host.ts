// The screens of all sessions, shared out among worker threads. Knows no session and no step.
import { availableParallelism } from 'node:os';
import { type Meter, noMeter } from '../metrics/meter.js';
import { FoldedScreen, type ScreenCrew } from './folded-screen.js';
import { ScreenThread } from './screen-thread.js';
import type { ScreenHost } from './terminal.js';

/** Milliseconds without progress after which a worker is taken to hang. */
export const STALL_MS = 2000;
/** Milliseconds that a question may wait for its answer. */
export const ANSWER_MS = 10_000;
/** Threads that fold screens, however many cores there are. */
const MAX_THREADS = 8;

export interface ScreenHostOptions {
  /** Threads, 1 or more; by default as many as `threadsFor` says. */
  readonly workers?: number;
  readonly stallMs?: number;
  readonly answerMs?: number;
  readonly meter?: Meter;
  /** Told when a worker was replaced. */
  readonly onDeath?: (death: WorkerDeath) => void;
  /** For tests: another worker. */
  readonly script?: URL;
}

/** Why a worker was replaced, and at what: the screen by the name that it was opened with, and the step that was being folded. */
export interface WorkerDeath {
  readonly cause: 'hung' | 'ended';
  readonly trouble: string;
  readonly screen?: string | undefined;
  readonly sequence?: number;
  /** That screen was given up: its output ends workers whenever it is folded. */
  readonly isLost?: boolean;
}

/** A core is left to the main thread, which feeds them all: more threads than it can feed would only hold memory. */
export const threadsFor = (cores: number): number => Math.max(1, Math.min(MAX_THREADS, cores - 1));

export function createScreenHost(options: ScreenHostOptions = {}): ScreenHost {
  const count = options.workers ?? threadsFor(availableParallelism());
  const crews = Array.from({ length: count }, () => new Crew(options));
  return {
    open(size, past, answering, name) {
      const crew = crews.reduce((least, other) => (other.size < least.size ? other : least));
      return new FoldedScreen(crew, {
        size,
        past,
        answering,
        name,
        answerMs: options.answerMs ?? ANSWER_MS,
        meter: options.meter ?? noMeter,
      });
    },
    lost: () => crews.reduce((sum, crew) => sum + crew.lost.size, 0),
    backlog: () => crews.reduce((sum, crew) => sum + crew.backlog, 0),
    async close() {
      await Promise.all(crews.map((crew) => crew.close()));
    },
  };
}

/** A thread and the screens that it folds, by the numbers that they have there. A screen that begins anew gets a new number. */
class Crew implements ScreenCrew {
  readonly thread: ScreenThread;
  /** Those that were given up, until their sessions let go of them. */
  readonly lost = new Set<FoldedScreen>();
  readonly #screens = new Map<number, FoldedScreen>();
  readonly #options: ScreenHostOptions;
  #next = 1;

  constructor(options: ScreenHostOptions) {
    this.#options = options;
    this.thread = new ScreenThread(
      { script: options.script, stallMs: options.stallMs ?? STALL_MS },
      {
        report: (report) => this.#screens.get(report.id)?.told(report),
        died: (id, sequence, cause) => this.#died(id, sequence, cause),
        owes: () => [...this.#screens.values()].some((screen) => screen.waits),
      },
    );
  }

  get size(): number {
    return this.#screens.size;
  }

  get backlog(): number {
    return [...this.#screens.values()].reduce((sum, screen) => sum + screen.backlog, 0);
  }

  enter(screen: FoldedScreen): number {
    this.#screens.set(this.#next, screen);
    return this.#next++;
  }

  leave(id: number): void {
    this.#screens.delete(id);
    this.thread.send({ kind: 'close', id });
  }

  async close(): Promise<void> {
    for (const screen of [...this.#screens.values()]) screen.dispose();
    await this.thread.close();
  }

  #died(id: number, sequence: number, cause: WorkerDeath['cause']): void {
    const { meter = noMeter, onDeath } = this.#options;
    const guilty = this.#screens.get(id);
    meter.count('screen_worker_restarts_total', 1, { cause });
    for (const [own, screen] of [...this.#screens]) screen.failed(own === id ? sequence : undefined);
    onDeath?.({ cause, trouble: this.thread.trouble, ...(guilty && { screen: guilty.name, sequence, isLost: guilty.isLost }) });
  }
}
