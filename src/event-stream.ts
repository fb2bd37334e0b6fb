// Server-sent events, one for each thing that an iterator yields, at the pace of their reader. Knows no operation.
import { Readable } from 'node:stream';

/** Milliseconds between two comments that show a silent stream to be alive. */
const KEEP_ALIVE_MS = 15_000;
/** As many such times a reader may take nothing of what waits before it is given up. */
const PATIENCE = 6;

export interface EventStreamParts {
  readonly events: AsyncIterator<object>;
  /** The data of an event, on one line. */
  encode(event: object): string;
  /** The data of the last event, if the events fail. */
  encodeError(error: unknown): string;
  readonly keepAliveMs?: number;
}

/** Asks for the next event when the last was taken. Destroyed, it lets go of the events at once. */
export class EventStream extends Readable {
  readonly #parts: EventStreamParts;
  readonly #pulse: NodeJS.Timeout;
  #isAsking = false;
  #isOver = false;
  #timesUnread = 0;

  constructor(parts: EventStreamParts) {
    super({ encoding: 'utf8' });
    this.#parts = parts;
    this.#pulse = setInterval(() => this.#beat(), parts.keepAliveMs ?? KEEP_ALIVE_MS).unref();
  }

  override _read(): void {
    this.#timesUnread = 0;
    if (!this.#isAsking && !this.#isOver) void this.#ask();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#end();
    done(error);
  }

  /** Ends it in order, with a comment that says why; its reader may come back. */
  endEarly(why: string): void {
    if (this.#isOver) return;
    this.push(`: ${why}\n\n`);
    this.#end();
    this.push(null);
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    const told = await this.#next();
    this.#isAsking = false;
    if (this.#isOver) return;
    if (told.data !== undefined) this.push(`data: ${told.data}\n\n`);
    if (!told.isLast) return;
    this.#end();
    this.push(null);
  }

  async #next(): Promise<{ readonly data?: string; readonly isLast: boolean }> {
    try {
      const { done, value } = await this.#parts.events.next();
      return done ? { isLast: true } : { data: this.#parts.encode(value), isLast: false };
    } catch (error) {
      return { data: this.#parts.encodeError(error), isLast: true };
    }
  }

  /** No comment behind events that nobody has taken: they show it as well. */
  #beat(): void {
    if (this.readableLength === 0) this.push(': keep-alive\n\n');
    else if (++this.#timesUnread >= PATIENCE) this.destroy();
  }

  #end(): void {
    this.#isOver = true;
    clearInterval(this.#pulse);
    void this.#parts.events.return?.();
  }
}
