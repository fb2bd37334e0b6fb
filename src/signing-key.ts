// The private key that the operator signs with, from a setting. Knows not what is signed.
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ConfigError } from './config.js';

/** `source` is the PEM of an EC key on P-256, or the path of a file that holds one. Throws ConfigError, which names the variable and tells nothing of the key. */
export function readSigningKey(variable: string, source: string): KeyObject {
  const isPem = source.includes('-----BEGIN');
  try {
    const key = createPrivateKey(isPem ? source.replaceAll('\\n', '\n') : readFileSync(source));
    if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw new Error('it is a key of another kind');
    return key;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new ConfigError(
      `${variable} is not usable (${code ?? message}); expected the PEM of a private EC key on P-256, or the path of a file that holds one`,
      { cause: error },
    );
  }
}
