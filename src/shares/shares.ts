// How links are kept: the contract of its stores. A link is good as long as it is kept. Knows no token and no route.

import type { Revocations } from '../access/validity.js';
import { Fault } from '../errors.js';
import { MAX_SHARES, type Share } from './share.js';

/** Where links are kept. As revocations it names the tokens of links that are kept no longer: revoked, past their end, or lost. */
export interface Shares extends Revocations {
  /** RATE_LIMITED (429) if the session has MAX_SHARES links that live. */
  add(share: Share): Promise<void>;
  /** Those that live, the oldest first. */
  list(sessionId: string): Promise<Share[]>;
  /** False if there is no such link. */
  revoke(sessionId: string, shareId: string): Promise<boolean>;
}

export const tooMany = () => new Fault('RATE_LIMITED', `this session has ${MAX_SHARES} links already; revoke one first`);
