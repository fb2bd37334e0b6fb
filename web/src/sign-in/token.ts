// The visitor's token: kept for this tab alone, and read for what it says. Checks nothing: the gateway does.
import { guestName, type Principal, scopes } from '../../../src/access/principal.js';

const KEY = 'pty-gateway.token';
/** In the token's place after a sign-out, so that the tab does not ask the others for theirs. */
const SIGNED_OUT = '';

export const storedToken = (): string | undefined => sessionStorage.getItem(KEY) || undefined;
export const storeToken = (token: string): void => sessionStorage.setItem(KEY, token);
export const forgetToken = (): void => sessionStorage.removeItem(KEY);
export const leaveToken = (): void => sessionStorage.setItem(KEY, SIGNED_OUT);
export const isSignedOut = (): boolean => sessionStorage.getItem(KEY) === SIGNED_OUT;

/** What the token says of its bearer; one that cannot be read says nothing: no name and no scope. */
export function principalIn(token: string): Principal {
  const { sub, scope, instances, sessions, shared_for } = claimsIn(token);
  const held = typeof scope === 'string' ? scope.split(' ') : [];
  return {
    name: typeof sub === 'string' ? nameIn(sub, shared_for) : '',
    scope: scopes.findLast((s) => held.includes(s)),
    instances: idsIn(instances),
    sessions: idsIn(sessions),
  };
}

/** One who came with a link is called after it. */
const nameIn = (sub: string, sharedFor: unknown) => (isShare(sub) ? guestName(typeof sharedFor === 'string' ? sharedFor : undefined) : sub);
const isShare = (sub: string) => sub.startsWith('share:');

/** Whether it came with a link to watch. */
export function isOfLink(token: string): boolean {
  const { sub } = claimsIn(token);
  return typeof sub === 'string' && isShare(sub);
}

function claimsIn(token: string): Record<string, unknown> {
  try {
    const part = (token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/');
    const bytes = Uint8Array.from(atob(part), (c) => c.charCodeAt(0));
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof claims === 'object' && claims !== null ? { ...claims } : {};
  } catch {
    return {};
  }
}

const idsIn = (claim: unknown): readonly string[] | undefined => (Array.isArray(claim) ? claim.map(String) : undefined);
