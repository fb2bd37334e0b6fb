// What an archive asks of the place that it keeps its objects in: whole objects under names. Knows no session, and no particular store.

export interface ArchiveStore {
  /** For messages: where it is, without credentials. */
  readonly place: string;
  /** Resolves when the object is there to stay, whole; one of that name is replaced. Rejects if it is not, or not surely. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Undefined if there is no such object. */
  get(name: string): Promise<Buffer | undefined>;
  /** The names of all objects that begin with `folder`, which ends in a slash; ascending. */
  list(folder: string): Promise<string[]>;
  /** Resolves when none of them is there. */
  delete(names: readonly string[]): Promise<void>;
  close(): void;
}
