// What an archive asks of the place that it keeps its objects in: whole objects under names. Knows no session, and no particular store.
import { LogError } from '../log.js';

/** Most bytes in one object: a segment and its largest entry, with room to spare. What is larger was not written by a gateway. */
export const MAX_OBJECT_BYTES = 128 * 1024 * 1024;

export interface ArchiveStore {
  /** For messages: where it is, without credentials. */
  readonly place: string;
  /** Resolves when the object is there to stay, whole; one of that name is replaced. Rejects if it is not, or not surely. */
  put(name: string, bytes: Uint8Array): Promise<void>;
  /** Undefined if there is no such object. Rejects with LogError `corrupt`, having read nothing, if it has more than MAX_OBJECT_BYTES. */
  get(name: string): Promise<Buffer | undefined>;
  /** The names of all objects that begin with `folder`, which ends in a slash; ascending. */
  list(folder: string): Promise<string[]>;
  /** Resolves when none of them is there. */
  delete(names: readonly string[]): Promise<void>;
  close(): void;
}

/** Throws LogError `corrupt` if an object is larger than any that a gateway writes. */
export function demandReadable(name: string, bytes: number): void {
  if (bytes > MAX_OBJECT_BYTES)
    throw new LogError('corrupt', `${name} of the archive has ${bytes} bytes, more than any that a gateway writes`);
}
