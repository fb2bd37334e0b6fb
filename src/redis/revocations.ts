// The revocations in a Redis set, which all replicas see. Knows no token and no connection.
import type { Revocations } from '../access/validity.js';
import type { Client } from './client.js';

/** Words in one question. */
const WORDS_AT_ONCE = 1000;

export const revokedKey = (prefix: string): string => `${prefix}:revoked`;

/** In the set `<prefix>:revoked`, as `SADD pty:revoked sub:mallory` puts them there. */
export function redisRevocations(client: Client, prefix: string): Revocations {
  const key = revokedKey(prefix);
  return {
    async among(words) {
      const revoked = new Set<string>();
      for (let at = 0; at < words.length; at += WORDS_AT_ONCE) {
        const asked = words.slice(at, at + WORDS_AT_ONCE);
        const answers = await client.smismember(key, ...asked);
        for (const [i, word] of asked.entries()) if (answers[i] === 1) revoked.add(word);
      }
      return revoked;
    },
  };
}
