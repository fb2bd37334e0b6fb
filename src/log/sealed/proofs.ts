// What segments of sealed sessions are proven with in an archive: each session's own key. Knows no segment.
import type { Keyring } from '../../keyring.js';
import type { Prover, ProverOf } from '../archived/proof.js';
import type { Log } from '../log.js';
import { isSealed, SessionSeal } from './sealed-session.js';

/** By what the log, below any seal, says of a session. */
export function proofsOf(log: Log, keyring: Keyring): ProverOf {
  return async (sessionId) => {
    const record = await log.record(sessionId);
    return record && isSealed(record) ? proverWith(SessionSeal.of(keyring, sessionId, record)) : undefined;
  };
}

function proverWith(seal: SessionSeal): Prover {
  return { prove: (text) => seal.prove(text), check: (text, proof) => seal.check(text, proof) };
}
