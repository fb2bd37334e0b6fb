// Signs tokens with keys of every kind, as other people's identity providers would. Knows nothing of the gateway.
import { constants, createHmac, type KeyObject, sign } from 'node:crypto';

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

export const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

function signature(alg: string, key: KeyObject | string, input: string): Buffer {
  const hash = `sha${alg.slice(2)}`;
  if (alg.startsWith('HS')) return createHmac(hash, key).update(input).digest();
  if (alg === 'EdDSA') return sign(null, Buffer.from(input), key as KeyObject);
  if (alg.startsWith('ES')) return sign(hash, Buffer.from(input), { key: key as KeyObject, dsaEncoding: 'ieee-p1363' });
  const padding = alg.startsWith('PS') ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST } : {};
  return sign(hash, Buffer.from(input), { key: key as KeyObject, ...padding });
}

/** A compact JWS; alice with pty:control for a minute unless the claims say otherwise. */
export function token(claims: Record<string, unknown>, alg: string, key: KeyObject | string, header: Record<string, unknown> = {}): string {
  const input = `${part({ alg, typ: 'JWT', ...header })}.${part({ sub: 'alice', scope: 'pty:control', exp: inSeconds(60), ...claims })}`;
  return `${input}.${alg === 'none' ? '' : signature(alg, key, input).toString('base64url')}`;
}
