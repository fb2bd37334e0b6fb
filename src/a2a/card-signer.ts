// Signs cards with ES256: a detached JWS over the canonical JSON of the card (A2A 1.0 §8.4, RFC 8785). Knows no agent and no request.
import { createPublicKey } from 'node:crypto';
import jcs from 'canonicalize';
import { calculateJwkThumbprint, exportJWK, FlattenedSign, type JSONWebKeySet } from 'jose';
import { readSigningKey } from '../signing-key.js';
import type { AgentCard, CardSignature } from './card.js';

/** Its types tell of an ES module, and it is none. */
const canonicalize = jcs as unknown as (value: object) => string;

export interface CardSigner {
  /** The public half, for `/.well-known/jwks.json`. */
  readonly keys: JSONWebKeySet;
  /** `jku` is the URL at which the public half is published. */
  sign(card: AgentCard, jku: string): Promise<CardSignature>;
}

/** `source` is the PEM of an EC key on P-256, or the path of a file that holds one. Throws ConfigError, which tells nothing of the key. */
export async function openCardSigner(source: string): Promise<CardSigner> {
  const key = readSigningKey('CARD_SIGNING_KEY', source);
  const jwk = await exportJWK(createPublicKey(key));
  const kid = await calculateJwkThumbprint(jwk);
  return {
    keys: { keys: [{ ...jwk, kid, use: 'sig', alg: 'ES256' }] },
    sign: async (card, jku) => {
      const jws = new FlattenedSign(new TextEncoder().encode(signedContent(card)));
      const { protected: header = '', signature } = await jws.setProtectedHeader({ alg: 'ES256', typ: 'JOSE', kid, jku }).sign(key);
      return { protected: header, signature };
    },
  };
}

/** What a signature covers. Of our fields `required: false` alone is a default that the canonical form leaves out (A2A 1.0 §8.4.1). */
export function signedContent({ signatures: _, ...card }: AgentCard): string {
  const extensions = card.capabilities.extensions.map(({ required, ...entry }) => (required ? { ...entry, required } : entry));
  return canonicalize({ ...card, capabilities: { ...card.capabilities, extensions } });
}
