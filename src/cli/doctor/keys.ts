// Whether the keys and certificates that the settings name can be used, are strong, and for how long they are good. Shows none of them.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { openKeys } from '../../access/keys.js';
import { revocationFile } from '../../access/revocation-file.js';
import { readTls } from '../../access/tls.js';
import { type Config, hasKey, isLoopback } from '../../config.js';
import { readSigningKey } from '../../signing-key.js';
import { attempt, type Finding, fail, ok, warn } from './finding.js';

/** A secret with fewer different characters was not made by chance. */
const DIFFERENT_CHARS = 12;
/** How soon a certificate's end is told of, in days. */
const SOON_DAYS = 21;
const DAY_MS = 86_400_000;
const NEW_SECRET = 'make one with `openssl rand -base64 32`';

export async function keyFindings(config: Config): Promise<Finding[]> {
  return [
    presence(config),
    ...(config.auth.secret === undefined ? [] : [strength(config.auth.secret)]),
    ...(await publicKeys(config)),
    ...(await signingKeys(config)),
    sealing(config),
    ...(await certificates(config)),
    ...(await revocations(config)),
  ];
}

function presence(config: Config): Finding {
  const check = 'keys for tokens';
  if (hasKey(config)) return ok(check, 'there are some');
  const todo = `set AUTH_JWT_SECRET (${NEW_SECRET}), AUTH_JWT_PUBLIC_KEY or AUTH_JWKS_URL`;
  if (isLoopback(config.listen.host))
    return warn(check, 'there is none, so one is made for each start, and its tokens are good until then', todo);
  return fail(check, 'there is none, and HOST is no loopback address', todo);
}

function strength(secret: string): Finding {
  const check = 'AUTH_JWT_SECRET';
  const different = new Set(secret).size;
  if (different >= DIFFERENT_CHARS) return ok(check, `${Buffer.byteLength(secret)} bytes`);
  return warn(check, `it has ${different} different characters, so it may be guessed`, NEW_SECRET);
}

async function publicKeys({ auth }: Config): Promise<Finding[]> {
  if (auth.publicKey === undefined && auth.jwksUrl === undefined) return [];
  const opened = await attempt('AUTH_JWT_PUBLIC_KEY', 'give the PEM of a public key, or the path of one', () =>
    openKeys({ ...auth, jwksUrl: undefined }).algorithms.join(', '),
  );
  const found = auth.publicKey === undefined ? [] : [opened];
  if (auth.jwksUrl === undefined || opened.level !== 'ok') return found;
  const fetched = openKeys({ ...auth, publicKey: undefined }).sources.get('AUTH_JWKS_URL');
  const set = await attempt('AUTH_JWKS_URL', 'see that this machine can fetch it, and that it holds keys with a kid', async () => {
    const told = (await fetched?.()) ?? '';
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

async function certificates({ tls }: Config): Promise<Finding[]> {
  if (!tls) return [];
  const usable = await attempt('TLS', 'give PEM files of a certificate and of its key', () => {
    readTls(tls);
    return 'certificate and key belong together';
  });
  return usable.level === 'ok' ? [usable, validity(tls.certFile)] : [usable];
}

function validity(file: string): Finding {
  const check = 'TLS_CERT_FILE';
  const end = Date.parse(new X509Certificate(readFileSync(file)).validTo);
  const days = Math.floor((end - Date.now()) / DAY_MS);
  const found = `good until ${new Date(end).toISOString()}`;
  const todo = 'put a new certificate there, and send SIGHUP';
  if (days < 0) return fail(check, `${found}, which is over`, todo);
  return days < SOON_DAYS ? warn(check, `${found}, ${days} days from now`, todo) : ok(check, found);
}

async function revocations({ auth: { revocationFile: path } }: Config): Promise<Finding[]> {
  if (path === undefined) return [];
  return [await attempt('REVOCATION_FILE', 'correct that line', async () => `${await revocationFile(path).reread()} revoked`)];
}
