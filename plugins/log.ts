// Opens the log that sessions are kept in. Knows no session.
import path from 'node:path';
import fp from 'fastify-plugin';
import { openEmbeddedLog } from '../src/log/embedded-log.js';
import type { Log } from '../src/log/log.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** What happened in every session, in order. */
    readonly sessionLog: Log;
  }
}

export default fp<{ log?: Log | undefined }>(
  async (app, { log }) => {
    const opened =
      log ?? (await openEmbeddedLog({ dir: path.join(app.config.dataDir, 'log'), onTrouble: (sentence) => app.log.error(sentence) }));
    app.decorate('sessionLog', opened);
    app.addHook('onClose', () => opened.close());
  },
  { name: 'log', dependencies: ['context'] },
);
