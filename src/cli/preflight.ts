// What the environment names and only trying shows: addresses and folders. Each fault is one line that names the variable. Knows no route.
import { once } from 'node:events';
import { access, constants } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { type Config, ConfigError, logFolder } from '../config.js';
import { makeFolder } from '../folder.js';
import { shown } from '../protocol/check.js';
import { readAddress } from '../redis/connect.js';

/** Throws ConfigError where a start on this configuration could not work. */
export async function demandUsable(config: Config): Promise<void> {
  await demandHost(config.listen.host);
  if (config.redis) demandAddress(config.redis);
  else await demandFolder(logFolder(config));
  if (isWithin(config.dataDir, config.auditFile)) await demandFolder(path.dirname(config.auditFile));
}

/** On a free port: whether PORT is free shows when it is needed. */
async function demandHost(host: string): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen(0, host), 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError(`HOST is ${shown(host)}; expected an address or a name of this machine (${code})`, { cause: error });
  } finally {
    server.close();
  }
}

function demandAddress(redis: NonNullable<Config['redis']>): void {
  try {
    readAddress(redis);
  } catch (error) {
    throw new ConfigError(`REDIS_URL is not usable: ${(error as Error).message}`, { cause: error });
  }
}

async function demandFolder(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new ConfigError(`DATA_DIR cannot be used; expected a folder to write in: ${(error as Error).message}`, { cause: error });
  }
}

function isWithin(parent: string, child: string): boolean {
  const relative = path.relative(parent, child);
  return !relative.startsWith('..') && !path.isAbsolute(relative);
}

/** Why PORT cannot be listened on, in one line: ConfigError where this user never may. */
export function listenFault(error: unknown, { host, port }: Config['listen']): Error {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return new Error(`${host}:${port} is taken by another process (${code})`, { cause: error });
  if (code === 'EACCES') return new ConfigError(`PORT is ${port}; this user may not listen there (${code})`, { cause: error });
  return error as Error;
}
