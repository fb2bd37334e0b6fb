// Which format the keys in a Redis have: one number for all replicas. Knows no session.
import type { Client } from '../../redis/client.js';
import { FORMAT, whyUnread } from '../format.js';

export const formatKey = (prefix: string): string => `${prefix}:format`;

/** Why this version has to leave what is there alone; undefined if it can be read. Says what format it is where nobody has. */
export async function formatTrouble(client: Client, prefix: string): Promise<string | undefined> {
  const found = await client.get(formatKey(prefix));
  if (found !== null) return whyUnread(Number(found));
  // One that is full takes no more, and is served all the same.
  await client.set(formatKey(prefix), `${FORMAT}`, 'NX').catch(() => {});
  return undefined;
}
