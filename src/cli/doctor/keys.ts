// Whether the keys that the settings name can be used, and are strong. Shows none of them.
import { openKeys } from '../../access/keys.js';
import { openSecrets } from '../../access/secrets.js';
import { type Config, hasKey, isLoopback } from '../../config.js';
import { readSigningKey } from '../../signing-key.js';
import { attempt, type Finding, fail, ok, warn } from './finding.js';

/** A secret with fewer different characters was not made by chance. */
const DIFFERENT_CHARS = 12;
const NEW_SECRET = 'make one with `openssl rand -base64 32`';

export async function keyFindings(config: Config): Promise<Finding[]> {
  return [presence(config), ...(await secrets(config)), ...(await publicKeys(config)), ...(await signingKeys(config)), sealing(config)];
}

function presence(config: Config): Finding {
  const check = 'keys for tokens';
  if (hasKey(config)) return ok(check, 'there are some');
  const todo = `set AUTH_JWT_SECRET (${NEW_SECRET}), AUTH_JWT_PUBLIC_KEY or AUTH_JWKS_URL`;
  if (isLoopback(config.listen.host))
    return warn(check, 'there is none, so one is made for each start, and its tokens are good until then', todo);
  return fail(check, 'there is none, and HOST is no loopback address', todo);
}

async function secrets({ auth }: Config): Promise<Finding[]> {
  if (auth.secretFile === undefined) return auth.secret === undefined ? [] : [strength('AUTH_JWT_SECRET', [auth.secret])];
  const check = 'AUTH_JWT_SECRET_FILE';
  let all: readonly string[] = [];
  const read = await attempt(check, `give a file of secrets, one a line; ${NEW_SECRET}`, () => {
    ({ all } = openSecrets(auth));
    return 'it can be read';
  });
  return [read.level === 'ok' ? strength(check, all) : read];
}

function strength(check: string, all: readonly string[]): Finding {
  const different = Math.min(...all.map((secret) => new Set(secret).size));
  if (different < DIFFERENT_CHARS) return warn(check, `one has ${different} different characters, so it may be guessed`, NEW_SECRET);
  return ok(
    check,
    `${all.length === 1 ? 'a secret' : `${all.length} secrets`} of ${all.map((secret) => Buffer.byteLength(secret)).join(', ')} bytes`,
  );
}

async function publicKeys({ auth }: Config): Promise<Finding[]> {
  if (auth.publicKey === undefined && auth.jwksUrl === undefined) return [];
  const opened = await attempt('AUTH_JWT_PUBLIC_KEY', 'give the PEM of a public key, or the path of one', () =>
    openKeys(openSecrets({}), { ...auth, jwksUrl: undefined }).algorithms.join(', '),
  );
  const found = auth.publicKey === undefined ? [] : [opened];
  if (auth.jwksUrl === undefined || opened.level !== 'ok') return found;
  const fetched = openKeys(openSecrets({}), { ...auth, publicKey: undefined }).sources.get('AUTH_JWKS_URL');
  const set = await attempt('AUTH_JWKS_URL', 'see that this machine can fetch it, and that it holds keys with a kid', async () => {
    const told = (await fetched?.reread()) ?? '';
    if (told === '0 keys') throw new Error('the key set has no key that can be used');
    return told;
  });
  return [...found, set];
}

async function signingKeys({ cardSigningKey, auditSigningKey }: Config): Promise<Finding[]> {
  const given = { CARD_SIGNING_KEY: cardSigningKey, AUDIT_SIGNING_KEY: auditSigningKey };
  const todo = 'make one with `openssl ecparam -name prime256v1 -genkey -noout -out key.pem`';
  const readable = Object.entries(given).flatMap(([name, source]) =>
    source === undefined
      ? []
      : [
          attempt(name, todo, () => {
            readSigningKey(name, source);
            return 'an EC key on P-256';
          }),
        ],
  );
  return Promise.all(readable);
}

function sealing({ encryptionKeys }: Config): Finding {
  const check = 'REPLAY_ENCRYPTION_KEYS';
  const [first] = encryptionKeys;
  if (first) return ok(check, `what is stored is sealed with ${first.kid}; ${encryptionKeys.length} in all`);
  return ok(check, 'none: what is stored can be read by whoever can read the disk or Redis');
}
