// Who asks, and what their token or certificate is good for. Knows no JWT library and no route.

/** Each includes the ones before it. */
export const scopes = ['pty:observe', 'pty:control', 'pty:admin'] as const;
export type Scope = (typeof scopes)[number];

/** Among the `sessions` of a token: those that its own principal created. */
export const OWN = 'own';

/** Longest name of a guest: as long as a client's label may be (pty-ext §6.1). */
const MAX_GUEST_NAME_CHARS = 128;

export interface Principal {
  /** `sub` of the token, or what the rules say of the certificate. */
  readonly name: string;
  /** The highest of its scopes, or none at all. */
  readonly scope: Scope | undefined;
  /** Ids that the token is good for; undefined is all. */
  readonly instances: readonly string[] | undefined;
  /** The same, and OWN may be among them. */
  readonly sessions: readonly string[] | undefined;
  /** When the token or certificate ends, in milliseconds since the epoch. */
  readonly expiresAt?: number;
  /** `jti` of the token. */
  readonly tokenId?: string;
  /** Set where it is a client's certificate that says who asks, and no token; lower-case hex. */
  readonly certificate?: { readonly fingerprint: string; readonly serial: string };
  /** Who made the link that the token came in. */
  readonly sharedBy?: string;
  /** Whom that link is for, as its maker says. */
  readonly sharedFor?: string;
}

export function may(principal: Principal, needed: Scope): boolean {
  return principal.scope !== undefined && scopes.indexOf(principal.scope) >= scopes.indexOf(needed);
}

/** All that the token holds, the lowest first. */
export function scopesOf(principal: Principal): readonly Scope[] {
  return scopes.filter((scope) => may(principal, scope));
}

/**
 * Whether the token may be good for this instance and, where one is meant, this session: all that can be said before anybody looks for the session.
 * With OWN, who created it decides (`sees`).
 */
export function reaches(principal: Principal, instanceId: string, sessionId?: string): boolean {
  if (principal.instances && !principal.instances.includes(instanceId)) return false;
  return sessionId === undefined || names(principal, sessionId) || hasOwn(principal);
}

/** Whether the token is good for what this principal created there under this id. */
export function sees(principal: Principal, instanceId: string, sessionId: string, createdBy: string | undefined): boolean {
  if (!reaches(principal, instanceId, sessionId)) return false;
  return names(principal, sessionId) || createdBy === principal.name;
}

/** Whether the token is good for a session whoever created it. */
export function names({ sessions }: Principal, sessionId: string): boolean {
  return !sessions || sessions.includes(sessionId);
}

/** Whether the token is good for sessions that are still to be created. */
export function mayCreate({ sessions }: Principal): boolean {
  return !sessions || sessions.includes(OWN);
}

const hasOwn = ({ sessions }: Principal): boolean => sessions?.includes(OWN) ?? false;

/** What is not seen: it could make a name look like another's, or like none. */
const UNSEEN = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** What one who came with a link is called: after whom it is for, in one line, without characters that are not seen. */
export function guestName(sharedFor = ''): string {
  const name = sharedFor.replace(/\s+/gu, ' ').replace(UNSEEN, '').replace(/ +/g, ' ').trim();
  // A character of two units that was cut in the middle is none.
  return name === '' ? 'guest' : `guest ${name}`.slice(0, MAX_GUEST_NAME_CHARS).replace(/\p{Cs}/gu, '');
}
