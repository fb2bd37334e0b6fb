// The built gateway as a process of its own, as an operator starts it. Knows no route.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as later } from 'node:timers/promises';
import { mintToken } from '../../src/access/token.js';
import { freePort } from './free-port.js';

/** Where the build is: `dist`, or what PTY_GATEWAY_DIST names. */
const dist = resolve(process.env.PTY_GATEWAY_DIST ?? 'dist');
/** Milliseconds from its start until it must have said where it is. */
const START_MS = 20_000;
/** Milliseconds between two looks whether it is ready. */
const POLL_MS = 50;
/** Seconds for which an invitation is good. */
const TTL_SECONDS = 3600;
/** Milliseconds that it has to end by itself. */
const STOP_MS = 10_000;

export interface RunningGateway {
  readonly port: number;
  /** Of its process. */
  readonly pid: number;
  /** The URL that it printed, or one like it where it was given a key: the page, signed in with `pty:admin`. */
  readonly invitation: string;
  /** A folder of its own, in which its sessions begin; gone after `stop`. */
  readonly folder: string;
  /** All that it has said so far, on both streams. */
  said(): string;
  stop(): Promise<void>;
}

/**
 * Starts it on a free port of 127.0.0.1, without a key (unless `env` has one) and with one plain shell as agent `shell`; `prefix` is a path in its
 * public URL, `execArgv` are options of Node itself.
 */
export async function startGateway(
  env: Readonly<Record<string, string>> = {},
  prefix = '',
  execArgv: readonly string[] = [],
): Promise<RunningGateway> {
  const main = join(dist, 'src/main.js');
  if (!existsSync(main)) throw new Error(`${main} is not there: run "npm run build" first`);
  const folder = mkdtempSync(join(tmpdir(), 'pty-gateway-'));
  const port = Number(env.PORT ?? (await freePort()));
  const child = spawn(process.execPath, [...execArgv, main, 'serve'], {
    env: {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      USER: 'tester',
      LOG_LEVEL: 'warn',
      PORT: String(port),
      PUBLIC_URL: `http://127.0.0.1:${port}${prefix}`,
      DATA_DIR: join(folder, 'data'),
      AGENTS_FILE: agentsFile(folder),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => said.push(chunk));
  const stop = async () => {
    await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const secret = env.AUTH_JWT_SECRET;
    const invitation = await (secret === undefined ? invitationOf(child) : ownInvitation(child, port, secret));
    return { port, pid: child.pid as number, folder, said: () => Buffer.concat(said).toString(), stop, invitation };
  } catch (error) {
    await stop();
    throw error;
  }
}

function agentsFile(folder: string): string {
  const file = join(folder, 'agents.json');
  const shell = {
    name: 'Build shell',
    description: 'A plain shell.',
    command: ['/bin/bash', '--noprofile', '--norc'],
    cwd: folder,
    env: { PS1: '$ ' },
  };
  writeFileSync(file, JSON.stringify({ agents: { shell } }));
  return file;
}

function invitationOf(child: ChildProcess): Promise<string> {
  return new Promise((found, failed) => {
    let said = '';
    const listen = (chunk: Buffer) => {
      said += chunk;
      const url = /http\S+#token=\S+/.exec(said)?.[0];
      if (url) found(url);
    };
    const fail = (why: string) => failed(new Error(`the gateway ${why}; it said: ${said.slice(-2000)}`));
    child.stdout?.on('data', listen);
    child.stderr?.on('data', listen);
    child.once('exit', (code) => fail(`ended with ${code} before it was ready`));
    setTimeout(() => fail('printed no URL in time'), START_MS).unref();
  });
}

async function ownInvitation(child: ChildProcess, port: number, secret: string): Promise<string> {
  const deadline = Date.now() + START_MS;
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error('the gateway did not get ready');
    await later(POLL_MS);
  }
  return `http://127.0.0.1:${port}/#token=${mintToken(secret, { sub: 'tester', scope: 'pty:admin', ttlSeconds: TTL_SECONDS })}`;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(timer);
}
