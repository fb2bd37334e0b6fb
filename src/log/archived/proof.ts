// That a segment is as it was written: a proof in its head, which only who has the session's key can make. Knows no key and no store.
import { createHash } from 'node:crypto';

/** What one session's segments are proven with. */
export interface Prover {
  /** For this text alone. */
  prove(text: string): string;
  /** Throws LogError `corrupt` unless `prove` made it for this text. */
  check(text: string, proof: string): void;
}

/** That of a session; undefined for one that is not sealed, whose segments prove nothing. Rejects with LogError `corrupt` if its key is not there. */
export type ProverOf = (sessionId: string) => Promise<Prover | undefined>;

export const nobodyProves: ProverOf = async () => undefined;

/** All that a segment says, in few bytes: its name, what its head says, and the entries as they are stored. */
export function digest(name: string, head: object, entries: Uint8Array): string {
  const inFolder = name.slice(name.lastIndexOf('/') + 1);
  return `segment ${inFolder} ${JSON.stringify(head)} ${createHash('sha256').update(entries).digest('hex')}`;
}
