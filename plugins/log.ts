// Opens the log that sessions are kept in: on this machine's disk, or in Redis, archived and sealed where that is wanted. Knows no session.
import type { FastifyInstance } from 'fastify';
import fp from 'fastify-plugin';
import { type Config, ConfigError, logFolder } from '../src/config.js';
import { freeBytes } from '../src/folder.js';
import { Keyring } from '../src/keyring.js';
import { type ArchivedLog, archivedLog } from '../src/log/archived/archived-log.js';
import type { Gap } from '../src/log/archived/copy.js';
import { openStore } from '../src/log/archived/place.js';
import { openEmbeddedLog } from '../src/log/embedded/embedded-log.js';
import type { Log } from '../src/log/log.js';
import { openRedisLog } from '../src/log/redis/redis-log.js';
import { KEEP_MS } from '../src/log/redis/writer.js';
import { proofsOf } from '../src/log/sealed/proofs.js';
import { sealedLog } from '../src/log/sealed/sealed-log.js';

declare module 'fastify' {
  interface FastifyInstance {
    /** What happened in every session, in order. */
    readonly sessionLog: Log;
  }
}

async function open(app: FastifyInstance): Promise<Log> {
  const { config, log: logger, audit } = app;
  const stored = config.redis ? await openShared(app, config.redis) : await openOwn(app, logFolder(config));
  const keyring = new Keyring(config.encryptionKeys);
  return sealedLog(await archived(app, stored, keyring), keyring, (sentence, session_id) => {
    logger.error({ session_id }, sentence);
    audit.record({ event: 'key_error', outcome: 'failed', principal: null, session_id, detail: sentence });
  });
}

function openShared(app: FastifyInstance, redis: NonNullable<Config['redis']>): Promise<Log> {
  const onRecovered = () => app.log.info('Redis takes entries again');
  return openRedisLog({ ...redis, ...keptAsLongAs(app.config.archive), onTrouble: tellerOf(app), onRecovered, logger: app.log });
}

function openOwn(app: FastifyInstance, dir: string): Promise<Log> {
  // What cannot be asked is not told: an operator sees that the series ends.
  app.metrics.read('data_disk_free_bytes', () => freeBytes(dir).catch(() => []));
  const onRecovered = () => app.log.info({ path: dir }, 'the disk takes entries again');
  return openEmbeddedLog({ dir, onTrouble: tellerOf(app, { path: dir }), onRecovered });
}

function tellerOf({ log }: FastifyInstance, where: { readonly path?: string } = {}) {
  return (sentence: string, session_id?: string) => log.error({ ...where, ...(session_id !== undefined && { session_id }) }, sentence);
}

/** The record of a session that is archived stays in Redis as long as the archive has it, and then until it is removed. */
function keptAsLongAs(archive: Config['archive']) {
  return archive ? { keepMs: archive.retentionSeconds * 1000 + KEEP_MS } : {};
}

async function archived(app: FastifyInstance, stored: Log, keyring: Keyring): Promise<Log> {
  const { archive } = app.config;
  if (!archive) return stored;
  const store = await openStore(archive.place).catch((error) => {
    throw new ConfigError(`ARCHIVE_URL cannot be used: ${error.message}`);
  });
  const log = archivedLog(stored, {
    store,
    proverOf: proofsOf(stored, keyring),
    retentionSeconds: archive.retentionSeconds,
    onTrouble: tellerOf(app),
    onGap: (gap) => void tellOfGap(app, gap),
  });
  readCounts(app, log);
  return log;
}

/** Of what was lost, the log and the audit say which frames. */
async function tellOfGap(app: FastifyInstance, { sessionId, from, to }: Gap): Promise<void> {
  const detail = `frames ${from} to ${to} left the log before they could be archived`;
  app.log.error({ session_id: sessionId }, detail);
  const record = await app.sessionLog.record(sessionId).catch(() => undefined);
  const instance = typeof record?.instance_id === 'string' ? { instance_id: record.instance_id } : {};
  app.audit.record({ event: 'dropped', outcome: 'failed', principal: null, ...instance, session_id: sessionId, detail });
}

function readCounts({ metrics }: FastifyInstance, log: ArchivedLog): void {
  metrics.read('archive_available', () => Number(!log.isArchiveAway()));
  metrics.read('archive_objects_total', () => log.counts().objects);
  metrics.read('archive_bytes_total', () => log.counts().bytes);
  metrics.read('archive_failures_total', () => log.counts().failures);
  metrics.read('archive_gaps_total', () => log.counts().gaps);
  metrics.read('archive_lost_frames_total', () => log.counts().lostNumbers);
}

export default fp<{ log?: Log | undefined }>(
  async (app, { log }) => {
    if (!app.config.archive) app.metrics.read('archive_available', () => 1);
    const opened = log ?? (await open(app));
    app.decorate('sessionLog', opened);
    app.addHook('onClose', () => opened.close());
  },
  { name: 'log', dependencies: ['context', 'audit'] },
);
