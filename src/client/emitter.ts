// Typed events, delivered in the order in which they happened. Knows no client.

type Listeners<Events> = { [Name in keyof Events]?: Set<Events[Name]> };

/** Every event's listeners are called at once, in the order of their registration. */
export class Emitter<Events extends { [Name in keyof Events]: (...args: never[]) => void }> {
  readonly #listeners: Listeners<Events> = {};

  /** Listens; the returned function stops it. */
  on<Name extends keyof Events>(name: Name, listener: Events[Name]): () => void {
    const listeners = this.#listeners[name] ?? new Set();
    this.#listeners[name] = listeners;
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /** A listener that throws keeps no event from the others: its error is thrown in a turn of its own. */
  emit<Name extends keyof Events>(name: Name, ...args: Parameters<Events[Name]>): void {
    for (const listener of this.#listeners[name] ?? []) {
      try {
        listener(...args);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
