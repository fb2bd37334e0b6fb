// The keys that tokens are checked with, each for the algorithms of its kind alone. Knows no request and no claim.
import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ConfigError } from '../config.js';
import type { Reread } from '../reload.js';
import { HMAC_ALGORITHMS, type Secrets, type Signed } from './secrets.js';

export const PUBLIC_KEY_ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const;
export type Algorithm = (typeof HMAC_ALGORITHMS)[number] | (typeof PUBLIC_KEY_ALGORITHMS)[number];

/** Milliseconds between two fetches of a key set on account of a kid that is not in it. */
const REFETCH_MS = 60_000;
/** Age in milliseconds at which a key set is fetched again, so that a key that was withdrawn is forgotten. */
const STALE_MS = 600_000;
/** Milliseconds for one fetch. */
const FETCH_MS = 5000;
/** Largest key set, in bytes. */
const MAX_SET_BYTES = 1_048_576;

/** What a token says of its key. */
export interface TokenHeader {
  readonly alg?: unknown;
  readonly kid?: unknown;
}

/** A PEM, with the algorithms that it may be used for. */
interface Key {
  readonly material: string;
  readonly algorithms: readonly string[];
}

export interface Keys {
  /** Every algorithm that some key may be used for. */
  readonly algorithms: readonly Algorithm[];
  /** The secret, or the PEM, for such a token; undefined if there is none of that kind. Rejects if a key set cannot be fetched. */
  find(header: TokenHeader, token: Signed): Promise<string | undefined>;
  /** What can be read again, by the variable that names it. */
  readonly sources: ReadonlyMap<string, KeySource>;
}

interface KeySource {
  readonly reread: Reread;
  /** Where it is a file. */
  readonly file?: string;
}

interface KeySources {
  readonly publicKey: string | undefined;
  readonly jwksUrl: string | undefined;
}

/** Throws ConfigError for a PEM that is no public key. */
export function openKeys(secrets: Secrets, { publicKey: source, jwksUrl }: KeySources, now: () => number = Date.now): Keys {
  const own: readonly string[] = secrets.first === undefined ? [] : HMAC_ALGORITHMS;
  let pem = source === undefined ? undefined : readPublicKey(source);
  const set = jwksUrl === undefined ? undefined : new KeySet(jwksUrl, now);
  // What is read again may be of another kind then.
  const changes = set !== undefined || (source !== undefined && !isPem(source));
  const usable = new Set([...own, ...(pem?.algorithms ?? []), ...(changes ? PUBLIC_KEY_ALGORITHMS : [])]);
  const sources = new Map<string, KeySource>();
  if (source !== undefined && !isPem(source)) {
    const reread = () => {
      pem = readPublicKey(source);
      return pem.algorithms.join(', ');
    };
    sources.set('AUTH_JWT_PUBLIC_KEY', { reread, file: source });
  }
  if (set) sources.set('AUTH_JWKS_URL', { reread: async () => `${await set.refetch()} keys` });
  return {
    sources,
    algorithms: [...HMAC_ALGORITHMS, ...PUBLIC_KEY_ALGORITHMS].filter((algorithm) => usable.has(algorithm)),
    find: async ({ alg, kid }, token) => {
      if (typeof alg === 'string' && own.includes(alg)) return secrets.fitting(alg, token);
      const fits = (key: Key | undefined) => typeof alg === 'string' && key?.algorithms.includes(alg);
      const key = (fits(pem) ? pem : undefined) ?? (typeof kid === 'string' ? await set?.find(kid) : undefined);
      return fits(key) ? key?.material : undefined;
    },
  };
}

const isPem = (source: string) => source.includes('-----BEGIN');

/** A PEM, or the path of a file that holds one. */
function readPublicKey(source: string): Key {
  try {
    const pem = isPem(source) ? source : readFileSync(source, 'utf8');
    if (pem.includes('PRIVATE KEY')) throw new Error('it holds a private key');
    return publicKey(createPublicKey(pem));
  } catch (error) {
    throw new ConfigError(
      `AUTH_JWT_PUBLIC_KEY is not usable (${(error as NodeJS.ErrnoException).code ?? (error as Error).message}); expected the PEM of an RSA, EC or Ed25519 public key, or the path of a file that holds one`,
    );
  }
}

function publicKey(key: KeyObject): Key {
  return { material: key.export({ type: 'spki', format: 'pem' }).toString(), algorithms: algorithmsOf(key) };
}

function algorithmsOf(key: KeyObject): Algorithm[] {
  const curves: Record<string, Algorithm> = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' };
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'];
    case 'ec': {
      const algorithm = curves[key.asymmetricKeyDetails?.namedCurve ?? ''];
      if (algorithm) return [algorithm];
      break;
    }
    case 'ed25519':
      return ['EdDSA'];
  }
  throw new Error('tokens cannot be signed with a key of this kind');
}

/** A key set from a URL: fetched when it is first needed, when it has grown stale, and at most once a minute for an unknown kid. */
class KeySet {
  readonly #url: string;
  readonly #now: () => number;
  #keys = new Map<string, Key>();
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #fetching: Promise<void> | undefined;
  /** Why the last fetch failed: until the next one nobody can say whose an unknown kid is. */
  #failure: Error | undefined;

  constructor(url: string, now: () => number) {
    this.#url = url;
    this.#now = now;
  }

  async find(kid: string): Promise<Key | undefined> {
    const age = this.#now() - this.#fetchedAt;
    if (age > STALE_MS || (age > REFETCH_MS && !this.#keys.has(kid))) this.#fetching ??= this.#fetch();
    // A known key is not kept waiting for a set that is merely stale.
    if (!this.#keys.has(kid)) await this.#fetching;
    else this.#fetching?.catch(() => {});
    const key = this.#keys.get(kid);
    if (!key && this.#failure) throw this.#failure;
    return key;
  }

  /** Now, whatever its age; resolves with how many keys there are. Rejects if it cannot be fetched: then it stays as it was. */
  async refetch(): Promise<number> {
    this.#fetching ??= this.#fetch();
    await this.#fetching;
    return this.#keys.size;
  }

  async #fetch(): Promise<void> {
    this.#fetchedAt = this.#now();
    try {
      this.#keys = await fetchKeys(this.#url);
      this.#failure = undefined;
    } catch (error) {
      this.#failure = error as Error;
      throw error;
    } finally {
      this.#fetching = undefined;
    }
  }
}

async function fetchKeys(url: string): Promise<Map<string, Key>> {
  const response = await fetch(url, { signal: AbortSignal.timeout(FETCH_MS), redirect: 'error', headers: { accept: 'application/json' } });
  if (!response.ok) throw new Error(`the key set ${url} was answered with ${response.status}`);
  const text = await response.text();
  if (text.length > MAX_SET_BYTES) throw new Error(`the key set ${url} is larger than ${MAX_SET_BYTES} bytes`);
  const { keys } = JSON.parse(text) as { keys?: unknown };
  if (!Array.isArray(keys)) throw new Error(`the key set ${url} has no keys`);
  return new Map(keys.flatMap(readJwk));
}

/** A key that is not for signatures, or of a kind that we do not know, is passed over. */
function readJwk(jwk: JsonWebKey): Array<[string, Key]> {
  try {
    if (typeof jwk.kid !== 'string' || (jwk.use !== undefined && jwk.use !== 'sig')) return [];
    const key = publicKey(createPublicKey({ key: jwk, format: 'jwk' }));
    return [[jwk.kid, jwk.alg === undefined ? key : { ...key, algorithms: key.algorithms.filter((a) => a === jwk.alg) }]];
  } catch {
    return [];
  }
}
