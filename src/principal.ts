// Who asks, and what their token is good for. Knows no JWT library and no route.

/** Each includes the ones before it. */
export const scopes = ['pty:observe', 'pty:control', 'pty:admin'] as const;
export type Scope = (typeof scopes)[number];

export interface Principal {
  /** `sub` of the token. */
  readonly name: string;
  /** The highest of the token's scopes, or none at all. */
  readonly scope: Scope | undefined;
  /** Ids that the token is good for; undefined is all. */
  readonly instances: readonly string[] | undefined;
  readonly sessions: readonly string[] | undefined;
  /** When the token ends, in milliseconds since the epoch. */
  readonly expiresAt?: number;
  /** `jti` of the token. */
  readonly tokenId?: string;
  /** Who made the link that the token came in. */
  readonly sharedBy?: string;
}

export function may(principal: Principal, needed: Scope): boolean {
  return principal.scope !== undefined && scopes.indexOf(principal.scope) >= scopes.indexOf(needed);
}

/** All that the token holds, the lowest first. */
export function scopesOf(principal: Principal): readonly Scope[] {
  return scopes.filter((scope) => may(principal, scope));
}

/** Whether the token is good for this instance and, where one is meant, this session. */
export function reaches(principal: Principal, instanceId: string, sessionId?: string): boolean {
  if (principal.instances && !principal.instances.includes(instanceId)) return false;
  return sessionId === undefined || !principal.sessions || principal.sessions.includes(sessionId);
}
