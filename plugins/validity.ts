// Ends what is open when the token that opened it is past its end or revoked. Knows no connection but by how it is ended.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fp from 'fastify-plugin';
import { revocationFile } from '../src/access/revocation-file.js';
import { type Revocations, Validity } from '../src/access/validity.js';
import { ConfigError } from '../src/config.js';
import { Fault } from '../src/errors.js';
import { connect } from '../src/redis/connect.js';
import { redisRevocations } from '../src/redis/revocations.js';
import { Trouble } from '../src/redis/trouble.js';

declare module 'fastify' {
  interface FastifyInstance {
    readonly validity: Validity;
  }
}

/** After how long without an answer the connection to Redis is given up, in milliseconds. */
const ASK_MS = 1000;

/**
 * Aborted when what the request came with is no longer good, with the Fault to answer it with (UNAUTHENTICATED), and when nobody waits for the
 * answer any more.
 */
export function whileGood({ server, principal }: FastifyRequest, { raw }: FastifyReply): AbortSignal {
  if (raw.destroyed) return AbortSignal.abort();
  const controller = new AbortController();
  const end = (why: string) => controller.abort(new Fault('UNAUTHENTICATED', why));
  const unwatch = principal ? server.validity.watch(principal, end) : () => undefined;
  raw.once('close', () => {
    unwatch();
    controller.abort();
  });
  return controller.signal;
}

/** Throws ConfigError for a file that cannot be used: nobody would know who is let in. */
async function openFile(app: FastifyInstance, path: string): Promise<Revocations> {
  const file = revocationFile(path, toldOnce(app));
  await file.reread().catch((cause) => {
    throw new ConfigError(`REVOCATION_FILE is not usable: ${cause.message}`, { cause });
  });
  app.reloads.add('REVOCATION_FILE', async () => `${await file.reread()} revoked`);
  return file;
}

function toldOnce({ log }: FastifyInstance): (error: unknown) => void {
  let isBad = false;
  return (error) => {
    if (isBad === (error !== undefined)) return;
    isBad = error !== undefined;
    if (isBad) log.error(`REVOCATION_FILE stays as it was: ${(error as Error).message}`);
    else log.info('REVOCATION_FILE can be used again');
  };
}

async function sources(app: FastifyInstance): Promise<Revocations[]> {
  const { redis, auth } = app.config;
  const file = auth.revocationFile === undefined ? [] : [await openFile(app, auth.revocationFile)];
  if (!redis) return file;
  const client = connect(redis, { socketTimeout: ASK_MS });
  app.addHook('onClose', async () => client.disconnect());
  return [...file, redisRevocations(client, redis.prefix)];
}

export default fp(
  async (app) => {
    const trouble = new Trouble(app.log, 'what was revoked cannot be read');
    const graceMs = app.config.auth.expiryGraceSeconds * 1000;
    const validity = new Validity({ sources: await sources(app), graceMs, onLook: (error) => trouble.note(error) });
    app.decorate('validity', validity);
    app.addHook('onClose', async () => validity.close());
  },
  { name: 'validity', dependencies: ['context'] },
);
