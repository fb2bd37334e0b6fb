// Opens the log that sessions are kept in: on this machine's disk, or in Redis, sealed where there are keys. Knows no session.
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { Keyring } from '../src/keyring.js';
import { openEmbeddedLog } from '../src/log/embedded/embedded-log.js';
import type { Log } from '../src/log/log.js';
import { openRedisLog } from '../src/log/redis/redis-log.js';
import { sealedLog } from '../src/log/sealed/sealed-log.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** What happened in every session, in order. */
    readonly sessionLog: Log;
  }
}

async function open({ config, log: logger, audit }: FastifyInstance): Promise<Log> {
  const onTrouble = (sentence: string) => logger.error(sentence);
  const stored = config.redis
    ? await openRedisLog({ ...config.redis, onTrouble, logger })
    : await openEmbeddedLog({ dir: path.join(config.dataDir, 'log'), onTrouble });
  return sealedLog(stored, new Keyring(config.encryptionKeys), (sentence, session_id) => {
    logger.error(sentence);
    audit.record({ event: 'key_error', outcome: 'failed', principal: null, session_id, detail: sentence });
  });
}

export default fp<{ log?: Log | undefined }>(
  async (app, { log }) => {
    const opened = log ?? (await open(app));
    app.decorate('sessionLog', opened);
    app.addHook('onClose', () => opened.close());
  },
  { name: 'log', dependencies: ['context', 'audit'] },
);
