// Whether this machine has what so many terminals need: PTYs, descriptors, a folder with room. Knows no session.
import { constants } from 'node:fs';
import { access, readFile, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config.js';
import { type Finding, fail, ok, warn } from './finding.js';

/** Descriptors that a session takes (its terminal twice, its log), and what all else does with a thousand connections. */
const DESCRIPTORS_A_SESSION = 3;
const DESCRIPTORS_BESIDE = 1100;
const MIB = 1024 * 1024;
/** Free space below which the folder is as good as full, and below which it is told, in bytes. */
const FULL_BYTES = 64 * MIB;
const SCARCE_BYTES = 1024 * MIB;

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
  return audit === dataDir ? own : [...own, await folder('AUDIT_FILE', audit)];
}

async function folder(check: string, wanted: string): Promise<Finding> {
  try {
    const there = await nearest(wanted);
    await access(there, constants.R_OK | constants.W_OK | constants.X_OK);
    return await room(check, there, there === wanted ? wanted : `${wanted} (to be made)`);
  } catch (error) {
    return fail(check, (error as Error).message, 'give a folder in which this user may write');
  }
}

/** The folder, or the one above in which it would be made. */
async function nearest(wanted: string): Promise<string> {
  const isThere = await access(wanted).then(
    () => true,
    (error) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
  return isThere || wanted === path.dirname(wanted) ? wanted : nearest(path.dirname(wanted));
}

async function room(check: string, at: string, named: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(at);
  const free = bavail * bsize;
  const found = `${named} can be written; ${Math.floor(free / MIB)} MiB are free`;
  if (free < FULL_BYTES) return fail(check, found, 'make room');
  return free < SCARCE_BYTES ? warn(check, found, 'make room, or keep less: replay_buffer_retention_seconds') : ok(check, found);
}
