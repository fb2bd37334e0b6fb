// Who asks: verifies the token or certificate of a request and refuses what it is not good for. Knows no session and no handler.
import fastifyJwt from '@fastify/jwt';
import type { FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { type Keys, openKeys, type TokenHeader } from '../src/access/keys.js';
import { may, type Principal, reaches, type Scope } from '../src/access/principal.js';
import type { Signed } from '../src/access/secrets.js';
import { readClaims } from '../src/access/token.js';
import { credentialOf } from '../src/access/validity.js';
import type { AuditEvent } from '../src/audit/audit.js';
import type { Config } from '../src/config.js';
import { Fault } from '../src/errors.js';
import { bearerFromSubprotocols } from '../src/protocol/negotiate.js';
import clientCertificates from './client-certificates.js';
import validity from './validity.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the audit calls a request that is refused; as its guard (`authorize`) has it unless the route says it. */
    audit?: EventOf;
  }
  interface FastifyRequest {
    /** Set when the request's token, or else its certificate, is valid. */
    principal: Principal | null;
    /** Why there is no principal; what `authorize` throws. */
    refusal: Fault | null;
    /** What was wrong with the keys that the token was to be checked with. */
    keyError: string | null;
  }
}

type Hook = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
/** What the audit calls a request to an address; a function where that is not the same of all. */
type EventOf = AuditEvent | ((request: FastifyRequest) => AuditEvent);
interface Guard extends Hook {
  readonly event?: EventOf | undefined;
}

/**
 * A hook that lets a request pass if its token has the scope, and is good for the instance `:inst` and the session `:id` of the route, where there
 * are such: UNAUTHENTICATED 401, then PERMISSION_DENIED 403. It looks at no session, so 403 comes before 404 (pty-ws §7).
 * A refusal is an audit line of this event, and one of `key_error` where the keys are why.
 */
export function authorize(scope: Scope, event?: EventOf): Guard {
  const guard: Hook = async (request) => {
    try {
      judge(request, scope);
    } catch (error) {
      if (request.keyError !== null) request.record('key_error', 'failed', { detail: request.keyError });
      tellDenied(request, event, (error as Fault).message);
      throw error;
    }
  };
  return Object.assign(guard, { event });
}

/** None where the audit is not told of an event. */
export function tellDenied(request: FastifyRequest, event: EventOf | undefined, detail: string): void {
  const told = typeof event === 'function' ? event(request) : event;
  if (told) request.record(told, 'denied', { detail });
}

/** Of a request that `authorize` let pass. */
export function principalOf(request: FastifyRequest): Principal {
  if (!request.principal) throw request.refusal ?? noToken();
  return request.principal;
}

/**
 * A hook for browser upgrades: PERMISSION_DENIED unless the Origin is an allowed one (by default that of PUBLIC_URL, or of the Host header).
 * A request without an Origin header is not a browser's and passes.
 */
export const checkOrigin: Hook = async (request) => {
  const { origin } = request.headers;
  if (origin === undefined) return;
  const { config, publicUrl } = request.server;
  const allowed = config.auth.allowedOrigins ?? [publicUrl().origin, ownOrigin(request)];
  if (!allowed.includes(origin))
    throw new Fault('PERMISSION_DENIED', 'pages of this origin may not attach; ALLOWED_ORIGINS names those that may');
};

/** As browsers write it: a host in lower case and punycode, and no port that is the scheme's own. */
function ownOrigin({ protocol, host }: FastifyRequest): string | undefined {
  const own = `${protocol}://${host}`;
  return URL.canParse(own) ? new URL(own).origin : undefined;
}

function judge(request: FastifyRequest, scope: Scope): void {
  const principal = principalOf(request);
  const { inst, id } = request.params as { inst?: string; id?: string };
  if (!may(principal, scope)) throw new Fault('PERMISSION_DENIED', `this needs the scope ${scope}`);
  if (inst !== undefined && !reaches(principal, inst, id)) throw new Fault('PERMISSION_DENIED', 'this token is not good for that');
}

