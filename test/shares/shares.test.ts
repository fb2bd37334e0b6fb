// What both stores of links promise: in a file, and in a real Redis. Each is asked twice: by who made a link, and by who comes later or elsewhere.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../src/protocol/ids.js';
import { type Client, ready } from '../../src/redis/client.js';
import { connect } from '../../src/redis/connect.js';
import { RedisShares } from '../../src/redis/shares.js';
import { MAX_SHARES, type Share, tokenIdOf } from '../../src/shares/share.js';
import type { Shares } from '../../src/shares/shares.js';
import { SharesFile } from '../../src/shares/shares-file.js';
import { needs } from '../support/needs.js';
import { type RedisServer, startRedis } from '../support/redis.js';

const share = (sessionId: string, livesMs = 60_000): Share => ({
  share_id: newId(),
  instance_id: 'inst',
  session_id: sessionId,
  created_by: 'alice',
  created_at: new Date().toISOString(),
  expires_at: new Date(Date.now() + livesMs).toISOString(),
});
const word = (one: Share) => `jti:${tokenIdOf(one)}`;

/** `reopen` is the same store for somebody else. */
function promises(open: () => Promise<Shares>, reopen: () => Promise<Shares>) {
  it('a link is good as long as it is kept, for all who ask', async () => {
    const [made, session] = [await open(), newId()];
    const [kept, revoked, never] = [share(session), share(session), share(session)];
    for (const one of [kept, revoked]) await made.add(one);
    expect(await made.revoke(session, revoked.share_id)).toBe(true);
    expect(await made.revoke(session, revoked.share_id)).toBe(false);
    for (const shares of [made, await reopen()]) {
      expect(await shares.list(session)).toEqual([kept]);
      expect(await shares.list(newId())).toEqual([]);
      const words = [...[kept, revoked, never].map(word), 'jti:of another token', 'jti:share:odd', 'sub:alice'];
      expect(await shares.among(words)).toEqual(new Set([word(revoked), word(never)]));
    }
  });

  it('there are so many links of a session; those past their end do not count, and are good no longer', async () => {
    const [shares, session, other] = [await open(), newId(), newId()];
    const over = share(session, -1);
    await shares.add(over);
    for (let n = 0; n < MAX_SHARES; n++) await shares.add(share(session));
    await expect(shares.add(share(session))).rejects.toMatchObject({ code: 'RATE_LIMITED', status: 429 });
    await shares.add(share(other));
    expect(await shares.list(session)).toHaveLength(MAX_SHARES);
    expect(await shares.among([word(over)])).toEqual(new Set([word(over)]));
  });
}

describe('links in a file', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'shares-'));
  const file = path.join(folder, 'new', 'shares.json');
  afterAll(() => rmSync(folder, { recursive: true }));
  const open = () => SharesFile.open(file);
  promises(open, open);
});

needs('redis-server')('links in Redis', () => {
  let server: RedisServer;
  let clients: [Client, Client];
  beforeAll(async () => {
    server = await startRedis();
    clients = [connect(server), connect(server)];
    for (const client of clients) await ready(client, 5000);
  });
  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await server.dispose();
  });
  promises(
    async () => new RedisShares(clients[0], 'pty'),
    async () => new RedisShares(clients[1], 'pty'),
  );
});
