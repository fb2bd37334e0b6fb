// Lets each asker through once a second: the first at once, more within a second together at its end (protocol R9). Knows not what is asked.

const SECOND_MS = 1000;

export class OneASecond {
  readonly #last = new Map<string, number>();
  readonly #waiting = new Map<string, NodeJS.Timeout>();

  ask(asker: string, grant: () => void): void {
    if (this.#waiting.has(asker)) return;
    const left = (this.#last.get(asker) ?? Number.NEGATIVE_INFINITY) + SECOND_MS - performance.now();
    const pass = () => {
      this.#waiting.delete(asker);
      this.#last.set(asker, performance.now());
      grant();
    };
    if (left <= 0) pass();
    else this.#waiting.set(asker, setTimeout(pass, left).unref());
  }

  forget(asker: string): void {
    clearTimeout(this.#waiting.get(asker));
    this.#waiting.delete(asker);
    this.#last.delete(asker);
  }
}
