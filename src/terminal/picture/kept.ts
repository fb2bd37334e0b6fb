// Things of known size by their keys, as many as there is room for; what was not asked for longest goes first. Knows not what they are.

export class Kept {
  readonly #maxBytes: number;
  /** In the order in which they were asked for. */
  readonly #things = new Map<string, Uint8Array>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(key: string): Uint8Array | undefined {
    const thing = this.#things.get(key);
    if (!thing) return undefined;
    this.#things.delete(key);
    this.#things.set(key, thing);
    return thing;
  }

  /** Returns the thing. One that is larger than all the room is not kept. */
  put(key: string, thing: Uint8Array): Uint8Array {
    this.#forget(key);
    if (thing.length > this.#maxBytes) return thing;
    this.#things.set(key, thing);
    this.#bytes += thing.length;
    for (const oldest of this.#things.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#forget(oldest);
    }
    return thing;
  }

  #forget(key: string): void {
    this.#bytes -= this.#things.get(key)?.length ?? 0;
    this.#things.delete(key);
  }
}
