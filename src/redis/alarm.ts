// A pause that somebody can end early. Knows not for what.

export class Alarm {
  #rung = false;
  #wake: (() => void) | undefined;

  /** Resolves after `ms` milliseconds, or when it rings; at once if it rang since the last pause. One pause at a time. */
  async pause(ms: number): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#wake = undefined;
    this.#rung = false;
  }

  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }
}
