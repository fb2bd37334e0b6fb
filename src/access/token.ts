// What a token says, and how one is made with AUTH_JWT_SECRET. Knows no key but that one, and no request.
import { createHmac } from 'node:crypto';
import { type Static, Type } from '@sinclair/typebox';
import { Fault } from '../errors.js';
import { checker } from '../protocol/check.js';
import { newId } from '../protocol/ids.js';
import { OWN, type Principal, type Scope, scopes } from './principal.js';

/** Longest name of a principal, in characters. */
export const MAX_NAME_CHARS = 256;

export const Ids = Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { maxItems: 1000 });

/** The claims that the gateway reads (contract, Tokens). All others are passed over. */
export const Claims = Type.Object({
  sub: Type.Optional(
    Type.String({ minLength: 1, maxLength: MAX_NAME_CHARS, description: 'The principal in audit, presence and rate limits.' }),
  ),
  scope: Type.Optional(Type.String({ maxLength: 4096, description: 'Space-separated.' })),
  instances: Type.Optional(Ids),
  sessions: Type.Optional(
    Type.Union([Ids, Type.Literal(OWN)], { description: 'Ids; "own", alone or among them, is those that the principal created.' }),
  ),
  exp: Type.Optional(Type.Number({ description: 'Its end, in seconds since the epoch.' })),
  jti: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'The id by which this token can be revoked.' })),
  shared_by: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'Who gave it away in a link: revoked with it.' })),
  shared_for: Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: 'Whom the link is for, as its maker says.' })),
});
type Claims = Static<typeof Claims>;

const checkClaims = checker(Claims, 'claims');

/** The principal of verified claims. UNAUTHENTICATED if one is ill-formed: what limits a token must not be lost by a typing error. */
export function readClaims(claims: unknown): Principal {
  const problem = checkClaims(claims);
  if (problem) throw new Fault('UNAUTHENTICATED', `the token is not valid: ${problem}`);
  const { sub = 'anonymous', scope, instances, sessions: named, exp, jti, shared_by, shared_for } = claims as Claims;
  const sessions = named === OWN ? [OWN] : named;
  if (sessions?.includes(OWN) && (claims as Claims).sub === undefined)
    throw new Fault('UNAUTHENTICATED', 'the token is not valid: claims.sessions has "own", but claims.sub does not say whose');
  const bounds = {
    ...(exp !== undefined && { expiresAt: exp * 1000 }),
    ...(jti !== undefined && { tokenId: jti }),
    ...(shared_by !== undefined && { sharedBy: shared_by }),
    ...(shared_for !== undefined && { sharedFor: shared_for }),
  };
  return { name: sub, scope: highest(scope), instances, sessions, ...bounds };
}

function highest(scope = ''): Scope | undefined {
  const held = new Set(scope.split(' '));
  return scopes.findLast((s) => held.has(s));
}

interface Grant extends Pick<Claims, 'instances' | 'sessions' | 'jti' | 'shared_by' | 'shared_for'> {
  readonly sub: string;
  readonly scope: Scope;
  readonly ttlSeconds: number;
  readonly issuer?: string | undefined;
  readonly audience?: string | undefined;
}

/** A compact JWS, HS256. */
export function mintToken(secret: string, { ttlSeconds, issuer, audience, ...claims }: Grant, nowMs = Date.now()): string {
  const iat = Math.floor(nowMs / 1000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const body = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ jti: newId(), ...claims, iss: issuer, aud: audience, iat, exp: iat + ttlSeconds })}`;
  return `${body}.${createHmac('sha256', secret).update(body).digest('base64url')}`;
}
