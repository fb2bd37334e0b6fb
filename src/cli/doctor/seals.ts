// Whether what is kept, in Redis or on the disk, opens with the keys that the settings name. Reads records alone, and changes none.
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { type Config, logFolder } from '../../config.js';
import { Keyring, type NamedKey } from '../../keyring.js';
import { folderName, idOf, sessionsFolder } from '../../log/embedded/folder-names.js';
import { readContents } from '../../log/embedded/record-file.js';
import type { SessionRecord } from '../../log/log.js';
import { indexKey, keysOf } from '../../log/redis/keys.js';
import { type Fit, fitOf } from '../../log/sealed/fit.js';
import type { Client } from '../../redis/client.js';
import { type Finding, fail, ok } from './finding.js';

const CHECK = 'what is kept, and REPLAY_ENCRYPTION_KEYS';
/** Sessions that are tried: these many of the oldest, and of the newest. */
const TRIED_EACH = 500;

type ReadRecord = (sessionId: string) => Promise<SessionRecord | undefined>;

/** Of the embedded log, which may be in use meanwhile. */
export async function diskSealFindings(config: Config): Promise<Finding[]> {
  const root = sessionsFolder(logFolder(config));
  return sealFindings(config.encryptionKeys, async () => {
    const ids = (await readdir(root).catch(() => [])).flatMap((name) => idOf(name) ?? []);
    return [ids.sort(), async (id) => (await readContents(path.join(root, folderName(id) as string)))?.record];
  });
}

export async function redisSealFindings(client: Client, prefix: string, keys: readonly NamedKey[]): Promise<Finding[]> {
  return sealFindings(keys, async () => [
    await client.zrange(indexKey(prefix), '0', '-1'),
    async (id) => {
      const text = await client.hget(keysOf(prefix, id)?.meta ?? '', 'record');
      return text === null ? undefined : JSON.parse(text);
    },
  ]);
}

/** `open` gives the ids, oldest first, and how a record is read. */
async function sealFindings(keys: readonly NamedKey[], open: () => Promise<[ids: string[], read: ReadRecord]>): Promise<Finding[]> {
  try {
    const [ids, read] = await open();
    const tried = ids.length > 2 * TRIED_EACH ? [...ids.slice(0, TRIED_EACH), ...ids.slice(-TRIED_EACH)] : ids;
    // One that was removed meanwhile, or is damaged otherwise, says nothing of the keys.
    const records = await Promise.all(tried.map((id) => read(id).catch(() => undefined)));
    const stored = tried.flatMap((sessionId, i) => (records[i] ? [{ sessionId, record: records[i] }] : []));
    return judge(fitOf(stored, new Keyring(keys)), stored.length);
  } catch (error) {
    return [fail(CHECK, (error as Error).message, 'see that what is kept can be read')];
  }
}

function judge({ sealed, unopened }: Fit, tried: number): Finding[] {
  if (tried === 0) return [ok(CHECK, 'nothing is kept yet')];
  const of = `${tried} ${tried === 1 ? 'session' : 'sessions'} tried`;
  if (unopened.size === 0) return [ok(CHECK, `${of}: ${sealed} sealed, and each opens`)];
  const todo =
    'give the keys that the gateways had until now, name and value, behind the first: without them these sessions are answered with 404. All replicas need the same';
  return [...unopened].map(([why, count]) => fail(CHECK, `of ${of}, ${count} cannot be read: ${why}`, todo));
}
