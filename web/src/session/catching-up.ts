// What was caught up after a cut, in words. Knows no view and no connection.
import { inBytes } from './readout.js';

export class CatchingUp {
  #bytes: number | undefined;
  #isWhole = true;

  /** The connection is gone; what comes next from the past was missed. */
  cut(): void {
    this.#bytes ??= 0;
  }

  came(bytes: number): void {
    if (this.#bytes !== undefined) this.#bytes += bytes;
  }

  /** Some of it is not there any more. */
  lost(): void {
    this.#isWhole = false;
  }

  /** The connection is back; undefined if it was not away, or if it was told already that something was lost. */
  back(): string | undefined {
    const bytes = this.#isWhole ? this.#bytes : undefined;
    this.#bytes = undefined;
    this.#isWhole = true;
    if (bytes === undefined) return undefined;
    return bytes === 0
      ? 'Connected again. Nothing was printed meanwhile.'
      : `Connected again. ${inBytes(bytes)} were caught up: nothing is missing.`;
  }
}
