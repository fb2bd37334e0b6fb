// Whether what is kept in Redis under our prefix can be used by this version. Reads alone. Knows no session.
import type { Config } from '../../config.js';
import { whyUnread } from '../../log/format.js';
import { formatKey } from '../../log/redis/format.js';
import type { Client } from '../../redis/client.js';
import { revokedKey } from '../../redis/revocations.js';
import { attempt, type Finding } from './finding.js';

export async function redisKeyFindings(client: Client, { prefix }: NonNullable<Config['redis']>): Promise<Finding[]> {
  return [
    await attempt(formatKey(prefix), 'start the version that wrote it, or choose another REDIS_KEY_PREFIX', () => format(client, prefix)),
    await attempt(revokedKey(prefix), `it is a set of jti:…, sub:…, cert:… and serial:…: DEL it, and SADD them anew`, () =>
      revoked(client, prefix),
    ),
  ];
}

async function format(client: Client, prefix: string): Promise<string> {
  const found = await client.get(formatKey(prefix));
  const why = found === null ? undefined : whyUnread(Number(found));
  if (why !== undefined) throw new Error(`what is kept there cannot be used: ${why}`);
  return found === null ? 'nothing is kept there yet' : `format ${found}, as this version writes it`;
}

async function revoked(client: Client, prefix: string): Promise<string> {
  return `${await client.scard(revokedKey(prefix))} revoked`;
}
