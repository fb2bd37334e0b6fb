// The links to watch a session: kept in Redis where there is one, else in a file; and the tokens that ride in them. Knows no route.
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { mintToken } from '../src/access/token.js';
import { Fault } from '../src/errors.js';
import { connect } from '../src/redis/connect.js';
import { RedisShares } from '../src/redis/shares.js';
import { type Share, tokenIdOf } from '../src/shares/share.js';
import type { Shares } from '../src/shares/shares.js';
import { SharesFile } from '../src/shares/shares-file.js';

declare module 'fastify' {
  interface FastifyInstance {
    readonly shares: Shares;
    /** The address that opens a link. UNSUPPORTED_OPERATION if there is no AUTH_JWT_SECRET to sign its token with. */
    shareUrl(share: Share): string;
  }
}

/** After how long without an answer the connection to Redis is given up, in milliseconds. */
const ASK_MS = 1000;

async function open(app: FastifyInstance): Promise<Shares> {
  const { redis, dataDir } = app.config;
  if (!redis) return openFile(path.join(dataDir, 'shares.json'));
  const client = connect(redis, { socketTimeout: ASK_MS });
  app.addHook('onClose', async () => client.disconnect());
  return new RedisShares(client, redis.prefix);
}

async function openFile(file: string): Promise<Shares> {
  return SharesFile.open(file).catch((error) => {
    throw new Error(`${file} cannot be read (${error.message}); move it away to start without the links that it keeps`, { cause: error });
  });
}

/** The token can only watch, this session alone, until the link ends; it rides in the fragment, which no server is sent. */
function shareUrl(this: FastifyInstance, share: Share): string {
  const { issuer, audience } = this.config.auth;
  const secret = this.secrets.first;
  if (!secret) throw new Fault('UNSUPPORTED_OPERATION', 'links need AUTH_JWT_SECRET to sign their tokens with, and this gateway has none');
  const { share_id, instance_id, session_id, label, created_by, created_at, expires_at } = share;
  const token = mintToken(
    secret,
    {
      jti: tokenIdOf(share),
      sub: `share:${share_id}`,
      shared_by: created_by,
      ...(label !== undefined && { shared_for: label }),
      scope: 'pty:observe',
      instances: [instance_id],
      sessions: [session_id],
      ttlSeconds: (Date.parse(expires_at) - Date.parse(created_at)) / 1000,
      issuer,
      audience,
    },
    Date.parse(created_at),
  );
  return `${this.publicUrl().http}/#token=${token}&session=${encodeURIComponent(instance_id)}/${session_id}&role=observer`;
}

export default fp(
  async (app) => {
    app.decorate('shares', await open(app));
    app.validity.heed(app.shares);
    app.decorate('shareUrl', shareUrl);
  },
  { name: 'shares', dependencies: ['context', 'auth'] },
);
