// A link to watch one session: what is known of it, how its token names it, how long it may be good. Knows no store and no route.
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

/** `jti` of a link's token: by it the link is found again. */
export const tokenIdOf = ({ session_id, share_id }: Share): string => `share:${session_id}:${share_id}`;

/** The link whose token such a word names; undefined for other tokens, and for principals. */
export function shareIn(word: string): { readonly sessionId: string; readonly shareId: string } | undefined {
  const [, sessionId, shareId] = /^jti:share:([0-9a-f-]{36}):([0-9a-f-]{36})$/.exec(word) ?? [];
  return sessionId === undefined || shareId === undefined ? undefined : { sessionId, shareId };
}

export const lives = ({ expires_at }: Share, now = Date.now()): boolean => Date.parse(expires_at) > now;
