// Says once that something fails, and once that it works again. Knows not what.
import type { Logger } from '../session/sessions.js';

export class Trouble {
  readonly #logger: Logger;
  readonly #what: string;
  #isOn = false;

  constructor(logger: Logger, what: string) {
    this.#logger = logger;
    this.#what = what;
  }

  /** How the last attempt went: what it threw, or undefined. */
  note(error: unknown): void {
    if (this.#isOn === (error !== undefined)) return;
    this.#isOn = error !== undefined;
    if (this.#isOn) this.#logger.warn({ reason: (error as Error).message }, `${this.#what}: Redis does not do its part; it is tried again`);
    else this.#logger.info({}, `${this.#what}: Redis does its part again`);
  }
}
