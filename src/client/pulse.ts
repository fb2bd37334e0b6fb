// Notices a network that is frozen: after silence it asks, and after more silence gives up. Knows no socket and no message.

export interface Heartbeat {
  /** Milliseconds of silence after which a `ping` is sent (pty-ws §5.6). */
  readonly quietMs: number;
  /** Further milliseconds of silence after which the connection is taken for lost. */
  readonly answerMs: number;
}

export const defaultHeartbeat: Heartbeat = { quietMs: 10_000, answerMs: 10_000 };

export interface PulseEvents {
  /** To be answered by anything at all. */
  ask(): void;
  gone(): void;
}

/** Whatever is heard counts. Nobody is given up who was not asked first, however late a timer fires (a machine that slept, a page in the background). */
export class Pulse {
  readonly #heartbeat: Heartbeat;
  readonly #events: PulseEvents;
  #heardAt = performance.now();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(heartbeat: Heartbeat, events: PulseEvents) {
    this.#heartbeat = heartbeat;
    this.#events = events;
    this.#listen();
  }

  heard(): void {
    this.#heardAt = performance.now();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #listen(): void {
    const quietSince = this.#heardAt;
    const left = quietSince + this.#heartbeat.quietMs - performance.now();
    this.#timer = setTimeout(() => (this.#heardAt === quietSince ? this.#ask() : this.#listen()), Math.max(0, left));
  }

  #ask(): void {
    const quietSince = this.#heardAt;
    this.#timer = setTimeout(() => (this.#heardAt === quietSince ? this.#events.gone() : this.#listen()), this.#heartbeat.answerMs);
    this.#events.ask();
  }
}
