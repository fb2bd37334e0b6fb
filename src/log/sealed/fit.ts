// Whether what is kept opens with these keys, before anybody wants to read it. Knows no store, and no entry.
import type { Keyring } from '../../keyring.js';
import type { SessionRecord } from '../log.js';
import { isSealed, SessionSeal } from './sealed-session.js';

/** A session's record as the log keeps it. */
export interface StoredRecord {
  readonly sessionId: string;
  readonly record: SessionRecord;
}

export interface Fit {
  readonly sealed: number;
  /** Of the sealed ones those that do not open: how many, by why. The sentences show no key. */
  readonly unopened: ReadonlyMap<string, number>;
}

/** Tries the keys at each record that is sealed; none is changed. */
export function fitOf(stored: readonly StoredRecord[], keyring: Keyring): Fit {
  const sealed = stored.filter(({ record }) => isSealed(record));
  const unopened = new Map<string, number>();
  for (const one of sealed) {
    const why = whyUnopened(one, keyring);
    if (why !== undefined) unopened.set(why, (unopened.get(why) ?? 0) + 1);
  }
  return { sealed: sealed.length, unopened };
}

function whyUnopened({ sessionId, record }: StoredRecord, keyring: Keyring): string | undefined {
  if (!isSealed(record)) return undefined;
  try {
    SessionSeal.of(keyring, sessionId, record).openRecord(record);
    return undefined;
  } catch (error) {
    return ((error as Error).cause as Error).message;
  }
}
