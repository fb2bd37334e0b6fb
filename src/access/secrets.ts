// The secrets that tokens are made and checked with: one of the environment, or those of a file that may change while it runs. Knows no claim and no request.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ConfigError } from '../config.js';
import type { Reread } from '../reload.js';

export const HMAC_ALGORITHMS = ['HS256', 'HS384', 'HS512'] as const;
/** Least bytes of a secret, as AUTH_JWT_SECRET has. */
const MIN_BYTES = 32;
/** Most secrets of a file: a token may have to be tried with each. */
const MAX_SECRETS = 8;

/** A token as it came, in the parts that are signed. */
export interface Signed {
  /** Header and payload, as they were sent. */
  readonly input: string;
  /** In base64url. */
  readonly signature: string;
}

export interface Secrets {
  /** As they are now; the first makes tokens. */
  readonly all: readonly string[];
  /** Makes tokens; undefined if there is none. */
  readonly first: string | undefined;
  /** The one that this token was signed with; the first if it was with none. */
  fitting(algorithm: string, token: Signed): string | undefined;
  /** Where there is a file. Throws ConfigError, and then they stay as they were. */
  readonly reread: Reread | undefined;
}

interface SecretSources {
  readonly secret?: string | undefined;
  readonly secretFile?: string | undefined;
}

/** Throws ConfigError, which names the variable and the line, and shows no secret. */
export function openSecrets({ secret, secretFile }: SecretSources): Secrets {
  let all: readonly string[] = secretFile === undefined ? (secret === undefined ? [] : [secret]) : readSecrets(secretFile);
  const reread = (path: string) => () => {
    all = readSecrets(path);
    return all.length === 1 ? '1 secret' : `${all.length} secrets`;
  };
  return {
    get all() {
      return all;
    },
    get first() {
      return all[0];
    },
    fitting: (algorithm, token) => (all.length > 1 ? all.find((one) => isSignedWith(one, algorithm, token)) : undefined) ?? all[0],
    reread: secretFile === undefined ? undefined : reread(secretFile),
  };
}

function isSignedWith(secret: string, algorithm: string, { input, signature }: Signed): boolean {
  const made = createHmac(algorithm.replace('HS', 'sha'), secret).update(input).digest();
  const given = Buffer.from(signature, 'base64url');
  return made.length === given.length && timingSafeEqual(made, given);
}

/** A line each, without the space around it; empty lines, and those that begin with `#`, say nothing. */
function readSecrets(path: string): readonly string[] {
  const lines = read(path)
    .split('\n')
    .map((line) => line.trim());
  const short = lines.findIndex((line) => isSecret(line) && Buffer.byteLength(line) < MIN_BYTES);
  if (short >= 0) throw wrong(path, `line ${short + 1} has ${Buffer.byteLength(lines[short] ?? '')} bytes; expected at least ${MIN_BYTES}`);
  const secrets = lines.filter(isSecret);
  if (secrets.length === 0 || secrets.length > MAX_SECRETS)
    throw wrong(path, `it has ${secrets.length} secrets; expected 1 to ${MAX_SECRETS}, a line each`);
  return secrets;
}

const isSecret = (line: string) => line !== '' && !line.startsWith('#');

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw wrong(path, `it cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

const wrong = (path: string, why: string) => new ConfigError(`AUTH_JWT_SECRET_FILE: ${path}: ${why}`);
