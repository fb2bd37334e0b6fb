// Whether this machine has what so many terminals need: PTYs, descriptors, a folder with room. Knows no session.
import { constants } from 'node:fs';
import { access, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config.js';
import { attempt, type Finding, ok, warn } from './finding.js';
import { folder } from './folder.js';

/** Descriptors that a session takes (its terminal twice, its log), and what all else does with a thousand connections. */
const DESCRIPTORS_A_SESSION = 3;
const DESCRIPTORS_BESIDE = 1100;
export async function machineFindings(config: Config): Promise<Finding[]> {
  const { sessions } = config.limits;
  return [...(await ptys(sessions)), ...(await descriptors(sessions)), ...(await folders(config))];
}

/** Undefined where the kernel tells no such thing. */
const told = (file: string) => readFile(file, 'utf8').catch(() => undefined);

async function ptys(sessions: number): Promise<Finding[]> {
  const [max, used] = await Promise.all(['max', 'nr'].map((name) => told(`/proc/sys/kernel/pty/${name}`)));
  if (max === undefined || used === undefined) return [];
  const found = `${Number(max)} at most, ${Number(used)} in use; MAX_SESSIONS_PER_REPLICA is ${sessions}`;
  if (Number(max) - Number(used) >= sessions) return [ok('PTYs', found)];
  return [warn('PTYs', found, `sysctl kernel.pty.max=${Number(used) + 2 * sessions}, or lower MAX_SESSIONS_PER_REPLICA`)];
}

/** The soft limit: the gateway raises its own to the hard one, as this command has. */
async function descriptors(sessions: number): Promise<Finding[]> {
  const limits = await told('/proc/self/limits');
  const [, soft] = /^Max open files\s+(\S+)/m.exec(limits ?? '') ?? [];
  if (soft === undefined) return [];
  const needed = DESCRIPTORS_A_SESSION * sessions + DESCRIPTORS_BESIDE;
  const found = `${soft} may be open; ${sessions} sessions and a thousand connections take about ${needed}`;
  if (soft === 'unlimited' || Number(soft) >= needed) return [ok('descriptors', found)];
  return [warn('descriptors', found, `raise it: LimitNOFILE=${needed} in a systemd unit, ulimits in a container's settings`)];
}

async function folders({ dataDir, auditFile, redis }: Config): Promise<Finding[]> {
  const audit = path.dirname(auditFile);
  const own = redis && audit !== dataDir ? [] : [await folder('DATA_DIR', dataDir)];
  return [...own, ...(audit === dataDir ? [] : [await folder('AUDIT_FILE', audit)]), ...(await written(auditFile))];
}

/** The file itself may be no file, or another user's, though its folder is ours. */
async function written(auditFile: string): Promise<Finding[]> {
  const there = await stat(auditFile).catch(() => undefined);
  if (!there) return [];
  const found = await attempt('AUDIT_FILE', 'give it to this user, or name another file', async () => {
    if (!there.isFile()) throw new Error(`${auditFile} is no file`);
    await access(auditFile, constants.R_OK | constants.W_OK);
    return auditFile;
  });
  return found.level === 'ok' ? [] : [found];
}
