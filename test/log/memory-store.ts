// An archive's store in memory, which can be told to refuse. Knows no test.
import type { ArchiveStore } from '../../src/log/archived/store.js';

export class MemoryStore implements ArchiveStore {
  readonly place = 'memory';
  readonly objects = new Map<string, Buffer>();
  /** While it is there, every request is refused with it. */
  refusal: Error | undefined;
  /** Objects are not changed once they are there. */
  readonly replaced: string[] = [];

  async put(name: string, bytes: Uint8Array): Promise<void> {
    await this.#answer();
    if (this.objects.has(name)) this.replaced.push(name);
    this.objects.set(name, Buffer.from(bytes));
  }

  async get(name: string): Promise<Buffer | undefined> {
    await this.#answer();
    return this.objects.get(name);
  }

  async list(folder: string): Promise<string[]> {
    await this.#answer();
    return [...this.objects.keys()].filter((name) => name.startsWith(folder)).sort();
  }

  async delete(names: readonly string[]): Promise<void> {
    await this.#answer();
    for (const name of names) this.objects.delete(name);
  }

  close(): void {
    // Nothing is held open.
  }

  async #answer(): Promise<void> {
    await new Promise(setImmediate);
    if (this.refusal) throw this.refusal;
  }
}
