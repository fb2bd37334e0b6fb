// How many attempts are made at once: in all, and to one receiver, so that one that is slow does not hold up the rest. Knows no attempt.

/** Attempts at once of one replica, and of those to one host. */
export const ATTEMPTS_AT_ONCE = 32;
export const ATTEMPTS_PER_HOST = 8;

interface Waiting {
  readonly host: string;
  enter(): void;
}

export class Slots {
  readonly #most: number;
  readonly #mostPerHost: number;
  readonly #taken = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #count = 0;

  constructor(most: number = ATTEMPTS_AT_ONCE, mostPerHost: number = ATTEMPTS_PER_HOST) {
    this.#most = most;
    this.#mostPerHost = mostPerHost;
  }

  /** Does work when there is room for it; those who wait longest come first. */
  async within<T>(host: string, work: () => Promise<T>): Promise<T> {
    if (this.#hasRoom(host)) this.#take(host);
    else await new Promise<void>((enter) => this.#waiting.push({ host, enter }));
    try {
      return await work();
    } finally {
      this.#free(host);
    }
  }

  #hasRoom(host: string): boolean {
    return this.#count < this.#most && (this.#taken.get(host) ?? 0) < this.#mostPerHost;
  }

  #take(host: string): void {
    this.#count += 1;
    this.#taken.set(host, (this.#taken.get(host) ?? 0) + 1);
  }

  #free(host: string): void {
    this.#count -= 1;
    const left = (this.#taken.get(host) ?? 1) - 1;
    if (left > 0) this.#taken.set(host, left);
    else this.#taken.delete(host);
    const next = this.#waiting.findIndex((one) => this.#hasRoom(one.host));
    if (next < 0) return;
    const [entering] = this.#waiting.splice(next, 1);
    if (!entering) return;
    this.#take(entering.host);
    entering.enter();
  }
}
