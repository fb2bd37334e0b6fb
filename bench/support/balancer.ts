// The balancer of deploy/haproxy.cfg before any number of gateways. Knows no gateway but by its port.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.js';
import { until } from '../../test/support/redis.js';

/** A WebSocket that is silent for longer is cut. The gateways ping each one every 30 s. */
const IDLE_TIMEOUT = '60s';

export interface Balancer {
  readonly port: number;
  /** New connections go to these alone, as when Kubernetes takes a pod out of a Service. */
  routeTo(gateways: ReadonlyArray<{ readonly port: number }>): Promise<void>;
  stop(): Promise<void>;
}

/** Its configuration is written to `folder`; resolves when a gateway answers through it. */
export async function startBalancer(gateways: ReadonlyArray<{ readonly port: number }>, folder: string): Promise<Balancer> {
  const port = await freePort();
  const file = join(folder, 'haproxy.cfg');
  await writeFile(file, await configuration(gateways));
  const env = { PATH: process.env.PATH, LISTEN: `127.0.0.1:${port}`, IDLE_TIMEOUT };
  const haproxy = spawn('haproxy', ['-q', '-db', '-f', file], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  await once(haproxy, 'spawn');
  await until('the balancer finds a gateway', () => answers(port));
  // It asks the gateways themselves, at /readyz.
  return { port, routeTo: async () => {}, stop: () => end(haproxy) };
}

/** As it is deployed, but for how many replicas there are. */
async function configuration(gateways: ReadonlyArray<{ readonly port: number }>): Promise<string> {
  const deployed = await readFile('deploy/haproxy.cfg', 'utf8');
  const servers = gateways.map(({ port }, i) => `  server replica-${i} 127.0.0.1:${port}`);
  return `${deployed.replaceAll(/^ {2}server .*\n/gm, '')}${servers.join('\n')}\n`;
}

function answers(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function end(haproxy: ChildProcess): Promise<void> {
  if (haproxy.exitCode !== null) return;
  const gone = once(haproxy, 'exit');
  haproxy.kill('SIGKILL');
  await gone;
}