const noToken = () => new Fault('UNAUTHENTICATED', 'this needs a token, sent as "Authorization: Bearer …"');
const unusable = () => new Fault('UNAUTHENTICATED', 'expected "Authorization: Bearer" and a token');

/** The Authorization header's, or of an upgrade that offered as a subprotocol; never from the URL. */
function tokenOf({ headers }: FastifyRequest): string | undefined {
  const header = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (header !== undefined || headers.authorization !== undefined) return header;
  return headers.upgrade === undefined ? undefined : bearerFromSubprotocols(headers['sec-websocket-protocol']);
}

/** A token counts before a certificate: browsers send theirs unasked. */
async function principalIn(request: FastifyRequest): Promise<Principal> {
  if (tokenOf(request) !== undefined) return readClaims(await request.jwtVerify());
  if (request.headers.authorization !== undefined) throw unusable();
  const certified = request.server.certifiedPrincipal(request);
  if (!certified) throw noToken();
  return certified;
}

async function authenticate(request: FastifyRequest): Promise<void> {
  try {
    const principal = await principalIn(request);
    if (await request.server.validity.isRevoked(principal))
      throw new Fault('UNAUTHENTICATED', `the ${credentialOf(principal)} was revoked`);
    request.principal = principal;
  } catch (error) {
    request.refusal = refusalFrom(error);
  }
}

function refusalFrom(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const expired = (error as { code?: string }).code === 'FST_JWT_AUTHORIZATION_TOKEN_EXPIRED';
  return new Fault('UNAUTHENTICATED', expired ? 'the token has expired' : 'the token is not valid', { cause: error });
}

/** Checks the signature with a key of the algorithm's own kind, `exp` (required), `nbf`, and `iss` and `aud` where they are set. */
function jwtOptions(auth: Config['auth'], keys: Keys): Parameters<typeof fastifyJwt>[1] {
  return {
    secret: async (request: FastifyRequest, token: unknown) => {
      const { header, ...signed } = token as { header: TokenHeader } & Signed;
      const key = await keys.find(header, signed).catch((cause: unknown) => {
        request.keyError = (cause as Error).message;
        throw new Fault('INTERNAL', 'the keys that tokens are checked with cannot be fetched now', { status: 503, cause });
      });
      if (key !== undefined) return key;
      request.keyError = `no key ${JSON.stringify(header.kid ?? null)} for ${JSON.stringify(header.alg ?? null)}`;
      throw new Fault('UNAUTHENTICATED', 'the token is signed with a key that is not known here');
    },
    decode: { complete: true },
    verify: {
      extractToken: tokenOf,
      algorithms: [...keys.algorithms],
      clockTolerance: auth.clockSkewSeconds * 1000,
      requiredClaims: ['exp', ...(auth.issuer ? ['iss'] : []), ...(auth.audience ? ['aud'] : [])],
      ...(auth.issuer && { allowedIss: auth.issuer }),
      ...(auth.audience && { allowedAud: auth.audience }),
    },
  };
}

export default fp(
  async (app) => {
    await app.register(validity);
    await app.register(clientCertificates);
    const keys = openKeys(app.secrets, app.config.auth);
    for (const [variable, { reread, file }] of keys.sources) app.reloads.add(variable, reread, [file]);
    await app.register(fastifyJwt, jwtOptions(app.config.auth, keys));
    app.addHook('onRoute', (route) => {
      const event = [route.onRequest].flat().find((hook): hook is typeof hook & Guard => hook !== undefined && 'event' in hook)?.event;
      if (event) route.config = { audit: event, ...route.config };
    });
    app.decorateRequest('principal', null);
    app.decorateRequest('refusal', null);
    app.decorateRequest('keyError', null);
    app.addHook('onRequest', authenticate);
    app.addHook('onSend', async (request, reply) => {
      if (reply.statusCode !== 401) return;
      reply.header('www-authenticate', `Bearer realm="pty-gateway"${tokenOf(request) === undefined ? '' : ', error="invalid_token"'}`);
    });
  },
  { name: 'auth', dependencies: ['context', 'audit'] },
);
