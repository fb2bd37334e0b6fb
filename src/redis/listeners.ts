// Those who want to be told of something. Knows not of what.

export class Listeners<A extends readonly unknown[]> {
  readonly #all = new Set<(...news: A) => void>();
  readonly #failed: (error: unknown) => void;

  /** A listener that throws harms nobody else: `failed` is told. */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  add(listener: (...news: A) => void): () => void {
    const entry = (...news: A) => listener(...news);
    this.#all.add(entry);
    return () => void this.#all.delete(entry);
  }

  tell(...news: A): void {
    for (const listener of [...this.#all]) {
      try {
        listener(...news);
      } catch (error) {
        this.#failed(error);
      }
    }
  }
}
