// Links to watch one session: what is known of each, and how it is kept. A link is good as long as it is kept. Knows no token, no store and no route.
import { Fault } from '../errors.js';
import type { Revocations } from '../validity.js';

/** Living links of one session. */
export const MAX_SHARES = 32;
/** How long a link may be good, in seconds: a minute, an hour unless it is said, a week. */
export const MIN_TTL_SECONDS = 60;
export const DEFAULT_TTL_SECONDS = 3600;
export const MAX_TTL_SECONDS = 7 * 86_400;

export interface Share {
  /** UUIDv7. */
  readonly share_id: string;
  readonly instance_id: string;
  readonly session_id: string;
  /** Whom or what it is for, as its maker says. */
  readonly label?: string;
  /** `sub` of who made it. */
  readonly created_by: string;
  /** RFC 3339, UTC. */
  readonly created_at: string;
  readonly expires_at: string;
}

/** Where links are kept. As revocations it names the tokens of links that are kept no longer: revoked, past their end, or lost. */
export interface Shares extends Revocations {
  /** RATE_LIMITED (429) if the session has MAX_SHARES links that live. */
  add(share: Share): Promise<void>;
  /** Those that live, the oldest first. */
  list(sessionId: string): Promise<Share[]>;
  /** False if there is no such link. */
  revoke(sessionId: string, shareId: string): Promise<boolean>;
}

/** `jti` of a link's token: by it the link is found again. */
export const tokenIdOf = ({ session_id, share_id }: Share): string => `share:${session_id}:${share_id}`;

/** The link whose token such a word names; undefined for other tokens, and for principals. */
export function shareIn(word: string): { readonly sessionId: string; readonly shareId: string } | undefined {
  const [, sessionId, shareId] = /^jti:share:([0-9a-f-]{36}):([0-9a-f-]{36})$/.exec(word) ?? [];
  return sessionId === undefined || shareId === undefined ? undefined : { sessionId, shareId };
}

export const lives = ({ expires_at }: Share, now = Date.now()): boolean => Date.parse(expires_at) > now;

export const tooMany = () => new Fault('RATE_LIMITED', `this session has ${MAX_SHARES} links already; revoke one first`);
